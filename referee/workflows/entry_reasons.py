"""Find out why an entrant of a tournament currently has no match there."""

from collections.abc import Sequence

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session

from referee.bots.tables import Bot
from referee.matches.tables import Match, MatchSeat
from referee.tournaments import eligibility, matchmaking
from referee.tournaments.entrants import load_entrant_seats
from referee.tournaments.rounds import newest_round
from referee.tournaments.tables import Tournament, TournamentEntry, TournamentRound
from referee.workflows.waiting_reasons import Reason


def entry_reason(session: Session, tournament: Tournament, entry: TournamentEntry, bot: Bot) -> Reason:
    """Return why a bot that could otherwise play has no open match in an unfinished tournament."""
    if tournament.status in ("draft", "open"):
        return Reason("start_missed" if tournament.status_reason else "event_not_started")
    if tournament.status == "paused":
        return Reason("tournament_paused")
    if entry.preflight == "absent":
        return Reason("absent")
    if tournament.preflight_until is not None:
        return Reason("preflight")
    if tournament.game not in bot.games:
        return Reason("other_game")
    if session.scalar(select(Bot.id).where(Bot.id == bot.id, eligibility.may_continue(tournament))) is None:
        return Reason("no_certificate")
    if tournament.frozen_version and entry.version is not None and bot.version != entry.version:
        return Reason("other_version")
    return (
        _ladder_reason(session, tournament) if tournament.format == "ladder" else _of_stages(session, tournament, entry)
    )


def _ladder_reason(session: Session, tournament: Tournament) -> Reason:
    if matchmaking.is_ending(tournament):
        return Reason("ladder_ending")
    owners = {
        seat.owner_id for seat in load_entrant_seats(session, tournament) if seat.current_player(tournament) is not None
    }
    return Reason("ladder_next" if len(owners) >= tournament.seats else "no_rivals")


def _of_stages(session: Session, tournament: Tournament, entry: TournamentEntry) -> Reason:
    if entry.first_round > max(newest_round(session, tournament.id), 1):
        return Reason("joins_later", stage=entry.first_round)
    going_on = select(TournamentRound).where(
        TournamentRound.tournament_id == tournament.id, TournamentRound.ended_at.is_(None)
    )
    stages = session.scalars(going_on.order_by(TournamentRound.number)).all()
    without = _tables_without_match(session, stages, entry)
    to_come = next((stage for stage, at in without if not _is_arranged(stage, at)), None)
    if to_come is not None:
        return Reason("table_to_come", stage=to_come.number)
    resting = [stage for stage in stages if any(bye["entrant"] == entry.bot_id for bye in stage.byes)]
    if tournament.format == "knockout" and stages and not resting and not _sits_in(stages[-1], entry.bot_id):
        return Reason("knocked_out")
    if session.scalar(select(exists().where(Match.tournament_id == tournament.id, Match.status == "stuck"))):
        return Reason("held_up")
    if resting:
        return Reason("bye", stage=resting[-1].number)
    if without:
        return Reason("table_empty", stage=without[-1][0].number)
    return Reason("stage_not_over" if stages else "not_paired")


def _tables_without_match(
    session: Session, stages: Sequence[TournamentRound], entry: TournamentEntry
) -> list[tuple[TournamentRound, int]]:
    """Return the round and the index of each table of this entrant for which no match was ever created."""
    seated = func.coalesce(MatchSeat.entrant_id, MatchSeat.bot_id) == entry.bot_id
    of_stages = (
        Match.tournament_id == entry.tournament_id,
        Match.tournament_round.in_([stage.number for stage in stages]),
    )
    query = select(Match.tournament_round, Match.table_no).join(MatchSeat, MatchSeat.match_id == Match.id)
    played = {(number, table) for number, table in session.execute(query.where(*of_stages, seated))}
    return [
        (stage, index)
        for stage in stages
        for index, table in enumerate(stage.tables)
        if entry.bot_id in table["entrants"] and (stage.number, index + 1) not in played
    ]


def _is_arranged(stage: TournamentRound, index: int) -> bool:
    """Return whether this table has had its turn. Tables take turns by section, then by number."""
    section = stage.tables[index]["section"]
    before = sum((table["section"], place) < (section, index) for place, table in enumerate(stage.tables))
    return before < stage.arranged


def _sits_in(stage: TournamentRound, bot_id: str) -> bool:
    return any(bot_id in table["entrants"] for table in stage.tables)
