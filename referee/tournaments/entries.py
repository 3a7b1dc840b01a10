"""Enter and withdraw bots; seed, list and count the entries of a tournament."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import case, delete, func, select
from sqlalchemy.orm import Session

from referee.accounts.tables import Account
from referee.bots import bots, certificates
from referee.bots.states import BotState
from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.db.paging import Cursor, Page, load_page
from referee.errors import BadOption, Conflict, NotFound, QuotaExceeded
from referee.matches import matches
from referee.tournaments import rounds, starting
from referee.tournaments.states import BEFORE_START, IN_PROGRESS, Preflight, TournamentState
from referee.tournaments.tables import EntryRequest, Tournament, TournamentEntry
from referee.tournaments.terms import NO_LIMIT, max_entries
from referee.tournaments.tournaments import lock_in_state

MAX_SEED: Final = 10_000


@dataclass(frozen=True, slots=True)
class EntryCounts:
    """Hold the numbers of entries of a tournament by state. All numbers except ``withdrawn`` omit withdrawn entries."""

    entered: int
    withdrawn: int
    asked: int
    ready: int
    absent: int
    substitutes: int
    disqualified: int


@dataclass(frozen=True, slots=True)
class EnteredBot:
    """Describe a bot in a tournament. ``name`` is its current name, and ``owner`` is the id of its owner's account."""

    name: str
    owner: str
    owner_name: str
    withdrawn: bool
    version_changed: bool
    disqualification: str | None


def list_entries(
    session: Session, tournament_id: str, *, preflight: str | None = None, limit: int = 50, cursor: Cursor | None = None
) -> Page[tuple[TournamentEntry, Bot]]:
    """Return a page of entries with their bots in order of entry, including withdrawn ones."""
    query = select(TournamentEntry, Bot).join(Bot, Bot.id == TournamentEntry.bot_id)
    query = query.where(TournamentEntry.tournament_id == tournament_id)
    if preflight is not None:
        query = query.where(TournamentEntry.preflight == preflight)
    return load_page(session, query, TournamentEntry.number, limit=limit, cursor=cursor)


def count_entries(session: Session, tournament_id: str) -> int:
    """Return the number of entries, including withdrawn ones, like ``list_entries``."""
    return session.scalars(select(func.count()).where(TournamentEntry.tournament_id == tournament_id)).one()


def count_entered(session: Session, tournament_ids: Collection[str]) -> dict[str, int]:
    """Return the number of entered bots, keyed by tournament id. Omit tournaments without entries."""
    query = select(TournamentEntry.tournament_id, func.count()).group_by(TournamentEntry.tournament_id)
    entered = TournamentEntry.tournament_id.in_(tournament_ids), TournamentEntry.withdrawn_at.is_(None)
    return dict(session.execute(query.where(*entered)).all())


def find_entered_bots(session: Session, tournament_id: str, bot_ids: Collection[str]) -> dict[str, EnteredBot]:
    """Return how these bots appear in the tables of the tournament, keyed by bot id. Omit bots that never entered."""
    columns = Bot.id, Bot.name, Bot.owner_id, Account.name, TournamentEntry.withdrawn_at
    query = select(*columns, TournamentEntry.version_changed_at, TournamentEntry.disqualification_reason)
    query = query.join(TournamentEntry, TournamentEntry.bot_id == Bot.id)
    query = query.join(Account, Account.id == Bot.owner_id)
    query = query.where(TournamentEntry.tournament_id == tournament_id, Bot.id.in_(bot_ids))
    return {
        bot_id: EnteredBot(name, owner_id, owner_name, withdrawn is not None, changed is not None, disqualification)
        for bot_id, name, owner_id, owner_name, withdrawn, changed, disqualification in session.execute(query)
    }


def load_substitute_names(session: Session, tournament_id: str, bot_ids: Collection[str]) -> dict[str, str]:
    """Return the names of the house players that now play for these bots, keyed by bot id. Omit bots without one."""
    query = select(TournamentEntry.bot_id, Bot.name).join(Bot, Bot.id == TournamentEntry.substitute_id)
    of_these = TournamentEntry.tournament_id == tournament_id, TournamentEntry.bot_id.in_(bot_ids)
    return dict(session.execute(query.where(*of_these)).all())


def count_by_state(session: Session, tournament_id: str) -> EntryCounts:
    """Return the numbers of entries of a tournament by state."""
    there = TournamentEntry.withdrawn_at.is_(None)
    asked, ready, absent = (
        there & (TournamentEntry.preflight == state) for state in (Preflight.ASKED, Preflight.READY, Preflight.ABSENT)
    )
    others = there & TournamentEntry.substitute_id.is_not(None), TournamentEntry.disqualified_at.is_not(None)
    columns = (there, ~there, asked, ready, absent, *others)
    query = select(*(func.coalesce(func.sum(case((column, 1), else_=0)), 0) for column in columns))
    return EntryCounts(*map(int, session.execute(query.where(TournamentEntry.tournament_id == tournament_id)).one()))


def enter_bot(session: Session, tournament_id: str, bot_id: str) -> TournamentEntry:
    """Enter a verified bot that plays the game. A bot that withdrew may return and keeps its number.

    That its owner agreed counts for this entry only: a request to enter it is used up.

    A bot that enters a running tournament plays from the next round on. Raise ``Conflict`` if the tournament accepts no
    entries now, or if the bot is unverified or already entered; ``BadOption`` if the bot does not play the game;
    ``NoCertificate`` if it lacks the certificate for a rated tournament; ``QuotaExceeded`` if the tournament is full
    or its owner has entered as many bots as an owner may.
    """
    tournament = _lock_open_for_entries(session, tournament_id)
    bot = bots.lock_state(session, bot_id)  # so that a bot that is retired now is not left entered
    check_may_play(session, tournament, bot)
    entry = session.get(TournamentEntry, (tournament_id, bot_id))
    _check_not_entered(entry, bot)
    check_bots_of_owner(session, tournament, bot)
    _check_places(session, tournament)
    if entry is None:
        entry = TournamentEntry(tournament_id=tournament_id, bot_id=bot_id, number=_next_number(session, tournament))
        session.add(entry)
    entry.withdrawn_at, entry.preflight, entry.preflight_reason = None, Preflight.NONE, None
    entry.owner_withdrew_at = None
    used = EntryRequest.tournament_id == tournament_id, EntryRequest.bot_id == bot_id
    session.execute(delete(EntryRequest).where(*used))
    if tournament.status != TournamentState.OPEN:
        _join_late(session, tournament, entry, bot)
    tournament.revision += 1
    session.flush()
    return entry


def lock_to_ask(session: Session, tournament_id: str, bot_id: str) -> tuple[Tournament, Bot]:
    """Lock a tournament and a bot that could enter it if somebody agreed.

    Raise ``Conflict`` if the tournament takes no entries or the bot is entered, and whatever ``check_may_play`` raises.
    """
    tournament = lock_in_state(session, tournament_id, TournamentState.OPEN, *IN_PROGRESS)
    if tournament.status != TournamentState.OPEN and not tournament.late_entry:
        raise Conflict(f"The tournament is {tournament.status} and takes no late entries.")
    bot = bots.lock_state(session, bot_id)
    check_may_play(session, tournament, bot)
    _check_not_entered(session.get(TournamentEntry, (tournament_id, bot_id)), bot)
    return tournament, bot


def check_may_play(session: Session, tournament: Tournament, bot: Bot) -> None:
    """Raise ``Conflict``, ``BadOption`` or ``NoCertificate`` for a bot that could not play in the tournament."""
    if bot.status != BotState.VERIFIED:
        raise Conflict(f"Bot {bot.name!r} is {bot.status}; only verified bots may enter.")
    if tournament.game not in bot.games:
        raise BadOption("bot", f"bot {bot.name!r} does not play {tournament.game}")
    if tournament.rated:
        certificates.require_certificate(session, bot, tournament.game)


def withdraw_bot(session: Session, tournament_id: str, bot_id: str, *, by_owner: bool = False) -> TournamentEntry:
    """Withdraw a bot and cancel its unstarted matches. Raise ``NotFound`` if the bot is not entered.

    After its owner did this, organisers need their consent to enter it again.
    """
    tournament = lock_in_state(session, tournament_id, TournamentState.OPEN, *IN_PROGRESS)
    entry = session.get(TournamentEntry, (tournament_id, bot_id))
    if entry is None:
        raise NotFound("entry", bot_id)
    if by_owner:
        entry.owner_withdrew_at = current_time(session)
    if entry.withdrawn_at is None:
        entry.withdrawn_at, entry.substitute_id = current_time(session), None
        matches.cancel_unstarted(session, bot_id, tournament_id)
        tournament.revision += 1
    return entry


def set_seeds(session: Session, tournament_id: str, seeds: Mapping[str, int | None]) -> Tournament:
    """Set seeds (keyed by bot id) manually, before the start.

    The strongest seed is 1; with None, the rating decides. Raise ``BadOption`` for a bot that is not entered, and for a
    seed that is out of range or given twice.
    """
    tournament = lock_in_state(session, tournament_id, *BEFORE_START)
    query = select(TournamentEntry).where(TournamentEntry.tournament_id == tournament_id)
    entered = {entry.bot_id: entry for entry in session.scalars(query)}
    for bot_id, seed in seeds.items():
        if bot_id not in entered:
            raise BadOption("seeds", f"bot {bot_id} is not entered")
        if seed is not None and not 1 <= seed <= MAX_SEED:
            raise BadOption("seeds", f"must be from 1 to {MAX_SEED}, not {seed}")
        entered[bot_id].seed = seed
    given = [entry.seed for entry in entered.values() if entry.seed is not None]
    if len(set(given)) != len(given):
        raise BadOption("seeds", "must be different for each bot")
    tournament.revision += 1
    session.flush()
    return tournament


def _lock_open_for_entries(session: Session, tournament_id: str) -> Tournament:
    tournament = lock_in_state(session, tournament_id, TournamentState.OPEN, *IN_PROGRESS)
    if tournament.status == TournamentState.OPEN:
        tournament = starting.start_if_due(session, tournament_id)  # the start time may have passed already
    if tournament.status != TournamentState.OPEN and not tournament.late_entry:
        raise Conflict(f"The tournament is {tournament.status} and takes no late entries.")
    return tournament


def _check_not_entered(entry: TournamentEntry | None, bot: Bot) -> None:
    if entry is not None and entry.withdrawn_at is None:
        raise Conflict(f"Bot {bot.name!r} is already entered.")
    if entry is not None and entry.disqualified_at is not None:
        raise Conflict(f"Bot {bot.name!r} is disqualified: {entry.disqualification_reason}")


def check_bots_of_owner(session: Session, tournament: Tournament, bot: Bot) -> None:
    """Raise ``QuotaExceeded`` if the owner of the bot has entered as many bots as an owner may."""
    limit = tournament.bots_per_owner
    if limit >= NO_LIMIT:
        return
    query = select(Bot.name).join(TournamentEntry, TournamentEntry.bot_id == Bot.id)
    query = query.where(TournamentEntry.tournament_id == tournament.id, TournamentEntry.withdrawn_at.is_(None))
    entered = session.scalars(query.where(Bot.owner_id == bot.owner_id).order_by(TournamentEntry.number)).all()
    if len(entered) >= limit:
        number = "one bot" if limit == 1 else f"{limit} bots"
        raise QuotaExceeded(
            f"This tournament takes {number} of each owner, and {', '.join(map(repr, entered))} of the owner of "
            f"{bot.name!r} entered already. Withdraw one first to enter {bot.name!r} in its place."
        )


def _check_places(session: Session, tournament: Tournament) -> None:
    """Raise ``QuotaExceeded`` if all places are taken. The tournament is locked, so nobody else takes the last one."""
    most = tournament.max_entries
    if most is not None and count_entered(session, [tournament.id]).get(tournament.id, 0) >= most:
        raise QuotaExceeded(f"This tournament takes at most {most} entries, and all places are taken.")


def _next_number(session: Session, tournament: Tournament) -> int:
    number = count_entries(session, tournament.id)
    if number >= max_entries(tournament.format):
        raise QuotaExceeded(f"This tournament takes at most {max_entries(tournament.format)} entries.")
    return number


def _join_late(session: Session, tournament: Tournament, entry: TournamentEntry, bot: Bot) -> None:
    """Enter the bot from the next round on and request the handshake that other bots passed before the start.

    The handshake reports its version. A bot that returns keeps its earlier version; otherwise it could change a frozen
    version by withdrawing and entering again.
    """
    entry.first_round = rounds.newest_round(session, tournament.id) + 1
    entry.preflight = Preflight.ASKED
    bots.request_handshake(session, bot.id)
