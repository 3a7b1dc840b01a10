"""Prince Albert: Hold'em, votes, options, bounds, and who sees what."""

import pytest

from referee.errors import BadOption
from referee.games.cards import DECK
from referee.games.prince_albert import PrinceAlbert
from referee.match.canonical import Json, dumps
from tests.games.playing import named
from tests.games.prince_albert import ACES, HIGH, PAIR, begun, deck_for, meant, play, row

# -- Hold'em --


def test_PA_25_of_each_hand_two_cards_lie_down_and_three_up() -> None:
    state = begun(["9d 3c As 3h Kc", HIGH], holdem=True)

    assert (state.down[0], state.up[0]) == (["3c", "9d"], ["3h", "Kc", "As"])
    assert state.observation(0)["hands"] == [["3c", "9d", "3h", "Kc", "As"], ["??", "??", "5h", "7s", "8c"]]
    assert state.observation(1)["hands"][0] == ["??", "??", "3h", "Kc", "As"]
    deal = named(state.history, "deal")[0]
    assert PrinceAlbert.mask_event(deal, 1) == {**deal, "down": ["??", "??"]}


@pytest.mark.parametrize(
    ("moves", "own", "discard", "drawn"),
    [
        ("0:x2c", "down", "??", "??"),  # a low bidder's down card: nothing is seen
        ("0:x8c", "up", "8c", "Jd"),  # its up card goes to a closed pile, but all saw it
        ("0:p 1:xKd", "down", "Kd", "??"),  # another's down card lands open
        ("0:p 1:x3h", "up", "3h", "Jd"),
    ],
)
def test_PA_26_up_for_up_and_down_for_down(moves: str, own: str, discard: str, drawn: str) -> None:
    state = begun([HIGH, PAIR, ACES], holdem=True)
    state.deck = ["Jd", *state.deck]

    exchange = play(state, "0:b2 1:p 2:p " + moves)[-1]

    part = state.down if own == "down" else state.up
    assert "Jd" in part[exchange["seat"]]
    assert exchange["pile"] == ("down" if exchange["seat"] == 0 else "up")
    masked = PrinceAlbert.mask_event(exchange, 2)
    assert masked == {**exchange, "discard": discard, "drawn": drawn}


def test_PA_26_a_card_taken_off_a_pile_as_a_down_card_was_seen_by_all() -> None:
    state = begun([HIGH, PAIR, ACES], holdem=True)

    log = play(state, "0:b2 1:p 2:p 0:p 1:xKd 2:xAd<1")

    taken = row(log[-1:], "exchange")
    assert PrinceAlbert.mask_event(taken, None) == taken
    assert state.observation(0)["hands"][2][:2] == ["??", "??"]


# -- votes --


@pytest.mark.parametrize(
    ("moves", "by", "value"),
    [
        ("0:vlose 1:vlose 2:vpush", "majority", "lose"),
        ("0:vpush 1:vlose 2:vpush", "majority", "push"),
    ],
)
def test_PA_40_more_votes_decide(moves: str, by: str, value: str) -> None:
    state = PrinceAlbert.start(3, {"vote": ["ties"]})
    state.resolve(1)
    assert (state.phase, state.to_act(), state.observation(0)["motion"]) == ("vote", [0, 1, 2], "ties")

    log = play(state, moves)

    assert row(log, "vote")["votes"] == [move[3:] for move in moves.split()]
    assert row(log, "motion") == {"event": "motion", "motion": "ties", "value": value, "by": by}
    assert (state.observation(0)["options"]["ties"], state.observation(0)["motion"]) == (value, None)


def test_PA_40_the_configured_value_is_named_first_and_is_the_default() -> None:
    state = PrinceAlbert.start(2, {"vote": ["showing"], "showing": "all"})
    state.resolve(0)

    assert state.legal(1) == [{"type": "vote", "for": "all"}, {"type": "vote", "for": "voluntary"}]
    assert state.default(1) == {"type": "vote", "for": "all"}


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


@pytest.mark.parametrize(
    ("signs", "value"),
    [
        ("rock scissors", "lose"),
        ("scissors paper", "lose"),
        ("paper rock", "lose"),
        ("scissors rock", "push"),
        ("paper scissors", "push"),
        ("rock paper", "push"),
    ],
)
def test_PA_40_rock_beats_scissors_scissors_paper_paper_rock(signs: str, value: str) -> None:
    state = PrinceAlbert.start(2, {"vote": ["ties"]})
    state.resolve(1)
    opener, rival = signs.split()

    log = play(state, f"0:vpush 1:vlose 0:{rival} 1:{opener}")

    assert row(log, "throw") == {"event": "throw", "motion": "ties", "seats": [1, 0], "signs": [opener, rival]}
    assert (row(log, "motion")["value"], row(log, "motion")["by"]) == (value, "throw")


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


def test_PA_40_nobody_sees_a_vote_before_the_last_and_round_0_has_no_cards() -> None:
    state = PrinceAlbert.start(3, {"vote": ["ties"]})
    state.resolve(1)
    before = [state.observation(seat) for seat in range(3)]

    play(state, "2:vlose")

    assert [state.observation(seat) for seat in range(3)] == before
    assert (before[0]["round"], before[0]["hands"]) == (0, [[], [], []])
    assert [event["event"] for event in before[0]["history"]] == ["match_start", "opener"]
    assert before[0]["history"][0]["options"]["ties"] == "push"


@pytest.mark.parametrize("wrong", [["forced_bid", "forced_bid"], ["cash"], "ties", None, [1], {"ties": 1}])
def test_PA_40_only_open_rules_are_voted_on_once_each(wrong: object) -> None:
    with pytest.raises(BadOption) as refused:
        PrinceAlbert.start(2, {"vote": wrong})

    assert refused.value.field == "vote"


# -- options and bounds --


@pytest.mark.parametrize(
    ("seats", "options", "bound"),
    [
        *[(2, {}, 20), (3, {}, 31), (4, {}, 42), (5, {}, 38)],
        *[(2, {"cash": True}, 38), (3, {"cash": True}, 64), (4, {"cash": True}, 90), (5, {"cash": True}, 101)],
        (4, {"vote": ["ties", "showing"]}, 42 + 2 * 14),
    ],
)
def test_the_longest_round(seats: int, options: Json, bound: int) -> None:
    state = PrinceAlbert.start(seats, options | {"max_rounds": 1})

    assert PrinceAlbert.decision_bound(seats, state.options) == bound


@pytest.mark.parametrize("cash", [False, True])
@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_the_longest_round_is_reached_and_its_views_keep_their_size(seats: int, cash: bool) -> None:
    state = PrinceAlbert.start(seats, {"max_rounds": 1, "cash": cash})
    state.points = [1] * seats
    state.resolve(0)
    state.resolve([*DECK])

    decisions, largest = 0, 0
    while not state.over:
        for seat in state.pending():
            largest = max(largest, len(dumps(state.observation(seat))))
            decisions += 1
            state.apply(seat, meant(longest(state, seat), state.phase))

    assert decisions == PrinceAlbert.decision_bound(seats, state.options)
    assert largest <= 8895  # the largest of the page, five seats with cash


def longest(state: PrinceAlbert, seat: int) -> str:
    """Return the move that delays the end of the round."""
    match state.phase:
        case "bidding":
            return "p" if len(state.queue) > 1 and state.bid is None else f"b{state.highest_bid}"
        case "drawing":
            return f"x{state.down[seat][0]}"
        case "all_in" | "show":
            return "s" if state.phase == "all_in" else "S"
    # All check but the last, who bets; then all call but the last, who raises, as often as it may.
    others_done = all(
        state.acted[other] and not state.amount_to_call(other) for other in range(state.players) if other != seat
    )
    if not state.amount_to_call(seat):
        return "b" if others_done else "k"
    return "r" if others_done and "raise" in state.wagers(seat) else "c"


@pytest.mark.parametrize(
    ("option", "low", "high"),
    [
        *[("target", 1, 500), ("max_rounds", 1, 500), ("ante", 0, 100), ("small_bet", 1, 100), ("big_bet", 1, 100)],
        *[("max_raises", 0, 10), ("stack", 0, 100_000), ("point_value", 0, 100)],
    ],
)
def test_PA_29_PA_37_whole_numbers_keep_their_bounds(option: str, low: int, high: int) -> None:
    agreed = {"cash": True, "rank_by": "chips"}

    for value in (low, high):
        assert PrinceAlbert.start(2, {**agreed, option: value}).options[option] == value
    for value in (low - 1, high + 1):
        with pytest.raises(BadOption) as refused:
            PrinceAlbert.start(2, {**agreed, option: value})
        assert refused.value.field == option


# -- what is seen --


def test_PA_42_what_lay_open_stays_in_the_history() -> None:
    state = begun([HIGH, PAIR, ACES])

    play(state, "0:b3 1:p 2:p 0:x2c 1:x9d 2:x3c<1 0:x4d")

    exchanges = named(state.observation(1)["history"], "exchange")
    assert [(event["discard"], event["drawn"]) for event in exchanges[:3]] == [("??", "??"), ("9d", "2h"), ("3c", "9d")]
    assert row(state.observation(1)["history"], "contract")["bid"] == 3
    assert [event["seat"] for event in named(state.observation(1)["history"], "deal")] == [0, 1, 2]


def test_a_view_has_the_fields_of_the_page() -> None:
    state = begun([HIGH, PAIR, ACES], points=[0, 4, 0], cash=True, holdem=True, forced_bid="free")
    play(state, "0:k 1:b 2:c 0:f 1:p 2:b1 2:k 1:k 2:xAs 1:x3h")

    seen = state.observation(1)

    told = [event["event"] for event in seen.pop("history")]
    assert told[-5:] == ["contract", "wager", "wager", "exchange", "exchange"]
    assert seen == {
        "game": "prince-albert",
        "seat": 1,
        "players": 3,
        "options": state.options,
        "round": 1,
        "phase": "all_in",
        "to_act": [1],
        "opener": 0,
        "scores": [0, 4, 0],
        "chips": [-1, -3, -3],
        "hands": [["??", "??", "5h", "7s", "8c"], ["Kc", "Kd", "2h", "6c", "9d"], ["??", "??", "3c", "6h", "9s"]],
        "deck": 35,
        "bids": [None, None, 1],
        "bid": 1,
        "bid_out": [True, True, False],
        "low_bidders": [2],
        "drawn": [0, 1, 1],
        "draw_out": [True, False, False],
        "piles": [{"cards": 0, "top": None}, {"cards": 1, "top": "3h"}, {"cards": 1, "top": "??"}],
        "all_in": [False, False, False],
        "shown": [False, False, False],
        "folded": [True, False, False],
        "pot": 7,
        "paid": [1, 3, 3],
        "put": [0, 0, 0],
        "to_call": 0,
        "raises": 0,
        "motion": None,
        "previous": [],
    }


def test_who_is_out_is_told_only_from_the_phase_it_is_out_of() -> None:
    state = begun([HIGH, PAIR, ACES], cash=True)
    views = [state.observation(1)]

    play(state, "0:f")
    views.append(state.observation(1))
    play(state, "1:k 2:k")
    views.append(state.observation(1))
    play(state, "1:b0 2:p")
    views.append(state.observation(1))
    play(state, "1:k 2:k")
    views.append(state.observation(1))

    nobody = [False, False, False]
    assert [(view["phase"], view["bid_out"], view["draw_out"]) for view in views] == [
        *[("bet1", nobody, nobody), ("bet1", nobody, nobody), ("bidding", [True, False, False], nobody)],
        *[("bet2", [True, False, True], nobody), ("drawing", [True, False, True], [True, True, False])],
    ]


def test_what_a_seat_has_to_call_is_told_to_it_alone() -> None:
    state = begun([HIGH, PAIR, ACES], cash=True)

    play(state, "0:b 1:r 2:f")

    assert [state.observation(seat)["to_call"] for seat in range(3)] == [2, 0, 0]
    assert (state.observation(0)["put"], state.observation(0)["raises"]) == ([2, 4, 0], 1)


def test_the_deck_is_left_out_until_the_match_is_over() -> None:
    state = begun([ACES, PAIR], max_rounds=1)
    deck = named(state.history, "deck")[0]

    assert [PrinceAlbert.mask_event(deck, viewer) for viewer in (None, 0, 1)] == [None, None, None]
    assert not named(state.observation(0)["history"], "deck")
    play(state, "0:b8 1:p 0:p 1:p 1:H")

    end = state.observation(0)
    assert named(end["history"], "deck") == [deck]
    assert [event["event"] for event in end["history"]][-2:] == ["round_end", "match_end"]
    assert (end["phase"], end["to_act"], end["hands"][1]) == ("over", [], ["??"] * 5)


def test_nothing_but_scores_chips_and_the_opener_passes_to_the_next_round() -> None:
    state = begun([PAIR, ACES], cash=True, points=[3, 3])
    play(state, "0:b 1:c 0:b8 1:p 0:k 1:k 0:x9d 1:x9s 0:p 1:p 1:A 0:k 1:k")

    state.resolve(deck_for([HIGH, PAIR], 1))

    fresh = begun([HIGH, PAIR], opener=1, cash=True, points=state.points)
    seen, expected = state.observation(0), fresh.observation(0)
    for changed in ("chips", "round", "previous", "history"):
        del seen[changed], expected[changed]
    assert seen == expected
    assert state.points == [2, 8]
