"""Delete bots: retire them, and erase what their owners gave and what only their owners may read.

Results, ratings and logs stay, because the ratings of other bots follow from them. They name a bot as it was called
when it played, so a deleted bot keeps such a name; names under which it never played are erased.

What a match in progress needs, and rows beyond ``BATCH``, are erased later: the scheduler calls ``finish_erasures``.
"""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import ColumnElement, Select, and_, delete, exists, or_, select, text, tuple_, update
from sqlalchemy.orm import Session

from referee.accounts.reserved_names import DELETED_BOT, neutral_name
from referee.bots import bots
from referee.bots.states import BotState
from referee.bots.tables import Bot, Check
from referee.db import former_names
from referee.db.engine import count_changed_rows, current_time, get_database
from referee.db.kinds import SearchKind
from referee.db.names import name_key, spare_key
from referee.db.reporting import notify
from referee.db.search_documents import SearchDocument
from referee.errors import Conflict
from referee.events import BotDeleted
from referee.friendlies.tables import FriendlyRules
from referee.ladders.tables import LadderPlayer, MonthRow
from referee.matches.states import OPEN
from referee.matches.tables import FailedNonce, Fault, MatchSeat, ReportedError, StoredMatch
from referee.tournaments.tables import EntryRequest, Invitation, TournamentEntry
from referee.workflows.bots import retirement
from referee.workflows.erasing import act_names, stored_responses

BATCH: Final = 1_000  # rows of a table that one transaction erases


def delete_bot(session: Session, bot_id: str, *, master_key: bytes) -> Bot:
    """Retire a bot, if it is not retired yet, and erase what its owner gave.

    Raise ``NotFound`` if there is no such bot, and ``Conflict`` for a house bot or one that is deleted already.
    """
    bot = bots.get_bot(session, bot_id)
    session.refresh(bot, with_for_update=True)  # also against rows that refer to it
    if bot.deleted_at is not None:
        raise Conflict("The bot is deleted already.")
    if bot.status != BotState.RETIRED:
        bot = retirement.retire_bot(session, bot_id)
    bot.deleted_at = current_time(session)
    session.flush()
    overwrite_deleted_rows(session)
    played = _names_played_under(session, bot)
    _rename(session, bot, played)
    _erase_description(bot)
    for table in (Check, FriendlyRules, LadderPlayer, EntryRequest, Invitation):
        session.execute(delete(table).where(table.bot_id == bot.id))
    session.execute(update(TournamentEntry).where(TournamentEntry.bot_id == bot.id).values(preflight_reason=None))
    notify(session, BotDeleted(bot=bot.id, name=bot.name, kept=played))
    remove_document(session, SearchKind.BOT, bot.id)
    stored_responses.forget_object(session, bot.owner_id, bot.id, master_key=master_key)
    _erase_some(session, bot)
    return bot


def has_unfinished(session: Session) -> bool:
    """Return whether ``finish_erasures`` would erase anything."""
    return session.scalar(_select_unfinished().limit(1)) is not None


def finish_erasures(session: Session) -> int:
    """Erase more of one deleted bot whose matches are over. Return the number of bots that are complete: 0 or 1."""
    bot = session.scalar(_select_unfinished().limit(1).with_for_update(skip_locked=True))
    if bot is None:
        return 0
    overwrite_deleted_rows(session)
    _erase_some(session, bot)
    return int(bot.erased_at is not None)


def overwrite_deleted_rows(session: Session) -> None:
    """Let SQLite overwrite the rows that this connection deletes with zeros, instead of only releasing their pages."""
    if get_database(session).is_sqlite:
        session.execute(text("PRAGMA secure_delete = ON"))


def remove_document(session: Session, kind: SearchKind, object_id: str) -> None:
    """Let the search find the object no longer, and remove its words from the index."""
    session.execute(delete(SearchDocument).where(SearchDocument.kind == kind, SearchDocument.object_id == object_id))
    if get_database(session).is_sqlite:  # FTS5 keeps the words of deleted documents until it merges their segment
        session.execute(text("INSERT INTO search_index (search_index) VALUES ('optimize')"))


def _select_unfinished() -> Select[Bot]:
    erasing = and_(Bot.deleted_at.is_not(None), Bot.erased_at.is_(None))
    return select(Bot).where(erasing, ~_plays(Bot.id)).order_by(Bot.deleted_at, Bot.id)


def _plays(bot_id: object) -> ColumnElement[bool]:
    """Return the condition that the bot has a match that is not over."""
    of_bot = MatchSeat.match_id == StoredMatch.id, MatchSeat.bot_id == bot_id
    return exists().where(*of_bot, StoredMatch.status.in_(OPEN))


def _names_played_under(session: Session, bot: Bot) -> Sequence[str]:
    """Return the names in the logs of the bot's matches, the latest first."""
    started = select(MatchSeat.bot_name, StoredMatch.started_at).join(StoredMatch, StoredMatch.id == MatchSeat.match_id)
    started = started.where(MatchSeat.bot_id == bot.id, StoredMatch.started_at.is_not(None))
    names = session.scalars(started.order_by(StoredMatch.started_at.desc(), StoredMatch.id.desc()))
    return list(dict.fromkeys(names))


def _rename(session: Session, bot: Bot, played: Sequence[str]) -> None:
    """Give the bot a name it played under, if there is one, or else a neutral one, wherever it has another one."""
    if bot.name not in played:
        bot.name = played[0] if played else neutral_name(DELETED_BOT, bot.id)
    bot.normalized_name = spare_key(name_key(bot.name), bot.id)
    former_names.hide_names(session, bot.id, kept=[name for name in played if name != bot.name])
    month_rows = update(MonthRow).where(MonthRow.bot_id == bot.id, MonthRow.name.not_in(played))
    session.execute(month_rows.values(name=bot.name))
    act_names.replace_bot_name(session, bot.id, bot.name, kept=played)


def _erase_description(bot: Bot) -> None:
    bot.summary = bot.language = bot.link = bot.status_reason = None
    bot.handshake_report = bot.handshake_ended_at = None
    bot.revision += 1


def _erase_some(session: Session, bot: Bot) -> None:
    """Erase up to ``BATCH`` rows of each table. The bot is complete when nothing is left and its matches are over."""
    steps = (_erase_faults, _erase_reported_errors, _erase_failed_nonces, _erase_seats)
    counts = [step(session, bot) for step in steps]
    if max(counts) < BATCH and not session.scalar(select(_plays(bot.id))):
        bot.url, bot.host, bot.verified_url = "", "", None
        bot.erased_at = current_time(session)
    session.flush()


def _erase_faults(session: Session, bot: Bot) -> int:
    left = or_(Fault.detail != "", Fault.request.is_not(None), Fault.reply.is_not(None), Fault.timing.is_not(None))
    some = select(Fault.id).where(Fault.bot_id == bot.id, left).order_by(Fault.id).limit(BATCH)
    empty = {"detail": "", "request": None, "reply": None, "timing": None}
    return count_changed_rows(session, update(Fault).where(Fault.id.in_(some)).values(empty))


def _erase_reported_errors(session: Session, bot: Bot) -> int:
    key = tuple_(ReportedError.match_id, ReportedError.seat)
    some = select(ReportedError.match_id, ReportedError.seat).where(ReportedError.bot_id == bot.id).limit(BATCH)
    return count_changed_rows(session, delete(ReportedError).where(key.in_(some)))


def _erase_failed_nonces(session: Session, bot: Bot) -> int:
    left = or_(FailedNonce.detail != "", FailedNonce.request != b"", FailedNonce.reply != b"")
    some = select(FailedNonce.id).where(FailedNonce.bot_id == bot.id, left).order_by(FailedNonce.id).limit(BATCH)
    empty = {"detail": "", "request": b"", "reply": b""}
    return count_changed_rows(session, update(FailedNonce).where(FailedNonce.id.in_(some)).values(empty))


def _erase_seats(session: Session, bot: Bot) -> int:
    """Erase addresses from seats in matches that are over, and names from those in matches that never started."""
    over = ~StoredMatch.status.in_(OPEN)
    seats = select(MatchSeat.match_id, MatchSeat.seat).join(StoredMatch, StoredMatch.id == MatchSeat.match_id)
    seats = seats.where(MatchSeat.bot_id == bot.id, over)
    key = tuple_(MatchSeat.match_id, MatchSeat.seat)
    addressed = seats.where(MatchSeat.url.is_not(None)).limit(BATCH)
    unplayed = seats.where(StoredMatch.started_at.is_(None), MatchSeat.bot_name != bot.name).limit(BATCH)
    renamed = count_changed_rows(session, update(MatchSeat).where(key.in_(unplayed)).values(bot_name=bot.name))
    return max(renamed, count_changed_rows(session, update(MatchSeat).where(key.in_(addressed)).values(url=None)))
