"""Find out why an entrant of a tournament currently has no open match in it."""

from collections.abc import Sequence

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session

from referee.bots.tables import Bot
from referee.matches.states import MatchState
from referee.matches.tables import MatchSeat, StoredMatch
from referee.pairing.kinds import TournamentFormat
from referee.tournaments import eligibility
from referee.tournaments.rounds import newest_round
from referee.tournaments.states import BEFORE_START, Preflight, TournamentState
from referee.tournaments.tables import Tournament, TournamentEntry, TournamentRound
from referee.workflows.explaining.waiting_reasons import Reason


def entry_reason(session: Session, tournament: Tournament, entry: TournamentEntry, bot: Bot) -> Reason:
    """Return why a bot that could otherwise play has no open match in an unfinished tournament."""
    if tournament.status in BEFORE_START:
        return Reason("start_missed" if tournament.status_reason else "event_not_started")
    if tournament.status == TournamentState.PAUSED:
        return Reason("tournament_paused")
    if entry.preflight == Preflight.ABSENT:
        return Reason("absent")
    if tournament.preflight_until is not None:
        return Reason("preflight")
    if tournament.game not in bot.games:
        return Reason("other_game")
    if session.scalar(select(Bot.id).where(Bot.id == bot.id, eligibility.may_continue(tournament))) is None:
        return Reason("no_certificate")
    if tournament.frozen_version and entry.version is not None and bot.version != entry.version:
        return Reason("other_version")
    return _of_rounds(session, tournament, entry)


def _of_rounds(session: Session, tournament: Tournament, entry: TournamentEntry) -> Reason:
    if entry.first_round > max(newest_round(session, tournament.id), 1):
        return Reason("joins_later", tournament_round=entry.first_round)
    going_on = select(TournamentRound).where(TournamentRound.tournament_id == tournament.id)
    going_on = going_on.where(TournamentRound.ended_at.is_(None))
    rounds = session.scalars(going_on.order_by(TournamentRound.number)).all()
    without = _tables_without_match(session, rounds, entry)
    to_come = next((row for row, at in without if not _is_arranged(row, at)), None)
    if to_come is not None:
        return Reason("table_to_come", tournament_round=to_come.number)
    resting = [row for row in rounds if any(bye["entrant"] == entry.bot_id for bye in row.byes)]
    is_knockout = tournament.format == TournamentFormat.KNOCKOUT
    if is_knockout and rounds and not resting and not _sits_in(rounds[-1], entry.bot_id):
        return Reason("knocked_out")
    is_stuck = StoredMatch.tournament_id == tournament.id, StoredMatch.status == MatchState.STUCK
    if session.scalar(select(exists().where(*is_stuck))):
        return Reason("held_up")
    if resting:
        return Reason("bye", tournament_round=resting[-1].number)
    if without:
        return Reason("table_empty", tournament_round=without[-1][0].number)
    return Reason("round_not_over" if rounds else "not_paired")


def _tables_without_match(
    session: Session, rounds: Sequence[TournamentRound], entry: TournamentEntry
) -> list[tuple[TournamentRound, int]]:
    """Return the round and the index (from 0) of each table of this entrant for which no match was ever created."""
    seated = func.coalesce(MatchSeat.entrant_id, MatchSeat.bot_id) == entry.bot_id
    query = select(StoredMatch.tournament_round, StoredMatch.table_no)
    query = query.join(MatchSeat, MatchSeat.match_id == StoredMatch.id)
    numbers = [row.number for row in rounds]
    of_rounds = StoredMatch.tournament_id == entry.tournament_id, StoredMatch.tournament_round.in_(numbers)
    played = {(number, table) for number, table in session.execute(query.where(*of_rounds, seated))}
    return [
        (row, index)
        for row in rounds
        for index, table in enumerate(row.tables)
        if entry.bot_id in table["entrants"] and (row.number, index + 1) not in played
    ]


def _is_arranged(row: TournamentRound, index: int) -> bool:
    """Return whether matches for this table have been arranged. Tables are arranged by section, then by number."""
    section = row.tables[index]["section"]
    before = sum((table["section"], place) < (section, index) for place, table in enumerate(row.tables))
    return before < row.arranged


def _sits_in(row: TournamentRound, bot_id: str) -> bool:
    return any(bot_id in table["entrants"] for table in row.tables)
