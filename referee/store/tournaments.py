"""Tournaments: entries, the start with all its tables, progress, and the results that standings are made of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import SystemRandom
from typing import Any, Final

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from referee.clocks import Limits
from referee.errors import BadOption, Conflict, NotFound, QuotaExceeded
from referee.games import game as rules_of
from referee.pairing import round_robin
from referee.store import bots, matches
from referee.store.arranging import Plan, arrange
from referee.store.db import now
from referee.store.ids import new_id
from referee.store.names import checked_name
from referee.store.paging import Cursor, Page, newest_first
from referee.store.schema import Account, Bot, Match, Result, Tournament, TournamentEntry

FORMATS: Final = ("round_robin",)
MAX_ENTRIES: Final = 200
MAX_CYCLES: Final = 100
UNFINISHED_PER_OWNER: Final = 20
DICE = SystemRandom()


@dataclass(frozen=True, slots=True)
class Progress:
    """How many matches there are, how many are over, and each state's share."""

    total: int
    done: int
    by_status: dict[str, int]


def create_tournament(
    session: Session,
    name: str,
    *,
    game: str,
    options: Mapping[str, Any],
    seats: int,
    created_by: str,
    limits: Limits,
    format: str = "round_robin",
    cycles: int = 1,
    rated: bool = True,
) -> Tournament:
    """A new tournament, open for entries. Raises ``BadOption``, ``NoSuchGame`` and ``QuotaExceeded``."""
    if format not in FORMATS:
        raise BadOption("format", f"must be one of {', '.join(FORMATS)}")
    if not 1 <= cycles <= MAX_CYCLES:
        raise BadOption("cycles", f"must be 1 to {MAX_CYCLES}")
    complete = rules_of(game).start(seats, options).options
    _check_quota(session, created_by)
    tournament = Tournament(
        id=new_id("tournament"),
        name=checked_name(name),
        game=game,
        options=complete,
        seats=seats,
        format=format,
        cycles=cycles,
        rated=rated,
        budget_ms=limits.budget_ms,
        bank_ms=limits.bank_ms,
        status="open",
        created_by=created_by,
        created_at=now(session),
        revision=1,
    )
    session.add(tournament)
    session.flush()
    return tournament


def get_tournament(session: Session, tournament_id: str) -> Tournament:
    tournament = session.get(Tournament, tournament_id)
    if tournament is None:
        raise NotFound("tournament", tournament_id)
    return tournament


def list_tournaments(
    session: Session,
    *,
    status: str | None = None,
    game: str | None = None,
    limit: int = 50,
    cursor: Cursor | None = None,
) -> Page[Tournament]:
    query = select(Tournament)
    if status is not None:
        query = query.where(Tournament.status == status)
    if game is not None:
        query = query.where(Tournament.game == game)
    return newest_first(session, query, Tournament.created_at, Tournament.id, limit=limit, cursor=cursor)


def enter(session: Session, tournament_id: str, bot_id: str) -> TournamentEntry:
    """Enters a verified bot that plays the game; a bot that withdrew may come back, in its old place."""
    tournament = locked_in_state(session, tournament_id, "open")
    bot = bots.get_bot(session, bot_id)
    if bot.status != "verified":
        raise Conflict(f"bot {bot.name!r} is {bot.status}; only verified bots may enter")
    if tournament.game not in bot.games:
        raise BadOption("bot", f"bot {bot.name!r} does not play {tournament.game}")
    entry = session.get(TournamentEntry, (tournament_id, bot_id))
    if entry is not None and entry.withdrawn_at is None:
        raise Conflict(f"bot {bot.name!r} is entered already")
    if entry is None:
        count = select(func.count()).where(TournamentEntry.tournament_id == tournament_id)
        number = session.scalars(count).one()
        if number >= MAX_ENTRIES:
            raise QuotaExceeded(f"a tournament takes at most {MAX_ENTRIES} entries")
        entry = TournamentEntry(tournament_id=tournament_id, bot_id=bot_id, number=number)
        session.add(entry)
    entry.withdrawn_at = None
    tournament.revision += 1
    session.flush()
    return entry


def withdraw(session: Session, tournament_id: str, bot_id: str) -> TournamentEntry:
    """Takes a bot out: what it has begun is played, its other matches are cancelled and count for nobody."""
    tournament = locked_in_state(session, tournament_id, "open", "running", "paused")
    entry = session.get(TournamentEntry, (tournament_id, bot_id))
    if entry is None:
        raise NotFound("entry", bot_id)
    if entry.withdrawn_at is None:
        entry.withdrawn_at = now(session)
        bots.cancel_unbegun(session, bot_id, tournament_id)
        tournament.revision += 1
    return entry


def entries(session: Session, tournament_id: str) -> list[tuple[TournamentEntry, Bot]]:
    """All entries in their order, withdrawn ones among them."""
    query = select(TournamentEntry, Bot).join(Bot, Bot.id == TournamentEntry.bot_id)
    query = query.where(TournamentEntry.tournament_id == tournament_id).order_by(TournamentEntry.number)
    return [(entry, bot) for entry, bot in session.execute(query)]


def start(
    session: Session,
    tournament_id: str,
    *,
    master_key: bytes,
    shuffle: Callable[[list[str]], None] = DICE.shuffle,
) -> Tournament:
    """Closes the entries and arranges all tables, due at once in the order of their stages.

    The places in the pairing table are drawn: from the public order of entries nobody can work out who sits at a
    table that is being played. Bots that are no longer verified stay out. Raises ``BadOption`` when too few are
    left, or too many for it.
    """
    tournament = locked_in_state(session, tournament_id, "open")
    seated = [
        bot.id
        for entry, bot in entries(session, tournament_id)
        if entry.withdrawn_at is None and bot.status == "verified" and tournament.game in bot.games
    ]
    shuffle(seated)
    stages = round_robin(seated, tournament.seats, tournament.cycles)
    plans = [
        _plan(tournament, table, stage, table_no)
        for stage, tables in enumerate(stages, start=1)
        for table_no, table in enumerate(tables, start=1)
    ]
    arrange(session, plans, master_key=master_key)
    tournament.status, tournament.started_at = "running", now(session)
    tournament.revision += 1
    return tournament


def cancel(session: Session, tournament_id: str, *, master_key: bytes) -> Tournament:
    """Ends a tournament before its time; matches that are over keep their results."""
    tournament = locked_in_state(session, tournament_id, "draft", "open", "running", "paused")
    tournament.status, tournament.finished_at = "cancelled", now(session)
    tournament.revision += 1
    going_on = select(Match.id).where(
        Match.tournament_id == tournament_id, Match.status.in_(["waiting", "due", "running", "stuck"])
    )
    for match_id in session.scalars(going_on.order_by(Match.id)).all():
        matches.cancel(session, match_id, "tournament_cancelled", master_key=master_key)
    return tournament


def progress(session: Session, tournament_id: str) -> Progress:
    query = select(Match.status, func.count()).where(Match.tournament_id == tournament_id).group_by(Match.status)
    by_status = dict(session.execute(query).all())
    left = sum(by_status.get(status, 0) for status in ("waiting", "due", "running"))
    total = sum(by_status.values())
    return Progress(total, total - left, by_status)


def any_ended(session: Session) -> bool:
    """Whether ``finish_ended`` has something to do."""
    return session.scalar(_ended().limit(1)) is not None


def finish_ended(session: Session) -> list[str]:
    """Ends the running tournaments whose last match is over; gives their ids."""
    tournaments = list(session.scalars(_ended().with_for_update(skip_locked=True)))
    for tournament in tournaments:
        tournament.status, tournament.finished_at = "finished", now(session)
        tournament.revision += 1
    return [tournament.id for tournament in tournaments]


def results(session: Session, tournament_id: str) -> list[tuple[list[str], list[int], list[int]]]:
    """(bots by seat, placements, returns) of every finished match, as ``standings.table`` takes them."""
    query = select(Result).join(Match, Match.id == Result.match_id)
    query = query.where(Match.tournament_id == tournament_id, Match.status == "finished").order_by(Result.seq)
    return [(list(one.bots), list(one.placements), list(one.returns)) for one in session.scalars(query)]


def _ended() -> Select[Tournament]:
    going_on = select(Match.id).where(
        Match.tournament_id == Tournament.id, Match.status.in_(["waiting", "due", "running"])
    )
    return select(Tournament).where(Tournament.status == "running", ~going_on.exists())


def _plan(tournament: Tournament, table: Sequence[str], stage: int, table_no: int) -> Plan:
    return Plan(
        game=tournament.game,
        bots=table,
        options=tournament.options,
        limits=Limits(tournament.budget_ms, tournament.bank_ms),
        rated=tournament.rated,
        created_by=tournament.created_by,
        tournament_id=tournament.id,
        stage=stage,
        table_no=table_no,
    )


def locked_in_state(session: Session, tournament_id: str, *states: str) -> Tournament:
    """The tournament, locked; raises ``Conflict`` unless it is in one of the states."""
    locked = select(Tournament).where(Tournament.id == tournament_id).with_for_update()
    # Fresh: it may have been read, and changed by another, before the lock was had.
    tournament = session.scalar(locked.execution_options(populate_existing=True))
    if tournament is None:
        raise NotFound("tournament", tournament_id)
    if tournament.status not in states:
        raise Conflict(f"the tournament is {tournament.status}, not {' or '.join(states)}")
    return tournament


def _check_quota(session: Session, account_id: str) -> None:
    if session.scalar(select(Account.id).where(Account.id == account_id).with_for_update()) is None:
        raise NotFound("account", account_id)
    unfinished = select(func.count()).where(
        Tournament.created_by == account_id, Tournament.status.in_(["draft", "open", "running", "paused"])
    )
    if session.scalars(unfinished).one() >= UNFINISHED_PER_OWNER:
        raise QuotaExceeded(f"an account has at most {UNFINISHED_PER_OWNER} tournaments going on")
