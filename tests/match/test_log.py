"""Verification from the bytes alone: a valid log passes, an altered one is refused with its row."""

from collections.abc import Callable
from functools import partial
from random import Random

import pytest

from referee.match.canonical import Json, dumps
from referee.match.log import digest, parse_row, reveal_line
from referee.match.match import Answer, describe_difference
from referee.match.reveal import Reveal
from referee.match.verification import verify
from tests.golden import RECORDED, path
from tests.match.playing import SEED, at_random, header, played, public_items, tables

Rows = list[Json]


@pytest.fixture(scope="module")
def good() -> list[bytes]:
    match = played(header("saint-poker", 3, {"rounds": 2}), at_random(Random(1)))
    return [*match.lines, reveal_line(len(match.lines), match.lines[-1], Reveal.without_nonces(SEED, 3).to_json())]


def relinked(rows: Rows) -> list[bytes]:
    """Return the rows as a careful forger would store them, with repaired links."""
    lines: list[bytes] = []
    for row in rows:
        lines.append(dumps({**row, "prev": digest(lines[-1]) if lines else None}))
    return lines


def forged(lines: list[bytes], change: Callable[[Rows], object]) -> list[bytes]:
    rows = [parse_row(line) for line in lines]
    change(rows)
    return relinked(rows)


def test_the_members_in_which_a_row_differs_are_named_and_long_values_are_cut() -> None:
    row: Json = {"i": 1, "seat": 1, "note": "x" * 118}  # with its quotation marks, the note has 120 characters

    differing = describe_difference(dumps(row), {"i": 1, "note": "x" * 119, "type": "end"})

    long = "x" * 119
    assert differing == (
        f'note is "{long[1:]}", the rules give "{long}…; type is absent, the rules give "end"; '
        "seat is 1, the rules give absent"
    )
    assert describe_difference(dumps(row) + b" ", row) == "the row is not in canonical spelling"
    assert describe_difference(b"[]", row).startswith("not a row: ")


@pytest.mark.parametrize(("game", "seats"), tables())
def test_the_log_of_any_match_verifies(game: str, seats: int) -> None:
    match = played(header(game, seats), at_random(Random(7)))
    reveal = reveal_line(len(match.lines), match.lines[-1], Reveal.without_nonces(SEED, seats).to_json())

    sealed, opened = verify(match.lines), verify([*match.lines, reveal])

    assert (sealed.ok, sealed.revealed) == (True, False)
    assert (opened.ok, opened.revealed, opened.placements) == (True, True, match.state.placements())


def test_line_ends_do_not_matter(good: list[bytes]) -> None:
    assert verify(line + b"\r\n" for line in good).ok


def test_K18_a_flipped_byte_anywhere_is_found(good: list[bytes]) -> None:
    dice = Random(2)
    for number, line in enumerate(good):
        at = dice.randrange(len(line))
        touched = line[:at] + bytes([line[at] ^ 1]) + line[at + 1 :]

        report = verify([*good[:number], touched, *good[number + 1 :]])

        assert not report.ok
        assert report.row in (number, number + 1), f"row {number}: {report.reason}"


def golden(name: str) -> list[bytes]:
    return path(name).read_bytes().splitlines()


def with_retired_seats() -> list[bytes]:
    """Return a match with many rows after its last answer, because all seats are retired."""
    match = played(header("saint-poker", 3), lambda request: Answer(request.seat, trouble="bad_json"))
    assert match.retired == {0, 1, 2}
    assert sum(b'"retired":true' in line for line in match.lines) > 20
    return [*match.lines, reveal_line(len(match.lines), match.lines[-1], Reveal.without_nonces(SEED, 3).to_json())]


def numbered(rows: Rows) -> list[bytes]:
    """Return the rows as a careful forger would store them, with adjusted numbers and links."""
    return relinked([{**row, "row": number} for number, row in enumerate(rows)])


def some_of(rows: int) -> list[int]:
    """Return numbers of rows: some fifteen of a log, and the last ones."""
    return sorted({*range(0, rows, 1 + rows // 15), *range(rows - 4, rows)})


LOGS: dict[str, Callable[[], list[bytes]]] = {
    **{name: partial(golden, name) for name in RECORDED},
    "retired": with_retired_seats,
}
named_log = pytest.mark.parametrize("name", LOGS)


@named_log
def test_K18_a_row_taken_out_anywhere_is_missed(name: str) -> None:
    lines = LOGS[name]()
    rows = [parse_row(line) for line in lines]
    for number in some_of(len(rows) - 1):
        report = verify(numbered([*rows[:number], *rows[number + 1 :]]))

        assert not report.ok, f"without row {number}"
        # Rows of one decision point are written together: a missing one may be reported at any of them.
        same_point = [at for at, row in enumerate(rows) if "n" in row and row["n"] == rows[number].get("n")]
        assert report.row in (number, *same_point, *(at + 1 for at in same_point)), f"without row {number}: {report}"


@named_log
def test_K18_a_log_cut_short_anywhere_is_reported_at_the_missing_row(name: str) -> None:
    lines = LOGS[name]()
    rows = [parse_row(line) for line in lines]
    for end in some_of(len(rows) - 1)[1:]:
        for cut in (lines[:end], numbered([*rows[:end], rows[-1]])):
            report = verify(cut)

            assert (report.ok, report.row) == (False, end), report
            missing = rows[end]
            kind = {"decision": f"a decision of seat {missing.get('seat', -1) + 1}", "result": "the result row"}
            expected = kind.get(missing["type"]) or f"the outcome of a {missing['chance']['kind']}"
            assert report.reason == f"the log ends before the match is over: expected {expected} here"


def test_an_empty_log_is_refused() -> None:
    assert verify([]).reason == "the log is empty"


def set_deal(rows: Rows) -> None:
    deck = rows[1]["outcome"]
    deck[50], deck[51] = deck[51], deck[50]
    rows[1]["events"][1]["deck"] = deck


def set_seed(rows: Rows) -> None:
    rows[-1]["seed"] = "00" * 32


def set_nonce(rows: Rows) -> None:
    rows[-1]["nonces"][0] = "another"


def set_commitment(rows: Rows) -> None:
    rows[0]["group"]["commitment"] = "0" * 64


def test_a_deal_that_does_not_follow_from_the_seed_is_refused(good: list[bytes]) -> None:
    report = verify(forged(good, set_deal))

    assert (report.ok, report.row) == (False, 1)
    assert "does not follow from the revealed seed" in report.reason


@pytest.mark.parametrize("junk", [b"", b"{", b"[]", b"1", b"\xff", b'{"a":1}', b"[" * 100_000, b'{"type":"header"}'])
def test_junk_is_refused_not_crashed_on(good: list[bytes], junk: bytes) -> None:
    assert not verify([junk]).ok
    assert not verify([good[0], junk]).ok
    assert not verify([*good[:-1], junk]).ok


@pytest.mark.parametrize("value", [None, 1, -1, "x", [], {}, [None], {"id": 1}, True, 1e300])
def test_members_of_a_wrong_kind_are_refused_not_crashed_on(good: list[bytes], value: object) -> None:
    for number in (0, 1, 2, len(good) - 2, len(good) - 1):
        for name in parse_row(good[number]):
            if parse_row(good[number])[name] != value:
                rows = [parse_row(line) for line in good]
                rows[number][name] = value
                accepted = verify(relinked(rows)).ok
                assert not accepted or (number, name) in HARMLESS, (number, name, value)


# With repaired links, a forger can change players and times undetected; ``relinked`` overwrites ``prev`` itself.
HARMLESS = {(number, name) for number in range(200) for name in ("prev",)} | {
    (0, "players"),
    (0, "match"),
    (0, "rated"),
    (0, "engine_version"),
    (2, "ms"),
    (0, "log_format"),
}


def test_D1_before_the_group_is_over_a_public_row_is_a_masked_event_and_its_number(good: list[bytes]) -> None:
    items = public_items([parse_row(line) for line in good[:-1]])

    assert [item["number"] for item in items] == list(range(len(items)))
    assert all(sorted(item) == ["event", "number"] for item in items)


@pytest.mark.parametrize("value", [b"9" * 25, b'"\\ud800"', b"[" * 300 + b"]" * 300])
def test_K18_a_row_of_values_that_no_log_can_hold_is_refused(good: list[bytes], value: bytes) -> None:
    report = verify([*good[:2], good[2].replace(b'"ms":', b'"ms":%b,"more":' % value), *good[3:]])

    assert (report.ok, report.row) == (False, 2)
