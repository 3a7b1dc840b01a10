"""Outcomes of chance: the published vector, fairness, and what cannot be drawn."""

from collections import Counter

import pytest

from referee.errors import IllegalOutcome
from referee.games.cards import DECK
from referee.match.canonical import Json
from referee.match.chance import CommittedChance, RecordedChance, commitment, deal_key

SEED = bytes(32)
NONCES = ["1" * 32, "2" * 32]
A_DECK = {"kind": "deck", "cards": list(DECK)}


def test_the_vector_of_the_scheme() -> None:
    # The vector of the scheme's description in docs/bot-protocol.md: 32 zero bytes, group m_0001.
    source = CommittedChance(SEED, "m_0001", NONCES)

    first, second = source.outcome(A_DECK, 0), source.outcome(A_DECK, 1)

    assert commitment(SEED, "m_0001") == "d00d79d0b5832f7517a568b16cff4d64227d92b9c0a72deb933ce0dea4e8c135"
    assert deal_key(SEED, "m_0001", NONCES).hex() == "00e3fb6a8ac2d148083708e42b3a7cfa07549cdb47943e2bbcd4836ef6946e96"
    assert " ".join(first[:13]) == "Kd 8d Jh 4c As 4s 7h Ad 5h Ac 5s 3d 5d"
    assert " ".join(first[-5:]) == "4h Jc Kc 6h 8c"
    assert " ".join(second[:5]) == "Kh 7s As 6s 2d"
    assert source.outcome({"kind": "draw", "what": "x", "among": [0, 1, 2, 3]}, 0) == 3


def test_an_outcome_depends_on_the_node_alone_not_on_what_was_asked_before() -> None:
    fresh, used = (CommittedChance(SEED, "g", NONCES) for _ in range(2))
    used.outcome(A_DECK, 0)

    assert fresh.outcome(A_DECK, 5) == used.outcome(A_DECK, 5)


def test_every_nonce_and_its_place_counts() -> None:
    decks = [
        CommittedChance(SEED, "g", nonces).outcome(A_DECK, 0)
        for nonces in (["a", "b"], ["b", "a"], ["a", ""], ["", ""])
    ]

    assert len({tuple(deck) for deck in decks}) == 4


def test_an_ordered_draw_is_a_shuffle_of_its_members() -> None:
    asked = {"kind": "draw", "what": "pickup_order", "among": [0, 2, 3], "ordered": True}

    outcomes = {tuple(CommittedChance(SEED, "g", NONCES).outcome(asked, k)) for k in range(100)}

    assert len(outcomes) == 6


def test_D7_draws_and_shuffles_are_even() -> None:
    # 2,000 shuffles of 13 things: the place of each thing, chi-square with 12 x 12 = 144 degrees of freedom;
    # the statistic lies below 230 but for one in 100,000 sources (mean 144, deviation 17). The seed is fixed.
    source = CommittedChance(b"\x01" * 32, "even", [])
    asked = {"kind": "deck", "cards": list(DECK[:13])}
    seen: Counter[tuple[int, str]] = Counter()
    for k in range(2000):
        seen.update(enumerate(source.outcome(asked, k)))

    expected = 2000 / 13
    statistic = sum((seen[place, card] - expected) ** 2 / expected for place in range(13) for card in DECK[:13])

    assert len(seen) == 169
    assert statistic < 230


def test_a_record_gives_its_outcomes_in_order_and_no_more() -> None:
    rows: list[Json] = [{"type": "header"}, {"type": "chance", "outcome": 2}, {"type": "chance", "outcome": ["2c"]}]
    source = RecordedChance(rows)

    assert [source.outcome(A_DECK, 0), source.outcome(A_DECK, 1)] == [2, ["2c"]]
    with pytest.raises(IllegalOutcome, match="no outcome"):
        source.outcome(A_DECK, 2)
