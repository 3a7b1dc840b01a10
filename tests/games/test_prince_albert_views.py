"""Prince Albert: votes, and who sees what."""

import pytest

from referee.games.prince_albert import PrinceAlbert
from tests.games.playing import named, row
from tests.games.prince_albert import ACES, HIGH, PAIR, begun, play

# -- votes --


@pytest.mark.parametrize(
    ("opener", "votes", "throwers"),
    [
        (0, ["push", "push", "lose", "lose"], [0, 2]),
        (1, ["push", "push", "lose", "lose"], [1, 2]),
        (3, ["push", "lose", "lose", "push"], [1, 3]),
    ],
)
def test_PA_40_a_tie_is_thrown_for_by_the_opener_and_the_first_who_voted_otherwise(
    opener: int, votes: list[str], throwers: list[int]
) -> None:
    state = PrinceAlbert.start(4, {"vote": ["ties"]})
    state.resolve(opener)

    play(state, " ".join(f"{seat}:v{vote}" for seat, vote in enumerate(votes)))

    assert (state.phase, state.to_act()) == ("throw", throwers)
    assert state.default(throwers[0]) == {"type": "throw", "sign": "rock"}


def test_PA_40_after_five_equal_throws_chance_draws() -> None:
    state = PrinceAlbert.start(2, {"vote": ["forced_bid"]})
    state.resolve(1)

    log = play(state, "0:vfree 1:vmax" + " 0:rock 1:rock" * 5)

    assert len(named(log, "throw")) == 5
    assert state.chance() == {"kind": "draw", "what": "throw", "among": [0, 1]}
    assert state.observation(0)["phase"] == "throw"
    motion, opened = state.resolve(1)
    assert motion == {"event": "motion", "motion": "forced_bid", "value": "max", "by": "draw"}
    assert opened["event"] == "round"


def test_PA_40_motions_are_put_in_the_order_of_the_page_and_the_throws_counted_anew() -> None:
    state = PrinceAlbert.start(2, {"vote": ["ties", "forced_bid"]})
    assert state.options["vote"] == ["forced_bid", "ties"]
    state.resolve(0)

    play(state, "0:vfree 1:vmax 0:rock 1:rock 0:paper 1:rock 0:vpush 1:vlose" + " 0:rock 1:rock" * 4)

    assert (state.phase, state.pending()) == ("throw", (0, 1))


# -- what is seen --


def test_PA_42_what_lay_open_stays_in_the_history() -> None:
    state = begun([HIGH, PAIR, ACES])

    play(state, "0:b3 1:p 2:p 0:x2c 1:x9d 2:x3c<1 0:x4d")

    exchanges = named(state.observation(1)["history"], "exchange")
    assert [(event["discard"], event["drawn"]) for event in exchanges[:3]] == [("??", "??"), ("9d", "2h"), ("3c", "9d")]
    assert row(state.observation(1)["history"], "contract")["bid"] == 3
    assert [event["seat"] for event in named(state.observation(1)["history"], "deal")] == [0, 1, 2]
