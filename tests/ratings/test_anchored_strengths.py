"""Strengths with anchors: players of given strength, which fix the scale, have no rows and never move."""

from hashlib import sha256
from math import isfinite, sqrt
from random import Random

import pytest

from referee.ratings.strengths import NORMAL_95, POINTS, Result, fit

ANCHORS = {"house@1": 1_400.0, "house@2": 1_700.0}


def duels(won: int, lost: int, anchor: str = "house@1") -> list[Result]:
    bots = ("a", anchor)
    results: list[Result] = [(bots, (1, 2), None)] * won
    return results + [(bots, (2, 1), None)] * lost


def drawn(count: int = 60) -> list[Result]:
    dice = Random(7)
    results: list[Result] = []
    for _ in range(count):
        bots = dice.sample("abcdef", 4)
        results.append((bots, [dice.randrange(1, 4) for _ in bots], [dice.random() < 0.9 for _ in bots]))
    return results


@pytest.mark.parametrize(("exact", "digest"), [(400, "9bfe79b63fd3a703"), (0, "928415b52a3f1198")])
def test_without_anchors_no_digit_of_a_fit_has_changed(exact: int, digest: str) -> None:
    # The digests are of the rows that the code printed before it knew anchors.
    for anchors in (None, {}, ANCHORS):  # anchors that sit nowhere do not matter either
        found = fit(drawn(), exact=exact, anchors=anchors)

        assert sha256(repr(found).encode()).hexdigest()[:16] == digest


def test_a_bot_alone_with_an_anchor_is_as_far_from_it_as_the_odds() -> None:
    found = fit(duels(300, 30), prior=1e-6, anchors=ANCHORS)

    (row,) = found.rows
    assert row.points == pytest.approx(1_400 + 400, abs=0.1)  # ten to one
    assert row.se == pytest.approx(POINTS / sqrt(330 * (10 / 11) * (1 / 11)), rel=1e-4)  # 1 / sqrt(n p q)
    assert row.high - row.points == pytest.approx(NORMAL_95 * row.se)


@pytest.mark.parametrize("exact", [400, 0])
@pytest.mark.parametrize(("won", "lost"), [(1, 0), (0, 1), (3, 0)])
def test_a_bot_that_always_wins_or_loses_has_a_finite_error(won: int, lost: int, exact: int) -> None:
    (row,) = fit(duels(won, lost), anchors=ANCHORS, exact=exact).rows

    assert isfinite(row.points)
    assert 0 < row.se < 400


def test_the_error_shrinks_with_matches() -> None:
    errors = [fit(duels(count, count), anchors=ANCHORS).rows[0].se for count in (1, 2, 5, 20, 100)]

    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < errors[0] / 5


def test_anchors_have_no_rows_and_do_not_move_whatever_happens_to_them() -> None:
    tables: list[Result] = [(("a", "house@1", "house@2"), (3, 2, 1), None)] * 5
    only_anchors: list[Result] = [(("house@1", "house@2"), (1, 2), None)] * 50  # says nothing about a bot

    found, again = fit(tables, anchors=ANCHORS), fit(tables + only_anchors, anchors=ANCHORS)

    assert [row.id for row in found.rows] == ["a"]
    assert again.rows == found.rows


def test_two_anchors_agree_on_one_scale() -> None:
    # A bot of 1550 is expected to win 0.7034 from 1400 and 0.2966 from 1700.
    results = duels(7_034, 2_966) + duels(2_966, 7_034, "house@2")

    (row,) = fit(results, prior=1e-6, anchors=ANCHORS).rows

    assert row.points == pytest.approx(1_550, abs=0.1)


def test_a_bot_that_met_no_anchor_is_on_their_scale_through_the_others() -> None:
    met: Result = (("b", "a"), (1, 2), None)
    lost: Result = (("b", "a"), (2, 1), None)

    found = {row.id: row for row in fit(duels(50, 50) + [met, lost] * 50, prior=1e-6, anchors=ANCHORS).rows}

    assert found["b"].points == pytest.approx(1_400, abs=0.1)
    assert found["b"].se == pytest.approx(sqrt(2) * found["a"].se, rel=1e-3)  # two steps from the anchor
