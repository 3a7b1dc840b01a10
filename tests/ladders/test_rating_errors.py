"""Errors of ratings: with anchors, by version, after voids, on large ladders, and at a limited cost."""

from collections.abc import Sequence
from datetime import timedelta
from math import isfinite

import pytest
from sqlalchemy import select, update

from referee.bots import house_bots
from referee.ladders import rating_errors, ratings
from referee.ladders.ladder_rows import load_ranks
from referee.ladders.rating_errors import RefreshedErrors, refresh_errors, split_versions
from referee.ladders.strengths import ResultColumns, load_results
from referee.ladders.tables import Ladder, Rating, RatingError
from referee.matches.tables import Result
from referee.ratings.elo import MICRO
from referee.ratings.strengths import EXACT, RankedResult, anchor_level, fit, half_width
from tests.database.world import World


def errors_of(world: World, ladder_id: str) -> dict[str, float]:
    with world.database.read() as session:
        query = select(RatingError.bot_id, RatingError.error).where(RatingError.ladder_id == ladder_id)
        return dict(session.execute(query).all())


def anchor(world: World) -> str:
    return world.write(house_bots.get_or_create_house_bot, "sound").id


def three_against_an_anchor(world: World) -> tuple[str, str]:
    """Return a bot and its ladder after three matches against an anchor."""
    bot, house = world.bot(), anchor(world)
    (ladder,) = {str(world.play([bot, house], choice=choice).ladder_id) for choice in (0, 1, 0)}
    return bot, ladder


def set_versions(world: World, bot_id: str, versions: Sequence[str | None]) -> None:
    """Set the version with which the bot played each of its matches, latest first."""
    with world.database.write() as session:
        results = session.scalars(select(Result).order_by(Result.seq.desc())).all()
        for result, version in zip([one for one in results if bot_id in one.bots], versions, strict=True):
            new = [version if bot == bot_id else known for bot, known in zip(result.bots, result.versions, strict=True)]
            session.execute(update(Result).where(Result.match_id == result.match_id).values(versions=new))


def test_a_bot_alone_against_an_anchor_has_an_error_that_shrinks(world: World) -> None:
    bot, house, found = world.bot(), anchor(world), []
    for _ in range(4):
        result = world.play([bot, house])
        refresh_errors(world.database, str(result.ladder_id))
        found.append(errors_of(world, str(result.ladder_id)))

    assert [list(errors) for errors in found] == [[bot]] * 4  # an anchor has no row
    assert all(isfinite(errors[bot]) for errors in found)
    assert [errors[bot] for errors in found] == sorted((errors[bot] for errors in found), reverse=True)
    assert found[-1][bot] < found[0][bot]


def test_nothing_is_outdated_after_a_refresh_until_the_next_entry(world: World) -> None:
    bots = world.bots(2)
    first = world.play(bots)

    def outdated() -> list[str]:
        return world.read(rating_errors.list_outdated)

    assert outdated() == [first.ladder_id]
    assert refresh_errors(world.database, str(first.ladder_id)) == RefreshedErrors(joint=2, single=0, is_complete=True)
    assert outdated() == []
    world.play(bots)
    assert outdated() == [first.ladder_id]


def test_a_new_version_is_uncertain_again(world: World) -> None:
    bots = world.bots(2)
    for _ in range(12):
        ladder = str(world.play(bots).ladder_id)
        world.clock.moment += timedelta(days=1)  # so that no cap keeps the ratings from what the results tell
    refresh_errors(world.database, ladder)
    before = errors_of(world, ladder)

    set_versions(world, bots[0], ["2", *["1"] * 11])
    refresh_errors(world.database, ladder)

    assert errors_of(world, ladder)[bots[0]] > 1.5 * before[bots[0]]
    assert errors_of(world, ladder).keys() == set(bots)  # the earlier version has no row


@pytest.mark.parametrize(
    ("versions", "players"),
    [
        (["1", "1"], ["a", "a"]),
        (["2", "1"], ["a", "a 1"]),
        (["2", "1", "2"], ["a", "a 1", "a"]),
        (["2", None, "1"], ["a", "a", "a 1"]),
        ([None, "2", "1", None], ["a", "a", "a 1", "a 1"]),
        ([None, None], ["a", "a"]),
    ],
)
def test_earlier_versions_are_other_players(versions: list[str | None], players: list[str]) -> None:
    results = [RankedResult(("a", "b"), (1, 2)) for _ in versions]

    split = split_versions(results, [(version, "7") for version in versions])

    assert [tuple(result.bots) for result in split] == [(player, "b") for player in players]


def test_one_house_player_may_fill_several_seats() -> None:
    anchors = [None, 1_400 * MICRO, 1_400 * MICRO]
    stored = ResultColumns(["a", "h", "h"], [1, 2, 3], [True, False, False], anchors, [None] * 3)

    (row,) = fit([stored.for_fit()]).rows

    assert row.id == "a"
    assert row.points > 1_400


@pytest.mark.parametrize(("distance", "standard_errors"), [(0, 1.960), (2_000, 1.645), (-2_000, 1.645)])
@pytest.mark.parametrize("most", [EXACT, 0])  # jointly, and from its own results
def test_the_error_grows_with_the_distance_between_rating_and_fit(
    world: World, monkeypatch: pytest.MonkeyPatch, most: int, distance: int, standard_errors: float
) -> None:
    monkeypatch.setattr(rating_errors, "EXACT", most)
    monkeypatch.setattr(rating_errors, "anchor_errors", lambda game, seats: {})
    bot, ladder = three_against_an_anchor(world)
    with world.database.write() as session:
        (row,) = fit(load_results(session, ladder, 10).results).rows
        session.execute(update(Rating).values(value=int((row.points + distance) * MICRO)))

    refresh_errors(world.database, ladder)

    # The strength is normally distributed: 1.960 standard errors on both sides, or 1.645 on the near side alone.
    with world.database.read() as session:
        stored = load_ranks(session, bot, ladder)[0].row
    width = abs(distance) + standard_errors * row.se
    points = row.points + distance
    assert stored.error == pytest.approx(width, abs=0.3)
    assert stored.interval == pytest.approx((points - width, points + width), abs=0.3)


def test_without_anchors_ratings_are_compared_around_their_mean(world: World) -> None:
    bots = world.bots(3)
    ladder = {str(world.play(bots, choice=choice).ladder_id) for choice in (0, 1, 0)}.pop()
    with world.database.write() as session:
        rows = fit(load_results(session, ladder, 10).results).rows
        for row in rows:
            points = row.points + (900 if row.id == bots[0] else 0)
            session.execute(update(Rating).where(Rating.bot_id == row.id).values(value=int(points * MICRO)))

    refresh_errors(world.database, ladder)

    # The mean moves by 300, so one rating is 600 further from its strength and each of the others 300.
    expected = {row.id: half_width(600 if row.id == bots[0] else -300, row.se) for row in rows}
    assert errors_of(world, ladder) == pytest.approx(expected, abs=0.1)


def test_the_error_of_an_anchor_widens_those_of_its_opponents(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    bot, ladder = three_against_an_anchor(world)
    (level,) = {level for row in world.scalars(select(Result.anchors)) for level in row if level is not None}
    world.execute(update(Result).values(placements=[1, 1]))  # so that the fit has the strength of the anchor
    world.execute(update(Rating).values(value=level))
    found = []
    for error in (0.0, 20.0, 100.0):
        known = {level / MICRO: error}
        monkeypatch.setattr(rating_errors, "anchor_errors", lambda game, seats, known=known: known)
        for most in (EXACT, 0):
            monkeypatch.setattr(rating_errors, "EXACT", most)
            world.execute(update(RatingError).values(as_of_seq=0))
            refresh_errors(world.database, ladder)
            found.append(errors_of(world, ladder)[bot])

    assert found[::2] == sorted(found[::2])
    assert found[4] > found[2] + 10 > found[0] + 10
    assert found[1::2] == pytest.approx(found[::2], abs=0.1)


def test_a_bot_with_nearly_the_rating_of_an_anchor_is_none(world: World) -> None:
    level = anchor_level(1_400.4)
    known: dict[str, tuple[float, float]] = {}

    found = rating_errors._with_uncertain_anchors(
        RankedResult(["a", "b"], [1, 2], None, [None, level]), {1_400.0: 30.0}, known
    )

    assert (found.anchors, known) == ([None, level], {})


def test_a_void_takes_its_information_back(world: World) -> None:
    bot, house = world.bot(), anchor(world)
    first = world.play([bot, house])
    ladder = str(first.ladder_id)
    refresh_errors(world.database, ladder)
    before = errors_of(world, ladder)
    second = world.play([bot, house])
    refresh_errors(world.database, ladder)
    between = errors_of(world, ladder)

    world.void(second.match_id)
    refresh_errors(world.database, ladder)

    assert between[bot] < before[bot]
    assert errors_of(world, ladder) == before


# -- large ladders --


def test_a_large_ladder_gets_its_errors_in_steps(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rating_errors, "EXACT", 2)
    monkeypatch.setattr(rating_errors, "MAX_BOTS", 3)
    bots, house = world.bots(7), anchor(world)
    for bot in bots:
        ladder = str(world.play([bot, house]).ladder_id)

    steps = [refresh_errors(world.database, ladder) for _ in range(3)]
    found = errors_of(world, ladder)
    world.play([bots[4], house])
    after = refresh_errors(world.database, ladder)

    assert steps == [RefreshedErrors(0, 3, False), RefreshedErrors(0, 3, False), RefreshedErrors(0, 1, True)]
    assert found.keys() == set(bots)
    assert after == RefreshedErrors(0, 1, True)  # only the bot whose rating changed
    assert errors_of(world, ladder)[bots[4]] < found[bots[4]]
    assert {bot: errors_of(world, ladder)[bot] for bot in bots if bot != bots[4]} == {
        bot: error for bot, error in found.items() if bot != bots[4]
    }


def test_against_anchors_alone_both_ways_agree(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    bot, ladder = three_against_an_anchor(world)
    set_versions(world, bot, ["2", "2", "1"])
    refresh_errors(world.database, ladder)
    joint = errors_of(world, ladder)
    world.execute(update(RatingError).values(as_of_seq=0))

    monkeypatch.setattr(rating_errors, "EXACT", 0)

    assert refresh_errors(world.database, ladder).single == 1
    assert errors_of(world, ladder) == pytest.approx(joint, rel=1e-3)


def test_a_bot_without_a_recent_result_gets_its_error_from_its_own(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new, house = world.bot(), world.bot(), anchor(world)
    world.play([old, house])
    ladder = str(world.play([new, house]).ladder_id)
    monkeypatch.setattr(rating_errors, "MAX_RESULTS", 1)

    assert refresh_errors(world.database, ladder) == RefreshedErrors(joint=1, single=1, is_complete=True)
    assert errors_of(world, ladder).keys() == {old, new}
    assert refresh_errors(world.database, ladder) == RefreshedErrors(joint=1, single=0, is_complete=True)


def test_a_step_costs_the_same_number_of_statements_however_many_bots_there_are(
    world: World, monkeypatch: pytest.MonkeyPatch, statements: list[str]
) -> None:
    monkeypatch.setattr(rating_errors, "EXACT", 0)
    monkeypatch.setattr(rating_errors, "MAX_BOTS", 2)
    house = anchor(world)

    def asked(bots: int) -> int:
        for bot in world.bots(bots):
            ladder = str(world.play([bot, house]).ladder_id)
        statements.clear()
        refresh_errors(world.database, ladder)
        return len(statements)

    assert asked(3) == asked(8) <= 20


def test_a_frozen_ladder_and_one_without_results_do_no_harm(world: World) -> None:
    result = world.play(world.bots(2))
    ladder = str(result.ladder_id)
    with world.database.write() as session:
        session.execute(update(Ladder).values(frozen_reason="the audit found a difference"))
        empty = ratings.get_or_create_ladder(session, "pool-nap", {}, 3).id

    assert refresh_errors(world.database, empty) == RefreshedErrors(0, 0, True)
    assert refresh_errors(world.database, ladder).is_complete
    assert errors_of(world, empty) == {}
