"""Simulated ladders rank bots of known strength correctly, with intervals of the claimed width."""

from random import Random

from referee.ratings.elo import MICRO, START
from tests.ratings.simulated_ladder import Season, findings, folded, mean_of, season


def test_known_strengths_are_recovered() -> None:
    # Eight seasons of 30 bots and 750 tables of four: 240 intervals, whose share that covers has an error of 1.4 %.
    # The bounds are three of these errors from 95 %: errors a third too small or a half too large would fail.
    mean = mean_of([findings(season(30, 750, 4, seed)) for seed in range(1, 9)])

    print(mean)
    assert 0.90 <= mean.covered <= 0.99
    assert mean.tau_fit > 0.85
    assert mean.tau_elo > 0.75
    assert abs(mean.superior - mean.promised) < 0.12


def test_shared_places_do_not_hide_the_order() -> None:
    found = findings(season(30, 750, 4, seed=9, shared=0.2))

    print(found)
    assert found.tau_fit > 0.8
    assert found.tau_elo > 0.7


def test_results_of_bots_who_never_meet_commute() -> None:
    ours, theirs = season(8, 60, 4, seed=1), season(8, 60, 4, seed=2)
    renamed = [result._replace(bots=[f"their {bot}" for bot in result.bots]) for result in theirs.results]
    dice = Random(1)
    first, second = list(ours.results), list(renamed)
    mixed = []
    while first or second:
        mixed.append((first if not second or (first and dice.random() < 0.5) else second).pop(0))

    assert folded(mixed) == folded([*ours.results, *renamed])


def test_the_ladder_is_the_fold_in_order_and_order_matters() -> None:
    played = season(6, 80, 3, seed=4)

    values = folded(played.results)

    assert values == folded(list(played.results))
    assert values != folded(played.results[::-1])
    assert sum(values.values()) == START * len(values)
    assert min(values.values()) > START - 1_000 * MICRO


def test_a_season_is_drawn_from_its_strengths() -> None:
    # Two bots of a season meet 2,000 times: the share won is 1 / (1 + 10^(-gap / 400)).
    played: Season = season(2, 2_000, 2, seed=5)
    one, other = played.truth
    won = sum(placements[list(bots).index(one)] == 1 for bots, placements, *_ in played.results) / 2_000

    expected = 1 / (1 + 10 ** ((played.truth[other] - played.truth[one]) / 400))
    assert abs(won - expected) < 0.04
