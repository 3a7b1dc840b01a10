"""The sequential test: worked examples, and simulated scores of deal groups."""

from math import log
from random import Random

import pytest

from referee.errors import BadOption
from referee.ratings.sprt import MIN_GROUPS, Hypotheses, RunningTest, expected_score

EVENTS = 300


def pairs(rng: Random, elo: float, drawn: float = 0.3) -> float:
    """Return the mean score of a deal played on both seats. Half of the deals favour a seat: each player wins once."""
    if rng.random() < 0.5:
        return 0.5
    won = expected_score(elo) * 2 - 0.5  # of the deals that skill decides, so that the mean is as expected
    return sum(0.5 if rng.random() < drawn else float(rng.random() < (won - drawn / 2) / (1 - drawn)) for _ in "ab") / 2


def accepted_h1(elo: float, seed: int) -> tuple[float, float]:
    """Return how often H1 is accepted at this distance, and the mean number of groups to a verdict."""
    rng, test = Random(seed), Hypotheses(0, 60)
    verdicts, groups = 0, 0
    for _ in range(EVENTS):
        running = RunningTest(test)
        while running.add(pairs(rng, elo)) is None:
            pass
        verdicts += running.verdict == "h1"
        groups += running.groups
    return verdicts / EVENTS, groups / EVENTS


@pytest.mark.parametrize(("elo", "seed", "least", "most"), [(0, 1, 0, 0.08), (60, 2, 0.92, 1)])
def test_verdicts_are_wrong_about_as_often_as_allowed(elo: float, seed: int, least: float, most: float) -> None:
    found, groups = accepted_h1(elo, seed)

    assert least <= found <= most  # 5 % are wrong, and two standard errors of 300 tests
    assert groups < 400


def run_test(test: Hypotheses, scores: list[float]) -> RunningTest:
    running = RunningTest(test)
    for score in scores:
        running.add(score)
    return running


def test_the_ratio_is_as_worked_out_by_hand() -> None:
    running = run_test(Hypotheses(0, 100), [1.0, 0.5, 0.5, 1.0])

    # Mean 0.75, squared distances 4/16, with the prior group variance (0.25 + 0.25) / 4 = 0.125;
    # 100 Elo are 0.640065: 4 * 0.140065 * (1.5 - 1.140065) / 0.25.
    assert running.ratio == pytest.approx(0.80663, abs=1e-4)
    assert running.verdict is None
    assert Hypotheses().upper == pytest.approx(log(19))
    assert Hypotheses().lower == pytest.approx(-log(19))


def test_equal_scores_prove_nothing_at_once_and_h0_in_the_end() -> None:
    assert run_test(Hypotheses(0, 60), [0.5] * MIN_GROUPS).verdict is None

    settled = run_test(Hypotheses(0, 60), [0.5] * 1000)

    assert settled.verdict == "h0"
    assert settled.groups < 100


def test_nothing_counts_after_the_verdict() -> None:
    running = run_test(Hypotheses(0, 60), [1.0] * 1000)
    groups, ratio = running.groups, running.ratio

    running.add(0.0)

    assert (running.verdict, running.groups, running.ratio) == ("h1", groups, ratio)
    assert groups >= MIN_GROUPS


@pytest.mark.parametrize("numbers", [(20, 20), (20, 0), (0, 2000), (0, 20, 0), (0, 20, 0.05, 0.5), (float("nan"), 1)])
def test_numbers_that_make_no_test_are_refused(numbers: tuple[float, ...]) -> None:
    with pytest.raises(BadOption):
        Hypotheses(*numbers)
