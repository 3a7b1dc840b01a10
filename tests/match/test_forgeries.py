"""Kinds of forgeries of a whole log, with fitting links: each is refused, or is named as not attested."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from referee.match.canonical import Json
from referee.match.chance import CommittedChance
from referee.match.log import digest, reveal_line
from referee.match.match import Answer, Request
from referee.match.reveal import Reveal
from referee.match.verification import NOT_ATTESTED, verify
from tests.match.playing import GROUP, SEED, at_random, header, played
from tests.match.test_log import Rows, numbered, relinked

Forgery = Callable[[Rows], object]
NONCES = ["first", "", "third"]


@cache
def genuine() -> tuple[Json, ...]:
    """Return the rows of a log with notes, faults, forced moves, a retired seat and nonces."""
    dice, asked = Random(5), [0, 0, 0]
    choose = at_random(dice)

    def answer(request: Request) -> Answer:
        asked[request.seat] += 1
        if request.seat == 1 and asked[1] > 6:
            return Answer(1, trouble="bad_json", ms=3)
        if request.seat == 2 and asked[2] == 2:
            return Answer(2, trouble="deadline", ms=request.deadline_ms)
        chosen = choose(request)
        return Answer(request.seat, chosen.action, ms=chosen.ms, note="thinking" if asked[request.seat] == 1 else "")

    match = played(header("pool-nap", 3), answer, CommittedChance(SEED, GROUP, NONCES))
    hashes = [nonce and digest(nonce.encode()) for nonce in NONCES]
    reveal = Reveal(SEED, NONCES, hashes, [True, None, None]).to_json()
    rows = [*match.log.rows, {"type": "reveal", "row": len(match.lines), **reveal}]
    assert reveal_line(len(match.lines), match.lines[-1], reveal)
    assert {row.get("source") for row in rows} >= {"bot", "default", "forced"}
    assert any(row.get("retired") for row in rows)
    return tuple(rows)


def row_of(rows: Rows, **wanted: Any) -> Json:
    """Return the first row with these members; a value of ``...`` matches any."""
    return next(
        row
        for row in rows
        if all(name in row if value is ... else row.get(name) == value for name, value in wanted.items())
    )


def in_header(**changes: Any) -> Forgery:
    return lambda rows: rows[0].update(changes)


def in_group(**changes: Any) -> Forgery:
    return lambda rows: rows[0]["group"].update(changes)


def in_player(**changes: Any) -> Forgery:
    return lambda rows: rows[0]["players"][0].update(changes)


def in_time(**changes: Any) -> Forgery:
    return lambda rows: rows[0]["time"].update(changes)


def in_reveal(**changes: Any) -> Forgery:
    return lambda rows: rows[-1].update(changes)


def in_result(**changes: Any) -> Forgery:
    return lambda rows: rows[-2].update(changes)


def in_decision(where: Json, **changes: Any) -> Forgery:
    return lambda rows: row_of(rows, type="decision", **where).update(changes)


BOT: Json = {"source": "bot"}
LATE: Json = {"fault": "deadline"}
UNREADABLE: Json = {"fault": "bad_json"}


def without(wanted: Json, count: int = 1) -> Forgery:
    def drop(rows: Rows) -> None:
        for _ in range(count):
            rows.remove(row_of(rows, **wanted))

    return drop


def drop_the_tail(rows: Rows) -> None:
    """Take out the result and all rows after the last answer of a bot."""
    last = max(number for number, row in enumerate(rows) if row.get("source") == "bot")
    del rows[last + 1 : -1]


def repeat(wanted: Json) -> Forgery:
    return lambda rows: rows.insert(rows.index(row_of(rows, **wanted)), deepcopy(row_of(rows, **wanted)))


def exchange_two_decisions(rows: Rows) -> None:
    places = [number for number, row in enumerate(rows) if row.get("source") == "bot"][:2]
    rows[places[0]], rows[places[1]] = rows[places[1]], rows[places[0]]


def change_a_card(rows: Rows) -> None:
    deck = row_of(rows, type="chance", chance=...)["outcome"]
    if isinstance(deck, list):
        deck[0], deck[1] = deck[1], deck[0]
    else:
        row_of(rows, type="chance")["outcome"] = deck + 1


def change_an_event(rows: Rows) -> None:
    next(row for row in rows if row["type"] == "decision" and row["events"])["events"][0]["seat"] = 7


def invent_a_fault(code: str) -> Forgery:
    """Return a forgery that tells the default action that a bot chose itself as that of a fault."""

    def invent(rows: Rows) -> None:
        chosen = [number for number, row in enumerate(rows) if row.get("source") == "bot" and "note" not in row]
        for number in chosen:
            tried = deepcopy(rows)
            tried[number].update(source="default", fault=code)
            tried[-2]["faults"][tried[number]["seat"]] += 1
            if code == "deadline" or verify(numbered(tried)).ok:
                rows[:] = tried
                return
        raise AssertionError("no bot chose the default action")

    return invent


def erase_a_fault(rows: Rows) -> None:
    row = row_of(rows, fault="deadline")
    row["source"] = "bot"
    del row["fault"]
    rows[-2]["faults"][row["seat"]] -= 1


REFUSED: dict[str, tuple[Forgery, str]] = {
    "another card": (change_a_card, ""),
    "another event": (change_an_event, "events"),
    "another action": (in_decision(BOT, action={"type": "fly"}), "illegal_action"),
    "an action with a fraction": (in_decision(BOT, action={"type": "pass", "x": 1.5}), ""),
    "another decision number": (in_decision(BOT, n=999), ""),
    "another seat": (in_decision(BOT, seat=2), ""),
    "a seat that does not exist": (in_decision(BOT, seat=9), ""),
    "a forced move as a free one": (in_decision({"source": "forced"}, source="bot"), ""),
    "a free move as a forced one": (in_decision(BOT, source="forced"), ""),
    "a seat that is no longer retired": (lambda rows: row_of(rows, retired=True).pop("retired"), ""),
    "a retired seat": (in_decision(BOT, retired=True), ""),
    "another score": (in_result(scores=[9, 9, 9]), "scores"),
    "other placements": (in_result(placements=[1, 1, 1]), "placements"),
    "other returns": (in_result(returns=[0, 0, 0]), ""),
    "another count of faults": (in_result(faults=[0, 0, 0]), "faults"),
    "a further member of a decision": (in_decision(BOT, remark="x"), ""),
    "a further member of the result": (in_result(remark="x"), ""),
    "a further member of the header": (in_header(remark="x"), "just these members"),
    "a further member of the group": (in_group(remark="x"), "the deal group must have just"),
    "a further member of a player": (in_player(remark="x"), "seat 1 must have just"),
    "a further member of the time limits": (in_time(remark=1), "time must have just"),
    "a further member of the reveal": (in_reveal(remark="x"), "just these members"),
    "a decision twice": (repeat({"type": "decision"}), ""),
    "a chance row twice": (repeat({"type": "chance"}), ""),
    "the result twice": (repeat({"type": "result"}), "superfluous row"),
    "exchanged decisions": (exchange_two_decisions, ""),
    "no decision": (without({"type": "decision"}), ""),
    "no chance row": (without({"type": "chance"}), ""),
    "no result": (without({"type": "result"}), "the log ends before the match is over"),
    "no tail": (drop_the_tail, "the log ends before the match is over"),
    "no forced move": (without({"source": "forced"}), ""),
    "no move of a retired seat": (without({"retired": True}), ""),
    "another version of the rules": (in_header(rules_version=99), "this engine knows"),
    "an unknown option": (in_header(options={"luck": True}), ""),
    "an option out of bounds": (lambda rows: rows[0]["options"].update(rounds=9999), "rounds: expected"),
    "no options": (in_header(options={}), "options must be complete"),
    "null for the options": (in_header(options=None), "options must be an object"),
    "an option less": (lambda rows: rows[0]["options"].pop("ante"), 'options must be complete: {"all_pass"'),
    "a format with a fraction": (in_header(log_format=2.0), "log_format must be a whole number"),
    "a truth for the version of the rules": (in_header(rules_version=True), "rules_version must be a whole number"),
    "a truth for a seat": (in_decision({**BOT, "seat": 1}, seat=True), "seat must be a whole number, got True"),
    "the answer of a bot without a nonce": (in_reveal(accepted=[True, True, None]), "gave no nonce"),
    "a number for an answer": (in_reveal(accepted=[1, None, None]), "did not accept the nonces"),
    "fewer answers": (in_reveal(accepted=[True]), "an answer to step 3 for each of 3 entries"),
    "a fork of nothing": (in_player(fork=None), "must have just"),
    "a fork of junk": (in_player(fork={"match": 1, "n": 0, "before": {}}), "names no decision of a match"),
    "a fork of nobody": (in_player(fork={"match": "mat_1", "n": 0, "before": {}}), "the player before"),
    "another format": (in_header(log_format=3), "format"),
    "an earlier format": (in_header(log_format=1), "format"),
    "another group": (in_group(id="grp_other"), "not the one promised"),
    "another commitment": (in_group(commitment="0" * 64), "not the one promised"),
    "a commitment in capitals": (lambda rows: rows[0]["group"].update(commitment="A" * 64), "lower-case"),
    "fewer entries": (in_group(entries=["bot_0"]), "a nonce and a hash for each of 1 entries"),
    "repeated entries": (in_group(entries=["bot_0", "bot_0", "bot_1"]), "different ids"),
    "another seed": (in_reveal(seed="00" * 32), "not the one promised"),
    "a seed in capitals": (lambda rows: rows[-1].update(seed=rows[-1]["seed"].upper()), "64 lower-case"),
    "a seed with a blank": (lambda rows: rows[-1].update(seed=" " + rows[-1]["seed"]), "64 lower-case"),
    "another nonce": (in_reveal(nonces=["mine", "", "third"]), "does not fit its hash"),
    "a dropped nonce": (in_reveal(nonces=["", "", "third"], accepted=[None] * 3), "promised nonces that are missing"),
    "junk in place of a hash": (lambda rows: rows[-1]["nonce_hashes"].__setitem__(1, "junk"), "is not a hash"),
    "players for fewer seats": (lambda rows: rows[0]["players"].pop(), "a player for each of 3 seats"),
    "rated maybe": (in_header(rated="maybe"), "rated must be true or false"),
    "junk in the time limits": (in_time(budget_ms="long"), "whole numbers"),
    "a truth in the time limits": (in_time(budget_ms=True), "whole numbers"),
    "a time that is a truth": (in_decision(BOT, ms=True), "whole number of milliseconds"),
    "a time with a fraction": (in_decision(BOT, ms=1.5), "whole number of milliseconds"),
    "a time below 0": (in_decision(BOT, ms=-1), "whole number of milliseconds"),
    "a time beyond the deadline": (in_decision(BOT, ms=10**9), "but the seat had 11000 ms"),
    "limits below the times": (in_time(budget_ms=1, bank_ms=0), "but the seat had 1 ms"),
    "a deadline that was not missed": (invent_a_fault("deadline"), "was not late"),
    "an early deadline": (in_decision(LATE, ms=1), "was not late"),
    "an unknown fault": (in_decision(UNREADABLE, fault="mood"), "unknown fault"),
    "an unreadable answer with a note": (in_decision(UNREADABLE, note="sorry"), "has no note"),
    "a late answer with a note": (in_decision(LATE, note="sorry"), "has no note"),
    "a forced move with a note": (in_decision({"source": "forced"}, note="x"), ""),
}

UNATTESTED: dict[str, tuple[Forgery, str]] = {
    "another name": (in_player(name="Winner"), "players"),
    "another version": (in_player(version="2"), "players"),
    "another match id": (in_header(match="mat_other"), "match"),
    "rated": (in_header(rated=True), "rated"),
    "another engine": (in_header(engine_version="9"), "engine_version"),
    "exchanged players": (lambda rows: rows[0]["players"].reverse(), "players"),
    "other entries": (in_group(entries=["bot_7", "bot_8", "bot_9"]), "entries"),
    "exchanged entries": (lambda rows: rows[0]["group"]["entries"].reverse(), "entries"),
    "other time limits": (in_time(budget_ms=1_001, bank_ms=9_999), "time"),
    "answers about the nonces taken out": (in_reveal(accepted=[None] * 3), "accepted"),
    "answers about the nonces exchanged": (in_reveal(accepted=[None, None, True]), "accepted"),
    "an invented fork": (
        in_player(fork={"match": "mat_1", "n": 3, "before": {"bot": "bot_9", "name": "Nine", "version": None}}),
        "players",
    ),
    "another possible time": (in_decision(BOT, ms=77), "ms"),
    "another note": (in_decision({"note": ...}, note="I cheated"), "note"),
    "a further note": (in_decision({"source": "bot", "n": 20}, note="me too"), "note"),
    "another fault": (in_decision(UNREADABLE, fault="bad_http"), "fault"),
    "an invented fault": (invent_a_fault("bad_http"), "fault"),
}


def forge(forgery: Forgery) -> list[bytes]:
    rows = deepcopy(list(genuine()))
    forgery(rows)
    return numbered(rows)


def test_the_log_that_is_forged_is_valid() -> None:
    assert verify(forge(lambda rows: None)).ok


@pytest.mark.parametrize("kind", REFUSED)
def test_K18_a_forgery_is_refused(kind: str) -> None:
    forgery, reason = REFUSED[kind]

    report = verify(forge(forgery))

    assert not report.ok
    assert reason in report.reason


@pytest.mark.parametrize("kind", UNATTESTED)
def test_what_a_log_alone_cannot_prove_is_named(kind: str) -> None:
    forgery, member = UNATTESTED[kind]

    assert verify(forge(forgery)).ok
    assert member in NOT_ATTESTED


def test_no_value_has_a_second_spelling() -> None:
    """For Python 1, 1.0 and true are equal. In a log each stands for something else, in every member of every row."""
    match = played(header("rummy-royal", 2, {"deals": 1}), at_random(Random(7)))
    last = len(match.lines)
    genuine = [*match.log.rows, {"type": "reveal", "row": last, **Reveal.without_nonces(SEED, 2).to_json()}]
    tried: set[tuple[str, ...]] = set()
    for number, row in enumerate(genuine):
        for place, value in values_of(row):
            member = (row["type"], *(key for key in place if isinstance(key, str)))
            for other in equal_values(value) if member not in tried else ():
                rows = deepcopy(genuine)
                put(rows[number], place, other)
                assert verify(relinked(rows)).ok == (type(other) is type(value)), (number, place, value, other)
                tried.add(member)
    assert {"seat", "n", "row", "log_format", "rules_version"} < {name for member in tried for name in member}


def equal_values(value: Any) -> list[Any]:
    """Return the truth value and the numbers that are equal to ``value``, if it is one."""
    return [kind(value) for kind in (bool, int, float) if isinstance(value, int) and kind(value) == value]


def values_of(part: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield each value within ``part`` that is no list or object, with the keys that lead to it."""
    if not isinstance(part, dict | list):
        yield place, part
        return
    for key, value in part.items() if isinstance(part, dict) else enumerate(part):
        yield from values_of(value, (*place, key))


def put(part: Any, place: tuple[str | int, ...], value: Any) -> None:
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value


def test_the_page_lists_what_a_log_alone_cannot_prove() -> None:
    page = (Path(__file__).parents[2] / "docs" / "watching.md").read_text()

    assert "\n".join(f"- {text}" for text in NOT_ATTESTED.values()) in page


def test_a_log_without_its_reveal_is_not_revealed() -> None:
    report = verify(forge(without({"type": "reveal"})))

    assert (report.ok, report.revealed, report.origin) == (True, False, None)


def test_an_erased_fault_needs_a_default_that_was_legal() -> None:
    """It cannot be known whether a bot chose the default action itself, but a later deadline may show it."""
    report = verify(forge(erase_a_fault))

    assert report.ok
    assert "fault" in NOT_ATTESTED
