"""Run the preflight: request a handshake with every bot before the tournament starts.

Bots that fail it are absent. While the tournament runs, the same code marks changed versions, seats substitutes and
removes them.
"""

from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, exists, false, func, or_, select, true, update
from sqlalchemy.orm import Session

from referee.bots import certificates, checks, house_bots
from referee.bots.states import BotState, CheckState
from referee.bots.tables import Bot, Check
from referee.db.engine import count_changed_rows, current_time
from referee.db.reporting import notify
from referee.events import BotUnhealthy
from referee.matches import cancelling
from referee.matches.queue.queued_seats import refresh_queue
from referee.matches.tables import MatchSeat, StoredMatch, is_unstarted
from referee.tournaments.states import NOT_READY, Preflight
from referee.tournaments.tables import Tournament, TournamentEntry

TIME_LIMIT: Final = timedelta(seconds=60)  # a handshake takes a few seconds, or longer if the service is overloaded
TIME_LIMIT_PER_BOT: Final = timedelta(seconds=0.1)
RETRY_AFTER: Final = timedelta(seconds=60)
ENTRIES_PER_STEP: Final = 200  # entries updated in one transaction


def request_handshakes(session: Session, tournament: Tournament, moment: datetime) -> None:
    """Request a handshake with every bot that will play, and set the time limit of the preflight."""
    entered = TournamentEntry.tournament_id == tournament.id, TournamentEntry.withdrawn_at.is_(None)
    reset = {"preflight": Preflight.ASKED, "preflight_reason": None, "substitute_id": None}
    asked = update(TournamentEntry).where(*entered).values(**reset, version=None, version_changed_at=None)
    entries = count_changed_rows(session, asked.execution_options(synchronize_session=False))
    _request_handshakes(session, Bot.id.in_(select(TournamentEntry.bot_id).where(*entered)), moment)
    tournament.preflight_until = moment + TIME_LIMIT + TIME_LIMIT_PER_BOT * entries


def is_over(session: Session, tournament: Tournament, moment: datetime) -> bool:
    """Return whether all handshakes have ended or the time limit has passed."""
    if tournament.preflight_until is None or tournament.preflight_until <= moment:
        return True
    entry = TournamentEntry
    waiting = select(entry.bot_id).where(entry.tournament_id == tournament.id, entry.withdrawn_at.is_(None))
    waiting = waiting.where(entry.preflight == Preflight.ASKED)
    return session.scalar(waiting.limit(1)) is None


def needs_update(session: Session, tournament: Tournament, moment: datetime) -> bool:
    """Return whether ``update_entries`` would change anything."""
    query = _entries_to_update(tournament, moment).with_only_columns(TournamentEntry.bot_id)
    return session.scalar(query.limit(1)) is not None


def update_entries(session: Session, tournament: Tournament) -> None:
    """Update up to ``ENTRIES_PER_STEP`` entries.

    Record which bots are ready or absent, mark changed versions, seat substitutes where needed, remove them when the
    bot can play again, and request another handshake with absent bots.
    """
    moment = current_time(session)
    _mark_ready(session, tournament)
    query = _entries_to_update(tournament, moment).order_by(TournamentEntry.number).limit(ENTRIES_PER_STEP)
    for entry, bot in session.execute(query).all():
        _update_entry(session, tournament, entry, bot)
        if entry.version is None and entry.preflight == Preflight.READY:
            entry.version = bot.version
        elif entry.version != bot.version and entry.version_changed_at is None and entry.version is not None:
            entry.version_changed_at = moment
        _seat_substitute(session, tournament, entry, bot)
        if _is_other_version(tournament, entry, bot):
            _release_seats(session, tournament, entry)
        if entry.preflight == Preflight.ABSENT and bot.handshake_state == CheckState.IDLE:
            _request_handshakes(session, and_(Bot.id == bot.id, _is_retry_due(moment)), moment)
    session.flush()


def _mark_ready(session: Session, tournament: Tournament) -> None:
    """Mark bots as ready in one statement if nothing else about them changes. This is the case for nearly all bots."""
    of_bot = Bot.id == TournamentEntry.bot_id
    passed = select(Bot.id).where(of_bot, Bot.status == BotState.VERIFIED, Bot.handshake_state == CheckState.IDLE)
    passed = passed.where(Bot.handshake_report["ok"].as_boolean().is_(True), _may_play(tournament))
    version = select(Bot.version).where(of_bot).scalar_subquery()
    entry = TournamentEntry
    waiting = entry.tournament_id == tournament.id, entry.preflight == Preflight.ASKED, entry.withdrawn_at.is_(None)
    ready = (
        update(entry)
        .where(*waiting, entry.version.is_(None), passed.exists())
        .values(preflight=Preflight.READY, version=version)
    )
    session.execute(ready.execution_options(synchronize_session=False))


def _entries_to_update(tournament: Tournament, moment: datetime) -> Select[TournamentEntry, Bot]:
    """Return a query for entries that need an update. After ``update_entries``, it no longer finds the updated ones."""
    entry, verified, idle = TournamentEntry, Bot.status == BotState.VERIFIED, _is_idle(tournament)
    other_version = and_(entry.version.is_not(None), entry.version.is_distinct_from(Bot.version))
    out_of_order = or_(
        entry.preflight == Preflight.ABSENT, ~verified, other_version if tournament.frozen_version else false()
    )
    reported_well = and_(Bot.handshake_report["ok"].as_boolean().is_(True), _may_play(tournament))
    reasons = [
        and_(entry.preflight == Preflight.ASKED, or_(~verified, idle)),
        and_(entry.preflight == Preflight.ABSENT, verified, idle, or_(reported_well, _is_retry_due(moment))),
        and_(other_version, entry.version_changed_at.is_(None)),
        and_(entry.substitute_id.is_not(None), ~out_of_order),
    ]
    if tournament.substitute is not None:
        reasons.append(and_(entry.substitute_id.is_(None), entry.preflight != Preflight.ASKED, out_of_order))
    if tournament.frozen_version:
        reasons.append(
            and_(other_version, entry.bot_id.in_(_unstarted_matches(tournament).with_only_columns(MatchSeat.bot_id)))
        )
    query = select(entry, Bot).join(Bot, Bot.id == entry.bot_id)
    return query.where(entry.tournament_id == tournament.id, entry.withdrawn_at.is_(None), or_(*reasons))


def _update_entry(session: Session, tournament: Tournament, entry: TournamentEntry, bot: Bot) -> None:
    """Mark an entry as ready or absent if its handshake has ended. Notify the owner if the entry becomes absent."""
    if entry.preflight not in NOT_READY or _is_pending(session, tournament, bot):
        return
    was, reason = entry.preflight, _absence_reason(session, tournament, bot)
    entry.preflight, entry.preflight_reason = (Preflight.ABSENT if reason else Preflight.READY), reason
    if reason and was == Preflight.ASKED:
        about = {"bot": bot.id, "name": bot.name, "tournament": tournament.id, "reason": reason}
        notify(session, BotUnhealthy(accounts=[bot.owner_id], **about))


def _is_pending(session: Session, tournament: Tournament, bot: Bot) -> bool:
    """Return whether the bot's handshake, or in a rated tournament its check, is pending."""
    if bot.status != BotState.VERIFIED:
        return False
    return bot.handshake_state != CheckState.IDLE or (tournament.rated and checks.is_pending(session, bot.id))


def _is_idle(tournament: Tournament) -> ColumnElement[bool]:
    """Return the SQL condition for bots without a pending handshake or check. It is the opposite of ``_is_pending``."""
    pending = exists().where(Check.bot_id == Bot.id, Check.state != CheckState.IDLE)
    is_idle = Bot.handshake_state == CheckState.IDLE
    return and_(is_idle, ~pending) if tournament.rated else is_idle


def _may_play(tournament: Tournament) -> ColumnElement[bool]:
    return certificates.is_certified(tournament.game) if tournament.rated else true()


def _absence_reason(session: Session, tournament: Tournament, bot: Bot) -> str | None:
    """Return the reason why the bot cannot play, or None if it can."""
    if bot.status != BotState.VERIFIED:
        return f"the bot is {bot.status}"
    report = bot.handshake_report
    if report is None or report.get("ok"):
        lacking = certificates.explain_missing_certificate(session, bot, tournament.game) if tournament.rated else None
        return f"no_certificate: {lacking}" if lacking else None
    steps = [report.get("challenge"), report.get("manifest")]
    code = next((step["code"] for step in steps if step and step.get("code")), "handshake_failed")
    return f"the handshake before the start failed: {code}"


def _seat_substitute(session: Session, tournament: Tournament, entry: TournamentEntry, bot: Bot) -> None:
    is_away = entry.preflight == Preflight.ABSENT or bot.status != BotState.VERIFIED
    is_absent = is_away or _is_other_version(tournament, entry, bot)
    if not is_absent:
        entry.substitute_id = None
        return
    if entry.substitute_id is None or entry.substitution_code is None:
        entry.substituted_at = current_time(session)
        entry.substitution_code = _substitution_code(tournament, entry, bot)
    if tournament.substitute is not None and entry.substitute_id is None:
        entry.substitute_id = house_bots.get_or_create_house_bot(session, tournament.substitute).id


def _substitution_code(tournament: Tournament, entry: TournamentEntry, bot: Bot) -> str:
    """Return the public code of why the bot does not play itself: a code of the handshake or a state of the bot."""
    if bot.status != BotState.VERIFIED:
        return str(bot.status)
    if _is_other_version(tournament, entry, bot):
        return "version_changed"
    reason = entry.preflight_reason or ""
    return "no_certificate" if reason.startswith("no_certificate") else reason.rpartition(": ")[2][:40] or "absent"


def _is_other_version(tournament: Tournament, entry: TournamentEntry, bot: Bot) -> bool:
    return tournament.frozen_version and entry.version is not None and entry.version != bot.version


def _release_seats(session: Session, tournament: Tournament, entry: TournamentEntry) -> None:
    """If a bot's version changed, give its unstarted matches to its substitute, or cancel them if there is none."""
    seats = _unstarted_matches(tournament).where(MatchSeat.bot_id == entry.bot_id).with_only_columns(StoredMatch.id)
    ids = list(session.scalars(seats.order_by(StoredMatch.id).with_for_update(of=StoredMatch)))
    if not ids:
        return
    if entry.substitute_id is None:
        cancelling.cancel_unstarted(session, StoredMatch.id.in_(ids), "version_changed")
        return
    substitute = session.get_one(Bot, entry.substitute_id)
    named = {"bot_name": substitute.name, "version": substitute.version}
    substituted = {"bot_id": substitute.id, "entrant_id": entry.bot_id, "rated": False, **named}
    of_bot = MatchSeat.match_id.in_(ids), MatchSeat.bot_id == entry.bot_id
    session.execute(update(MatchSeat).where(*of_bot).values(substituted))
    counted = select(MatchSeat.match_id).where(MatchSeat.match_id.in_(ids), MatchSeat.rated)
    still_rated = counted.group_by(MatchSeat.match_id).having(func.count() > 1)
    unrated = StoredMatch.id.in_(ids), StoredMatch.id.not_in(still_rated)
    session.execute(update(StoredMatch).where(*unrated).values(rated=False))
    refresh_queue(session, ids)


def _unstarted_matches(tournament: Tournament) -> Any:
    query = select(MatchSeat).join(StoredMatch, StoredMatch.id == MatchSeat.match_id)
    return query.where(StoredMatch.tournament_id == tournament.id, is_unstarted())


def _is_retry_due(moment: datetime) -> ColumnElement[bool]:
    return or_(Bot.handshake_ended_at.is_(None), Bot.handshake_ended_at <= moment - RETRY_AFTER)


def _request_handshakes(session: Session, which: ColumnElement[bool], moment: datetime) -> None:
    due: Any = {"handshake_state": CheckState.DUE, "handshake_due_at": moment, "epoch": Bot.epoch + 1}
    due["handshake_lost_claims"] = 0
    free = update(Bot).where(which, Bot.status == BotState.VERIFIED, Bot.handshake_state == CheckState.IDLE).values(due)
    session.execute(free.execution_options(synchronize_session=False))
