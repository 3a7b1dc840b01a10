"""The table of an event as the record has it: byes, the places of a knockout, the values of a ladder."""

from fractions import Fraction

from referee.standings import TIE_BREAKS, Row
from referee.store import tournaments
from referee.store.standings import event_standings
from tests.store.events import begun, go_on
from tests.store.world import World


def table(world: World, tournament_id: str, entered: list[str]) -> list[Row]:
    with world.database.read() as session:
        return event_standings(session, tournaments.get_tournament(session, tournament_id), entered)


def play_on(world: World, tournament_id: str) -> None:
    while claimed := world.claim(10):
        for claim in claimed:
            world.finish(claim)
        go_on(world.database, tournament_id)


def test_a_bye_of_a_swiss_is_in_its_table(world: World) -> None:
    tournament_id, entered = begun(world, 3, format="swiss", deals="own")

    play_on(world, tournament_id)

    rows = table(world, tournament_id, entered)
    rested = sum(row.byes for row in rows)
    assert rested > 0
    assert sum(row.points for row in rows) == Fraction(sum(row.matches for row in rows), 2) + rested
    assert {tuple(row.tie_breaks) for row in rows} == {TIE_BREAKS["swiss"]}


def test_a_knockout_is_ranked_by_its_bracket(world: World) -> None:
    tournament_id, entered = begun(world, 4, format="knockout", deals="own")

    play_on(world, tournament_id)

    rows = table(world, tournament_id, entered)
    assert [row.place for row in rows[:2]] == [1, 2]
    assert [row.tie_breaks["bracket"] for row in rows] == [row.place for row in rows]


def test_a_ladder_is_ranked_by_points_per_match_until_it_has_rated(world: World) -> None:
    tournament_id, entered = begun(world, 3, format="ladder", rated=False)

    rows = table(world, tournament_id, entered)

    assert [(row.place, row.tie_breaks["rating"]) for row in rows] == [(1, None)] * 3
