"""Whole events by the service's own processes, which are killed in the middle of them."""

import signal
from typing import Any

from sqlalchemy import select, update

from referee.accounts import accounts
from referee.bots.tables import Bot
from referee.db.leases import LEASE_S
from referee.matches.states import MatchState
from referee.matches.tables import DealGroup, MatchSeat, StoredMatch
from referee.standings import compute_tournament_standings
from referee.tournaments import outcomes, progress, starting, tournaments
from referee.tournaments.entries import enter_bot, list_entries
from referee.tournaments.tables import Tournament, TournamentRound
from tests.end_to_end.bots import Bots
from tests.end_to_end.processes import gone, send
from tests.end_to_end.service import PATIENT, Service

BOTS = ("sound", "random", "first", "sound", "random")


def test_a_swiss_and_a_knockout_go_to_their_ends_whoever_is_killed(service: Service) -> None:
    with Bots() as bots:
        service.redis()
        for name in BOTS:
            service.enlist(bots.serve(name))
        away = service.enlist(absent := bots.serve("first"))
        bots.run(absent.close())
        swiss = _announced(service, "swiss", format_options={"rounds": 3})
        knockout = _announced(service, "knockout", substitute="house:1")

        service.scheduler()
        service.worker()
        service.until(lambda: _finished(service, swiss) >= 2, "the first results")
        killed = service.everything()
        for pid in killed:
            send(pid, signal.SIGKILL)
        service.until(lambda: all(gone(pid) for pid in killed), "the end of scheduler and worker")
        halted = service.statuses()
        service.scheduler()
        service.worker()
        _let_leases_run_out(service)
        service.until(lambda: _statuses(service) == {"finished"}, "the end of both events")
        service.until(lambda: not service.differences(), "a record that holds")

    assert halted.get("finished", 0) < 12
    with service.database.read() as session:
        rounds = session.scalars(
            select(TournamentRound).where(TournamentRound.tournament_id == swiss).order_by(TournamentRound.number)
        ).all()
        table = compute_tournament_standings(
            "swiss",
            2,
            [bot.id for _, bot in list_entries(session, swiss).items],
            outcomes.load_outcomes(session, swiss),
            outcomes.load_byes(session, swiss),
        )
        counted = select(MatchSeat.rated).join(StoredMatch, StoredMatch.id == MatchSeat.match_id)
        stood_in = session.scalars(
            counted.where(StoredMatch.tournament_id == knockout, MatchSeat.entrant_id == away)
        ).all()
        done = [progress.load_progress(session, one) for one in (swiss, knockout)]
    assert [(len(row.tables), len(row.byes)) for row in rounds] == [(2, 1)] * 3  # five bots: one rests
    assert [row.matches + row.byes for row in table if row.entrant != away] == [3] * 5
    assert stood_in
    assert not any(stood_in)
    assert [(one.done, one.total, one.by_status) for one in done] == [(6, 6, {"finished": 6}), (5, 5, {"finished": 5})]


def _announced(service: Service, format: str, **terms: Any) -> str:
    with service.database.write() as session:
        organiser = accounts.create_account(session, f"Organiser of a {format}", "organiser")
        tournament = tournaments.create_tournament(
            session,
            f"A {format}",
            game="saint-poker",
            options={"rounds": 2},
            seats=2,
            limits=PATIENT,
            created_by=organiser.id,
            format=format,
            **terms,
        )
        for bot_id in service.bot_ids:
            enter_bot(session, tournament.id, bot_id)
        return starting.start(session, tournament.id).id


def _finished(service: Service, tournament_id: str) -> int:
    with service.database.read() as session:
        return progress.load_progress(session, tournament_id).by_status.get(MatchState.FINISHED, 0)


def _statuses(service: Service) -> set[str]:
    with service.database.read() as session:
        return set(session.scalars(select(Tournament.status)))


def _let_leases_run_out(service: Service) -> None:
    with service.database.write() as session:
        for held in (StoredMatch, DealGroup, Bot):
            aged = update(held).where(held.lease_until.is_not(None))
            session.execute(aged.values(lease_until=held.lease_until - LEASE_S))
