"""Simulated ladders rank bots of known strength correctly, with intervals of the claimed width."""

from tests.ratings.simulated_ladder import findings, mean_of, season


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
