"""Disqualified bots come last, byes of absent bots count nothing, and substitutions are explained."""

import pytest
from sqlalchemy import select

from referee.bots.tables import Bot
from referee.errors import Conflict, NotFound
from referee.matches.states import OPEN
from referee.matches.tables import MatchSeat, StoredMatch
from referee.tournaments import disqualification, entries, standings, tournaments
from referee.tournaments.tables import TournamentEntry
from tests.database.checks import on_one_database
from tests.database.tournaments import answer_handshakes, begun, enter, entered, go_on, play_all, progress_of, start
from tests.database.world import World

REASON = "It was entered under two names."
pytestmark = on_one_database


def ranks(world: World, tournament_id: str) -> list[tuple[int, str]]:
    with world.database.read() as session:
        tournament = tournaments.get_tournament(session, tournament_id)
        rows = standings.load_tournament_results(session, tournament).standings()
        return [(row.rank, str(row.entrant)) for row in rows]


def test_a_bot_disqualified_after_the_end_comes_last_and_the_others_move_up(world: World) -> None:
    tournament_id, _ = begun(world, 4)
    play_all(world, tournament_id)
    before = ranks(world, tournament_id)

    world.write(disqualification.disqualify_bot, tournament_id, before[0][1], REASON)

    after = ranks(world, tournament_id)
    assert [entrant for _, entrant in after] == [entrant for _, entrant in (*before[1:], before[0])]
    assert after[0][0] == 1
    assert after[-1] == (4, before[0][1])
    with pytest.raises(Conflict, match="disqualified already"):
        world.write(disqualification.disqualify_bot, tournament_id, before[0][1], REASON)
    with pytest.raises(NotFound):
        world.write(disqualification.disqualify_bot, tournament_id, "bot_" + "0" * 26, REASON)


def test_a_bot_disqualified_in_progress_plays_no_more_and_cannot_return(world: World) -> None:
    tournament_id, seated = begun(world, 4, format="swiss", late_entry=True)
    claim, *_ = world.claim(1)
    world.finish(claim)

    world.write(disqualification.disqualify_bot, tournament_id, seated[0], REASON)

    with pytest.raises(Conflict, match="disqualified: It was entered under two names"):
        enter(world, tournament_id, seated[0])
    with world.database.read() as session:
        open_matches = select(StoredMatch.id).join(MatchSeat, MatchSeat.match_id == StoredMatch.id)
        open_matches = open_matches.where(MatchSeat.bot_id == seated[0], StoredMatch.status.in_(OPEN))
        assert session.scalars(open_matches).all() == []
        found = entries.find_entered_bots(session, tournament_id, [seated[0]])
        assert found[seated[0]].disqualification == REASON
    play_all(world, tournament_id)
    assert ranks(world, tournament_id)[-1][1] == seated[0]


def test_a_bye_does_not_lift_an_absent_bot_above_one_that_played(world: World) -> None:
    tournament_id, seated = entered(world, 4, seats=3, min_seats=3, format="swiss", format_options={"rounds": 3})
    start(world, tournament_id)
    answer_handshakes(world.database, absent=seated[3:])
    go_on(world.database, tournament_id)
    play_all(world, tournament_id)
    with world.database.read() as session:
        tournament = tournaments.get_tournament(session, tournament_id)
        later = standings.load_tournament_results(session, tournament)
    later.byes = [*later.byes, (1, seated[3], "odd")]

    rows = {str(row.entrant): row for row in later.standings()}

    assert rows[seated[3]].byes == 0
    assert rows[seated[3]].points == 0
    assert rows[seated[3]].rank == len(rows)


def test_why_and_since_when_a_substitute_plays_is_kept_and_public(world: World) -> None:
    tournament_id, seated = entered(world, 3, substitute="house:3")
    start(world, tournament_id)
    began = world.clock.moment
    answer_handshakes(world.database, absent=seated[:1])
    go_on(world.database, tournament_id)

    with world.database.read() as session:
        entry = session.get_one(TournamentEntry, (tournament_id, seated[0]))
        other = session.get_one(TournamentEntry, (tournament_id, seated[1]))
        assert (entry.substitution_code, other.substitution_code) == ("unreachable", None)
        assert entry.substituted_at is not None
        assert entry.substituted_at >= began
        assert entry.substitute_id is not None
        assert session.get_one(Bot, seated[0]).status == "verified"


def test_progress_names_the_round_that_is_played_while_an_earlier_match_is_repeated(world: World) -> None:
    tournament_id, _ = begun(world, 4, format="swiss", format_options={"rounds": 3})
    for _ in range(2):
        for claim in world.claim(2):
            world.finish(claim)
        go_on(world.database, tournament_id)
    assert progress_of(world, tournament_id).tournament_round == 3
    with world.database.read() as session:
        first = session.scalars(
            select(StoredMatch.id).where(StoredMatch.tournament_id == tournament_id, StoredMatch.tournament_round == 1)
        ).first()
    assert first is not None

    world.void(first, "wrong", rematch=True)

    assert progress_of(world, tournament_id).tournament_round == 3
