"""What an operator may bend about the opening of a deal, and what shows of it in the log."""

from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

import pytest

from referee.match.canonical import Json
from referee.match.chance import CommittedChance, commitment
from referee.match.log import digest, reveal_line
from referee.match.reveal import EndedOpening, Reveal, describe_origin
from referee.match.verification import VerificationReport, verify
from tests.match.playing import GROUP, SEED, at_random, header, played
from tests.match.test_second_verifier import check as second_verifier

check = second_verifier  # the fixture, for this module

BOTS = ("bot_0", "bot_1", "bot_2")
EARLIER_SEED, EARLIER = bytes(32), "grp_000000000000000000000early"
Bend = Callable[[Json], object]


def hash_of(nonce: str) -> str:
    return nonce and digest(nonce.encode())


def reveal_of(nonces: list[str], accepted: list[bool | None], *openings: EndedOpening) -> Json:
    return Reveal(SEED, nonces, [hash_of(nonce) for nonce in nonces], accepted, openings).to_json()


def ended(nonces: list[str], given: list[str], failures: dict[str, str]) -> EndedOpening:
    hashes = [hash_of(nonce) for nonce in nonces]
    return EndedOpening(EARLIER, commitment(EARLIER_SEED, EARLIER), EARLIER_SEED, given, hashes, failures)


def one_opening() -> Json:
    return reveal_of(["a", "b", ""], [True, True, None])


def two_openings() -> Json:
    earlier = ended(["a", "b", "c"], ["a", "", "c"], {"bot_1": "nonce_withheld"})
    return reveal_of(["d", "", "e"], [True, None, None], earlier)


def refused_opening() -> Json:
    earlier = ended(["a", "b", ""], ["a", "b", ""], {"bot_0": "nonces_refused"})
    return reveal_of(["", "f", ""], [None, True, None], earlier)


def log_with(reveal: Json) -> list[bytes]:
    """Return a log whose deals follow from this reveal, as an operator would write it who bends nothing else."""
    head = header("pool-nap", 3, {"rounds": 1})
    match = played(head, at_random(Random(3)), CommittedChance(SEED, GROUP, reveal["nonces"]))
    return [*match.lines, reveal_line(len(match.lines), match.lines[-1], reveal)]


def verified(reveal: Json) -> VerificationReport:
    return verify(log_with(reveal))


def drop_a_promised_nonce(reveal: Json) -> None:
    reveal["nonces"][0] = ""
    reveal["accepted"][0] = None


BENDS: list[tuple[Callable[[], Json], Bend, str]] = [
    (one_opening, drop_a_promised_nonce, "promised nonces that are missing: 1"),
    (
        one_opening,
        lambda reveal: reveal.update(nonces=[""] * 3, accepted=[None] * 3),
        "promised nonces that are missing: 2",
    ),
    (one_opening, lambda reveal: reveal["nonces"].__setitem__(0, "mine"), "nonce 0 does not fit its hash"),
    (one_opening, lambda reveal: reveal["nonces"].__setitem__(2, "mine"), "nonce 2 does not fit its hash"),
    (one_opening, lambda reveal: reveal["accepted"].__setitem__(0, False), "entry 0 did not accept"),
    (one_opening, lambda reveal: reveal.pop("openings"), "just these members"),
]


def change_earlier(**changes: Any) -> Bend:
    return lambda reveal: reveal["openings"][0].update(changes)


def ask_the_bot_that_failed_again(reveal: Json) -> None:
    place = 1 if reveal["nonces"][1] == "" else 0
    reveal["nonces"][place], reveal["nonce_hashes"][place] = "again", hash_of("again")


EARLIER_BENDS: list[tuple[Callable[[], Json], Bend, str]] = [
    (two_openings, ask_the_bot_that_failed_again, "bot_1 ended an earlier opening"),
    (refused_opening, ask_the_bot_that_failed_again, "bot_0 ended an earlier opening"),
    (two_openings, change_earlier(seed="11" * 32), "not the one promised"),
    (two_openings, change_earlier(failures={}), "ends by a bot"),
    (two_openings, change_earlier(failures={"bot_9": "nonce_withheld"}), "ends by a bot"),
    (two_openings, change_earlier(failures={"bot_0": "nonce_withheld"}), "bot_0 cannot have ended"),
    (two_openings, change_earlier(failures={"bot_1": "nonces_refused"}), "listed as withheld"),
    (two_openings, change_earlier(failures={"bot_1": "its_mood"}), "malformed"),
    (two_openings, change_earlier(nonces=["", "", "c"]), "listed as withheld"),
    (two_openings, change_earlier(nonces=["a", "b", "c"]), "listed as withheld"),
    (two_openings, change_earlier(nonces=["a", "x", "c"]), "does not fit its hash"),
    (two_openings, change_earlier(id=GROUP, commitment=commitment(EARLIER_SEED, GROUP)), "same id"),
    (refused_opening, change_earlier(failures={"bot_2": "nonces_refused"}), "bot_2 cannot have ended"),
]


@pytest.mark.parametrize(("made", "bend", "reason"), [*BENDS, *EARLIER_BENDS])
def test_D8_what_an_operator_bends_about_an_opening_is_refused(
    made: Callable[[], Json], bend: Bend, reason: str
) -> None:
    bent = deepcopy(made())
    assert verified(bent).ok

    bend(bent)

    report = verified(bent)
    assert not report.ok
    assert reason in report.reason


@pytest.mark.parametrize(("made", "bend"), [(made, bend) for made, bend, _ in BENDS[:5]])
def test_D8_the_second_verifier_refuses_it_too(check: Any, made: Callable[[], Json], bend: Bend) -> None:
    bent = deepcopy(made())
    check(log_with(bent))

    bend(bent)

    with pytest.raises(ValueError, match=r"nonce"):
        check(log_with(bent))


@pytest.mark.parametrize("made", [two_openings, refused_opening])
def test_D8_the_second_verifier_checks_earlier_openings(check: Any, made: Callable[[], Json]) -> None:
    bent = deepcopy(made())
    check(log_with(bent))

    ask_the_bot_that_failed_again(bent)

    with pytest.raises(ValueError, match="another nonce"):
        check(log_with(bent))


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (one_opening, "deals follow from the revealed seed and the nonces of 2 bots"),
        (two_openings, "the nonces of 2 bots; openings that ended before: 1 (1 by nonce_withheld)"),
        (refused_opening, "the nonces of 1 bot; openings that ended before: 1 (1 by nonces_refused)"),
        (lambda: Reveal.without_nonces(SEED, 3).to_json(), "no bot gave a nonce, so the operator could choose it"),
    ],
)
def test_a_report_says_where_the_deals_come_from(made: Callable[[], Json], words: str) -> None:
    origin = verified(made()).origin

    assert origin is not None
    assert words in describe_origin(origin)
