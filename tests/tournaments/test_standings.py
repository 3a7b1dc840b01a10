"""Standings from the database: byes, and the ranks of a knockout."""

from fractions import Fraction

from referee.standings import TIE_BREAKS, RankedEntrant
from referee.tournaments import entries, tournaments
from referee.tournaments.standings import TournamentResults, load_tournament_results
from tests.database.checks import on_one_database
from tests.database.tournaments import begun, go_on, play_all
from tests.database.world import World

pytestmark = on_one_database


def results(
    world: World, tournament_id: str, before: TournamentResults | None = None, *, patient: bool = False
) -> TournamentResults:
    with world.database.read() as session:
        return load_tournament_results(
            session, tournaments.get_tournament(session, tournament_id), before, patient=patient
        )


def table(world: World, tournament_id: str) -> list[RankedEntrant]:
    return results(world, tournament_id).standings()


def test_a_bye_of_a_swiss_is_in_its_table_once_its_round_is_over(world: World) -> None:
    tournament_id, _ = begun(world, 3, format="swiss", deal_sharing="own")
    assert sum(row.byes for row in table(world, tournament_id)) == 0

    play_all(world, tournament_id)

    rows = table(world, tournament_id)
    rested = sum(row.byes for row in rows)
    assert rested > 0
    assert sum(row.points for row in rows) == Fraction(sum(row.matches for row in rows), 2) + rested
    assert {tuple(row.tie_breaks) for row in rows} == {TIE_BREAKS["swiss"]}


def test_a_knockout_is_ranked_by_its_bracket(world: World) -> None:
    tournament_id, _ = begun(world, 4, format="knockout", deal_sharing="own")

    play_all(world, tournament_id)

    rows = table(world, tournament_id)
    assert [row.rank for row in rows[:2]] == [1, 2]
    assert [row.tie_breaks["bracket"] for row in rows] == [row.rank for row in rows]


def test_only_what_came_since_is_read(world: World) -> None:
    tournament_id, entered = begun(world, 4, format="swiss", deal_sharing="own")
    elsewhere = world.bots(2)

    first = results(world, tournament_id)
    (claim, other) = world.claim(2)
    world.finish(claim)
    patient = results(world, tournament_id, first, patient=True)
    second = results(world, tournament_id, first)
    world.play(elsewhere)
    third = results(world, tournament_id, second)
    world.finish(other)
    fourth = results(world, tournament_id, third)
    go_on(world.database, tournament_id)
    anew = results(world, tournament_id)

    assert patient is first
    assert third is second
    assert [len(one.outcomes) for one in (first, second, fourth, anew)] == [0, 1, 2, 2]
    assert fourth.outcomes == anew.outcomes
    assert fourth.outcomes[0] is second.outcomes[0]
    assert (first.as_of_seq, fourth.as_of_seq) == (0, 3)  # one in between belongs to another tournament
    assert sorted(anew.entrants) == sorted(entered)


def test_a_withdrawal_and_a_void_make_another_table_at_once(world: World) -> None:
    tournament_id, (gone, *_) = begun(world, 3, deal_sharing="own")
    (claim,) = world.claim(1)
    world.finish(claim)
    first = results(world, tournament_id)

    world.void(claim.match_id)
    second = results(world, tournament_id, first, patient=True)
    world.write(entries.withdraw_bot, tournament_id, gone)
    third = results(world, tournament_id, second, patient=True)

    assert (len(second.outcomes), second.as_of_seq) == (0, 0)
    assert third is not second
    assert gone in third.entrants
