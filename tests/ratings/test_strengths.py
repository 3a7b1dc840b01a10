"""Jointly fitted strengths: closed forms, published figures, ties, priors, anchors, errors."""

from collections.abc import Mapping
from itertools import pairwise, permutations
from math import erf, exp, isfinite, log, sqrt
from pathlib import Path
from random import Random
from statistics import NormalDist, fmean

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from referee.ratings.strengths import POINTS, Fit, RankedResult, Strength, anchor_level, fit, half_width
from referee.ratings.strengths.covariance import Errors, RoughErrors
from referee.ratings.strengths.maximum_likelihood import maximise_likelihood
from referee.ratings.strengths.model import Likelihood, Prior, likelihood

ALMOST_NONE = 1e-6  # a prior too small to change published maximum likelihood estimates

# Baseball, American League East 1987: home team, visitors, won by each. A. Agresti, Categorical Data Analysis, second
# edition (2002), pages 437 and 438.
TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
BASEBALL = {
    "Milwaukee": ((4, 3), (4, 2), (4, 3), (6, 1), (4, 2), (6, 0)),
    "Detroit": ((3, 3), (4, 2), (4, 3), (6, 0), (6, 1), (4, 3)),
    "Toronto": ((2, 5), (4, 3), (2, 4), (4, 3), (4, 2), (6, 0)),
    "New York": ((3, 3), (5, 1), (2, 5), (4, 3), (4, 2), (6, 1)),
    "Boston": ((5, 1), (2, 5), (3, 3), (4, 2), (5, 2), (6, 0)),
    "Cleveland": ((2, 5), (3, 3), (3, 4), (4, 3), (4, 2), (2, 4)),
    "Baltimore": ((2, 5), (1, 5), (1, 6), (2, 4), (1, 6), (3, 4)),
}
RACES = [line.split() for line in (Path(__file__).parent / "nascar_2002.txt").read_text().splitlines()]
NAMED = ("58", "68", "51", "15", "17", "40")
TABLES = st.lists(
    st.tuples(st.permutations("abcdef"), st.lists(st.integers(1, 4), min_size=2, max_size=4)).map(
        lambda drawn: RankedResult(drawn[0][: len(drawn[1])], drawn[1])
    ),
    min_size=1,
    max_size=12,
)


def duels(won: int, lost: int, one: str = "a", other: str = "b") -> list[RankedResult]:
    return [ranked(one, other)] * won + [ranked(other, one)] * lost


def ranked(*bots: str) -> RankedResult:
    return RankedResult(bots, range(len(bots)))


def by_id(found: Fit) -> dict[str, Strength]:
    return {row.id: row for row in found.rows}


def gap(found: Fit, one: str, other: str) -> float:
    """Return the difference in logarithms of strength."""
    rows = by_id(found)
    return (rows[one].points - rows[other].points) / POINTS


def log_likelihood(
    results: list[RankedResult], levels: dict[str, float], prior: float, own: Mapping[str, Prior] | None = None
) -> float:
    """Return the log-likelihood by the definition, over all orders of tied bots.

    A draw is half a win and half a defeat, so it adds the mean of the logarithms of their probabilities.
    """
    total = 0.0
    for bot, level in levels.items():
        draws, opponent = (own or {}).get(bot, Prior(prior))
        won = exp(level) / (opponent + exp(level))
        total += draws * (log(won) + log(1 - won)) / 2
    for bots, said, _, anchors in results:
        known = [
            levels[bot] if fixed is None else fixed for bot, fixed in zip(bots, anchors or [None] * 9, strict=False)
        ]
        orders = [
            order for order in permutations(range(len(bots))) if all(said[a] <= said[b] for a, b in pairwise(order))
        ]
        for order in orders:
            for place, seat in enumerate(order):
                left = sum(exp(known[other]) for other in order[place:])
                total += (known[seat] - log(left)) / len(orders)
    return total


# -- closed forms --


def test_two_bots_are_apart_by_the_log_odds() -> None:
    found = fit(duels(30, 10), prior=ALMOST_NONE)

    assert found.converged
    assert found.exact
    assert [row.id for row in found.rows] == ["a", "b"]
    assert gap(found, "a", "b") == pytest.approx(log(3), abs=1e-5)
    assert fmean(row.points for row in found.rows) == pytest.approx(1_500)


def test_the_error_of_two_bots_is_that_of_the_log_odds() -> None:
    # The variance of the gap is 1/30 + 1/10; each is half the gap from the mean.
    first, second = fit(duels(30, 10), prior=ALMOST_NONE).rows

    error = sqrt(1 / 30 + 1 / 10)
    assert first.se == pytest.approx(POINTS * error / 2, rel=1e-4)
    assert (first.low, first.high) == pytest.approx(
        (first.points - 1.959964 * first.se, first.points + 1.959964 * first.se)
    )
    assert first.superior_to_next == pytest.approx((1 + erf(log(3) / error / sqrt(2))) / 2, rel=1e-5)
    assert second.superior_to_next is None
    assert (first.matches, second.matches) == (40, 40)


def test_three_drawn_matches_each_with_the_average_player_are_the_prior() -> None:
    # Two bots, a won once. With strengths g and 1/g the slope 1/(1 + g²) - 3 (g/(1 + g) - 1/2) is 0 where
    # 3 g³ - 3 g² + g = 5.
    found = fit(duels(1, 0))

    g = exp(gap(found, "a", "b") / 2)
    assert 3 * g**3 - 3 * g**2 + g == pytest.approx(5, abs=1e-4)


# -- published figures --


def baseball() -> list[RankedResult]:
    results: list[RankedResult] = []
    for home, lines in BASEBALL.items():
        visitors = [team for team in TEAMS if team != home]
        for visitor, (won, lost) in zip(visitors, lines, strict=True):
            results += duels(won, lost, home, visitor)
    return results


def test_baseball_1987_is_as_agresti_has_it() -> None:
    # Table 10.11, third column: abilities with Baltimore at 0; the text: standard errors of about 0.3.
    found = fit(baseball(), prior=ALMOST_NONE)

    gaps = [round(gap(found, team, "Baltimore"), 2) for team in TEAMS]
    assert gaps == [1.58, 1.44, 1.29, 1.25, 1.11, 0.68, 0]
    assert [row.id for row in found.rows] == list(TEAMS)
    said = likelihood(baseball(), Prior(ALMOST_NONE))
    errors = Errors(said, maximise_likelihood(said, 100, tolerance=1e-6, newton=True)[0])
    last = said.ids.index("Baltimore")
    assert [round(errors.error_of_difference(bot, last), 1) for bot in range(7) if bot != last] == [0.3] * 6


def test_nascar_2002_is_as_hunter_has_it() -> None:
    # Hunter 2004, table 2, to two digits as the R package PlackettLuce prints it: the logarithms of PJ Jones, Scott
    # Pruett, Mark Martin, Dave Marcis, Dick Trickle and Joe Varde, the first driver of all (Austin Cameron) at 0. The
    # four who came last in all their races (84 to 87) are left out.
    races = [ranked(*[driver for driver in race if int(driver) <= 83]) for race in RACES]

    found = fit(races, prior=ALMOST_NONE)

    assert [round(gap(found, driver, "1"), 2) for driver in NAMED] == [4.15, 3.62, 2.08, 0.03, -0.31, -0.15]


# -- maximisation --


@settings(max_examples=25)
@given(TABLES, st.lists(st.floats(-3, 3), min_size=6, max_size=6), st.floats(0.1, 3))
def test_the_likelihood_is_that_of_the_definition(
    results: list[RankedResult], drawn: list[float], prior: float
) -> None:
    said = likelihood(results, Prior(prior))
    levels = drawn[: len(said.ids)]

    expected = log_likelihood(results, dict(zip(said.ids, levels, strict=True)), prior)

    assert said.log(levels) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    check_slope(said, levels)


def check_slope(said: Likelihood, levels: list[float]) -> None:
    small = 1e-5
    for bot, slope in enumerate(said.slope(levels)):
        up, down = ([level + aside * (other == bot) for other, level in enumerate(levels)] for aside in (small, -small))
        assert slope == pytest.approx((said.log(up) - said.log(down)) / (2 * small), abs=1e-4)


@settings(max_examples=25)
@given(
    TABLES,
    st.lists(st.floats(-3, 3), min_size=6, max_size=6),
    st.dictionaries(st.sampled_from("abc"), st.builds(Prior, st.floats(0.1, 50), st.floats(0.1, 10)), min_size=1),
)
def test_an_anchor_with_an_error_has_a_prior_of_its_own(
    results: list[RankedResult], drawn: list[float], own: dict[str, Prior]
) -> None:
    said = likelihood(results, Prior(3), own)
    levels = drawn[: len(said.ids)]

    def defined(levels: list[float]) -> float:
        return log_likelihood(results, dict(zip(said.ids, levels, strict=True)), 3, own)

    # ``log`` leaves out what does not depend on the levels.
    level = [0.0] * len(levels)
    assert said.log(levels) - said.log(level) == pytest.approx(defined(levels) - defined(level), rel=1e-9, abs=1e-8)
    assert said.has_anchors == bool(own.keys() & {*said.ids})
    check_slope(said, levels)


@settings(max_examples=25)
@example([RankedResult(["a", "b", "c", "d"], [1, 1, 1, 1])], False)  # its steps are rounding errors from the first on
@given(TABLES, st.booleans())
def test_the_fit_is_at_the_top(results: list[RankedResult], newton: bool) -> None:
    # The likelihood has one maximum, where all slopes are 0.
    said = likelihood(results, Prior(1.0))

    levels, _, converged = maximise_likelihood(said, 1_000, tolerance=1e-6, newton=newton)

    assert converged
    assert max(map(abs, said.slope(levels))) < 1e-4


@pytest.mark.parametrize("newton", [True, False])
def test_every_step_makes_the_results_likelier(newton: bool) -> None:
    said = likelihood(baseball(), Prior(1.0))

    heights = [said.log(maximise_likelihood(said, steps, tolerance=1e-9, newton=newton)[0]) for steps in range(30)]

    assert heights == sorted(heights)
    assert heights[-1] > heights[0] + 10


def test_many_bots_without_newton_arrive_too() -> None:
    # A star: 30 bots lost 20 matches each to one. Unless all are shifted together, a thousand steps are not enough.
    results = [match for number in range(30) for match in duels(20, 0, "star", f"bot {number}")]

    slow, quick = fit(results, iterations=500, exact=0), fit(results)

    assert slow.converged
    assert quick.iterations < 30
    assert [row.id for row in slow.rows] == [row.id for row in quick.rows]
    assert [row.points for row in slow.rows] == pytest.approx([row.points for row in quick.rows], abs=0.02)


def test_a_fit_that_was_cut_short_says_so() -> None:
    assert not fit(baseball(), iterations=2).converged
    assert fit(baseball()).converged


@settings(max_examples=25)
@given(TABLES, st.randoms(use_true_random=False))
def test_the_order_of_results_and_seats_leaves_no_trace(results: list[RankedResult], dice: Random) -> None:
    shuffled: list[RankedResult] = []
    for bots, placements, *_ in dice.sample(results, len(results)):
        seats = dice.sample(range(len(bots)), len(bots))
        shuffled.append(RankedResult([bots[seat] for seat in seats], [placements[seat] for seat in seats]))

    assert fit(shuffled) == fit(results)


# -- who met whom --


def test_who_won_all_and_who_met_nobody_else_is_finite() -> None:
    # Two islands, each with one bot that won every match.
    found = by_id(fit([*duels(50, 0, "a", "b"), *duels(3, 0, "c", "d")]))

    points = [found[bot].points for bot in "acdb"]
    assert points == sorted(points, reverse=True)
    assert all(isfinite(row.low) and isfinite(row.high) for row in found.values())
    assert found["a"].se > 100  # without the prior both would be infinite


def test_seats_not_rated_and_lonely_ones_say_nothing() -> None:
    with_house = RankedResult(("a", "house", "b"), (1, 2, 3), (True, False, True))
    alone = RankedResult(("c", "house"), (1, 2), (True, False))

    assert fit([with_house, alone]) == fit([ranked("a", "b")])
    assert fit([alone]) == fit([]) == Fit([], 0, True, True)


def test_a_bot_cannot_sit_twice_in_a_result() -> None:
    with pytest.raises(ValueError, match="twice"):
        fit([ranked("a", "b", "a")])
    with pytest.raises(ValueError, match="prior"):
        fit([], prior=0)
    with pytest.raises(ValueError, match="argument"):
        fit([RankedResult(("a", "b"), (1,))])


# -- anchors --

ANCHORED = st.lists(
    st.tuples(
        st.permutations("abcdef"),
        st.lists(st.integers(1, 3), min_size=2, max_size=4),
        st.lists(st.one_of(st.none(), st.floats(-3, 3)), min_size=4, max_size=4),
    ).map(lambda drawn: RankedResult(drawn[0][: len(drawn[1])], drawn[1], None, drawn[2][: len(drawn[1])])),
    min_size=1,
    max_size=8,
)


def against_anchor(won: int, lost: int, points: float) -> list[RankedResult]:
    levels = [None, anchor_level(points)]
    return [RankedResult(("a", "house"), (1, 2), (True, False), levels)] * won + [
        RankedResult(("a", "house"), (2, 1), (True, False), levels)
    ] * lost


def test_a_lone_bot_is_measured_against_an_anchor() -> None:
    (row,) = fit(against_anchor(30, 10, 1_600), prior=ALMOST_NONE).rows

    assert row.points == pytest.approx(1_600 + POINTS * log(3), abs=0.05)
    assert row.se == pytest.approx(POINTS / sqrt(40 * 0.75 * 0.25), rel=1e-3)
    assert row.matches == 40


def test_bots_that_met_no_anchor_are_on_the_scale_of_those_that_did() -> None:
    found = by_id(fit([*against_anchor(200, 200, 1_800), *duels(200, 200)], prior=ALMOST_NONE))

    assert found["a"].points == pytest.approx(1_800, abs=0.1)
    assert found["b"].points == pytest.approx(1_800, abs=0.1)
    assert found["b"].se > found["a"].se


@settings(max_examples=25)
@given(ANCHORED, st.booleans())
def test_with_anchors_the_fit_is_at_the_top_of_the_likelihood_by_its_definition(
    results: list[RankedResult], newton: bool
) -> None:
    said = likelihood(results, Prior(1.0))

    levels, _, converged = maximise_likelihood(said, 2_000, tolerance=1e-6, newton=newton)

    named, small = dict(zip(said.ids, levels, strict=True)), 1e-4
    assert converged
    for bot in named:
        higher, lower = (log_likelihood(results, named | {bot: named[bot] + step}, 1.0) for step in (small, -small))
        assert (higher - lower) / (2 * small) == pytest.approx(0, abs=2e-3)


def test_the_error_of_an_anchor_widens_that_of_its_opponent() -> None:
    known = against_anchor(30, 10, 1_600)
    results = [RankedResult(result.bots, result.placements) for result in known]

    (sure,) = fit(known, prior=ALMOST_NONE).rows
    found = fit(results, prior=ALMOST_NONE, anchors={"house": (1_600, 40)})

    # Nothing else is known of either, so the variances of the anchor and of the odds add up.
    (row,) = found.rows
    assert row.id == "a"
    assert row.points == pytest.approx(sure.points, abs=0.05)
    assert row.se == pytest.approx(sqrt(sure.se**2 + 40**2), rel=1e-3)
    (exact,) = fit(results, prior=ALMOST_NONE, anchors={"house": (1_600, 0.1)}).rows
    assert (exact.points, exact.se) == pytest.approx((sure.points, sure.se), rel=1e-3)


def test_an_anchor_with_an_error_takes_no_rank() -> None:
    results = [*duels(40, 0, "a", "house"), *duels(40, 0, "house", "b")]

    first, last = fit(results, anchors={"house": (1_500, 10)}).rows

    assert [(row.id, row.best_rank, row.worst_rank) for row in (first, last)] == [("a", 1, 1), ("b", 2, 2)]
    assert first.superior_to_next == pytest.approx(1, abs=1e-6)
    assert last.superior_to_next is None


def test_a_result_of_anchors_alone_says_nothing() -> None:
    alone = RankedResult(("house", "house"), (1, 2), (False, False), (0.5, 0.1))

    assert fit([alone, *duels(3, 1)]) == fit(duels(3, 1))


# -- errors --


def test_a_rating_at_the_fit_has_the_error_of_the_fit_and_one_far_away_its_distance_in_addition() -> None:
    # 1.960 standard errors leave out 2.5 % on both sides; far away all but 5 % must lie on the near side: 1.645.
    assert half_width(0, 50) == pytest.approx(1.960 * 50, abs=0.1)
    assert half_width(1_000, 50) == pytest.approx(1_000 + 1.645 * 50, abs=0.1)
    assert half_width(-1_000, 50) == half_width(1_000, 50)


@settings(max_examples=50)
@given(st.floats(-800, 800), st.floats(1, 200))
def test_the_strength_lies_within_the_error_of_the_rating_with_95_percent(distance: float, se: float) -> None:
    normal, width = NormalDist(0, se), half_width(distance, se)

    assert normal.cdf(distance + width) - normal.cdf(distance - width) == pytest.approx(0.95, abs=1e-3)


@settings(max_examples=50)
@given(st.floats(0, 800), st.floats(0, 100), st.floats(1, 200))
def test_the_error_of_a_rating_grows_with_its_distance_from_the_fit_and_with_the_error_of_the_fit(
    distance: float, more: float, se: float
) -> None:
    width, rounding = half_width(distance, se), 2 * se / 1_000

    assert width - rounding <= half_width(distance + more, se) <= width + more + rounding
    assert half_width(distance, 1.1 * se) > width


def test_bots_alike_may_hold_each_others_ranks() -> None:
    # a and b drew 10 of 10; both beat c 30 times of 30.
    results = [*duels(10, 10), *duels(30, 0, "a", "c"), *duels(30, 0, "b", "c")]

    first, second, last = fit(results).rows

    assert [(row.best_rank, row.worst_rank) for row in (first, second, last)] == [(1, 2), (1, 2), (3, 3)]
    assert first.superior_to_next == pytest.approx(0.5)
    assert second.superior_to_next is not None
    assert second.superior_to_next > 0.99
    assert first.id == "a"  # of equal strengths the lower id comes first


def test_an_error_from_the_diagonal_takes_the_strengths_of_others_as_known() -> None:
    rough = RoughErrors(likelihood([ranked("a", "b")], Prior(1.0)), [0.0, log(2)])

    # The information is 1/2 · 1/2 from the prior of a, 1/3 · 2/3 from that of b, and 1/3 · 2/3 from their match.
    assert [rough.error_of(0) ** 2, rough.error_of(1) ** 2] == pytest.approx([36 / 17, 9 / 4])
    assert rough.error_of_difference(0, 1) ** 2 == pytest.approx(36 / 17 + 9 / 4)


def test_errors_from_the_diagonal_come_close() -> None:
    dice = Random(3)
    bots = [f"bot {number}" for number in range(40)]
    results: list[RankedResult] = [ranked(*dice.sample(bots, 4)) for _ in range(600)]

    whole, rough = fit(results), fit(results, exact=39)

    assert (whole.exact, rough.exact) == (True, False)
    assert rough.converged
    errors = by_id(whole)
    for row in rough.rows:
        assert row.points == pytest.approx(errors[row.id].points, abs=0.05)
        assert 0.95 < row.se / errors[row.id].se < 1.05
