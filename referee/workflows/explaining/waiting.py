"""Explain why a bot waits: the queue position of its open matches and what blocks them, or why it has no match.

``ladder_reasons`` does the last for official ladders.

Opponents are identified only by their seats.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, exists, func, select
from sqlalchemy.orm import Session

from referee.bots.bots import MAX_UNREACHABLE_STREAK, get_bot
from referee.bots.states import BotState, CheckState
from referee.bots.tables import Bot
from referee.db.engine import current_time, lease_now
from referee.db.leases import is_lease_expired
from referee.games import has_rules
from referee.matches.queue import match_queue
from referee.matches.queue.capacity import CALLS_PER_CHECK, bots_being_checked, load_capacity
from referee.matches.queue.queued_seats import lane_of
from referee.matches.queue.shares import Pool, create_slots
from referee.matches.states import OPEN, DealGroupState, DealSharing, MatchState
from referee.matches.tables import CLAIM_ORDER, DealGroup, MatchSeat, StoredMatch
from referee.tournaments.states import UNFINISHED, TournamentState
from referee.tournaments.tables import Tournament, TournamentEntry
from referee.workflows.explaining.entry_reasons import entry_reason
from referee.workflows.explaining.ladder_reasons import WaitingLadder, list_waiting_ladders, most_urgent
from referee.workflows.explaining.unrated import unrated_reasons
from referee.workflows.explaining.waiting_reasons import Reason

MAX_SHOWN: Final = 20  # matches, and as many tournaments
MANY_SEATS: Final = 5_000
RUNNER_MISSING_AFTER: Final = timedelta(seconds=10)  # if a match is due for longer while none is running
_IN_ORDER: Final = [getattr(StoredMatch, name) for name in CLAIM_ORDER]
_COLUMNS: Final = [
    getattr(StoredMatch, name)
    for name in (
        *("id", "game", "rules_version", "status", "tournament_id", "ladder_id", "created_by", "created_at"),
        *("group_id", "rated", "lease_boot", "lease_until", "lost_claims"),
    )
]


@dataclass(frozen=True, slots=True)
class OpenMatch:
    """Describe an open match of a tournament, of an official ladder, or of neither.

    If ``reason`` is None, the match is being played. ``position`` is its position among all due matches, from 1, as if
    all bots had free calls, or None if it is not due. ``unrated_reason`` is None if the match is rated.
    """

    match_id: str
    tournament_id: str | None
    ladder_id: str | None
    unrated_reason: str | None
    position: int | None
    reason: Reason | None


@dataclass(frozen=True, slots=True)
class WaitingTournament:
    """Describe a tournament in which the bot is entered but has no open match, and the reason."""

    tournament_id: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class BotQueue:
    """Explain why a bot waits. ``playing`` and ``open`` are numbers of matches; ``matches`` has the oldest open ones.

    ``reason`` is the most important reason, or None while the bot plays.
    """

    bot_id: str
    playing: int
    open: int
    matches: list[OpenMatch]
    tournaments: list[WaitingTournament]
    ladders: list[WaitingLadder]
    reason: Reason | None


def explain_waiting(session: Session, bot_id: str, *, runner_slots: int, are_matches_stalled: bool = False) -> BotQueue:
    """Return what a bot is waiting for now. Each runner has ``runner_slots`` slots.

    ``are_matches_stalled`` says that due matches have waited although runners could claim them.

    Raise ``NotFound`` if there is no such bot.
    """
    bot = get_bot(session, bot_id)
    slots = create_slots(runner_slots)
    queue = _QueueState(session, *lease_now(session), slots=slots, is_stalled=are_matches_stalled)
    rows = _open_matches(session, _is_seated(session, bot_id))
    playing = sum(row.status == MatchState.RUNNING and not queue.is_lost(row) for row in rows)
    unrated = _unrated_reasons(session, rows[:MAX_SHOWN])
    matches = [queue.describe(row, bot_id, unrated.get(row.id)) for row in rows[:MAX_SHOWN]]
    tournaments = _waiting_tournaments(session, bot, {row.tournament_id for row in rows})
    ladders = list_waiting_ladders(session, bot, {row.ladder_id for row in rows} - {None}, of_bot=_bot_reason(bot))
    reason = None
    if not playing:
        reasons = [*(match.reason for match in matches), _bot_reason(bot), *(entered.reason for entered in tournaments)]
        reasons += [ladder.reason for ladder in sorted(ladders, key=most_urgent)]
        reason = next(filter(None, reasons), Reason("not_entered"))
    return BotQueue(bot_id, playing, len(rows), matches, tournaments, ladders, reason)


def explain_match(
    session: Session, match_id: str, *, runner_slots: int, are_matches_stalled: bool = False
) -> OpenMatch | None:
    """Return what a match waits for now, as ``explain_waiting`` does for matches of a bot, or None if it is over."""
    rows = _open_matches(session, StoredMatch.id == match_id)
    queue = _QueueState(session, *lease_now(session), slots=create_slots(runner_slots), is_stalled=are_matches_stalled)
    unrated = _unrated_reasons(session, rows)
    return next((queue.describe(row, None, unrated.get(row.id)) for row in rows), None)


def _open_matches(session: Session, wanted: ColumnElement[bool]) -> Sequence[Any]:
    """Return the wanted open matches in the order in which they will be played."""
    query = select(*_COLUMNS, DealGroup.state, DealGroup.kind).join(DealGroup, DealGroup.id == StoredMatch.group_id)
    return session.execute(query.where(StoredMatch.status.in_(OPEN), wanted).order_by(*_IN_ORDER)).all()


def _unrated_reasons(session: Session, rows: Sequence[Any]) -> dict[str, str]:
    unrated = [row.id for row in rows if not row.rated]
    return unrated_reasons(session, session.scalars(select(StoredMatch).where(StoredMatch.id.in_(unrated))).all())


def _is_seated(session: Session, bot_id: str) -> ColumnElement[bool]:
    """Return the condition for matches of the bot.

    It uses the bot's seats or, if it has very many, the seats of each match.
    """
    seats = select(MatchSeat.match_id).where(MatchSeat.bot_id == bot_id)
    if len(session.scalars(seats.limit(MANY_SEATS)).all()) < MANY_SEATS:
        return StoredMatch.id.in_(seats)
    # ``coalesce`` keeps SQLite from using the index on bots.
    return exists().where(MatchSeat.match_id == StoredMatch.id, func.coalesce(MatchSeat.bot_id, "") == bot_id)


class _QueueState:
    """Hold the queue and the matches being played, both loaded only once."""

    def __init__(self, session: Session, boot: str, seconds: float, *, slots: Pool, is_stalled: bool) -> None:
        self._session = session
        self._is_stalled = is_stalled
        self._boot, self._seconds = boot, seconds
        self._moment: datetime = current_time(session)
        self._capacity = load_capacity(session, boot, seconds, slots)
        self._checked = bots_being_checked(session, boot, seconds)
        self._wants_alone = any(
            session.execute(query.limit(1)).first() for query in match_queue.isolated_match_queries(boot, seconds)
        )
        self._due: dict[str | None, int] | None = None
        self._at: dict[tuple[str | None, datetime], tuple[int, list[str]]] = {}

    def is_lost(self, row: Any) -> bool:
        return row.lease_until is None or row.lease_until <= self._seconds or row.lease_boot != self._boot

    def describe(self, row: Any, bot_id: str | None, unrated_reason: str | None) -> OpenMatch:
        if not has_rules(row.game, row.rules_version):
            return OpenMatch(row.id, row.tournament_id, row.ladder_id, unrated_reason, None, Reason("game_missing"))
        ahead = self._count_ahead(row) if row.status == MatchState.DUE else None
        position = None if ahead is None else ahead + 1
        reason = self._reason(row, bot_id, ahead or 0)
        return OpenMatch(row.id, row.tournament_id, row.ladder_id, unrated_reason, position, reason)

    def _reason(self, row: Any, bot_id: str | None, ahead: int) -> Reason | None:
        if row.status == MatchState.RUNNING:
            if self.is_lost(row):
                was_lost_before = row.lost_claims + (row.lease_boot == self._boot) >= match_queue.LOST_BEFORE_ISOLATED
                return Reason("played_alone" if was_lost_before else "runner_needed")
            return Reason("group_opening") if row.state == DealGroupState.NEW else None
        if row.status in (MatchState.WAITING, MatchState.STUCK):
            return Reason("stuck" if row.status == MatchState.STUCK else "tournament_paused")
        if row.lost_claims >= match_queue.LOST_BEFORE_ISOLATED:
            return Reason("played_alone")
        if not self._capacity.calls and self._moment - row.created_at > RUNNER_MISSING_AFTER:
            return Reason("runner_needed")
        if self._wants_alone:
            return Reason("alone_first")
        if full := self._capacity_reason(row, bot_id):
            return full
        if not self._capacity.has_slot(lane_of(row)):
            return Reason("friendly_share")
        if self._is_stalled:
            return Reason("runner_needed")
        return Reason("behind", ahead=ahead) if ahead else Reason("next")

    def _capacity_reason(self, row: Any, bot_id: str | None) -> Reason | None:
        """Return the reason why its bots or its deal group keep a match from being played, or None if they do not."""
        claimed_together = (
            StoredMatch.group_id == row.group_id if row.kind == DealSharing.DUPLICATE else StoredMatch.id == row.id
        )
        query = select(MatchSeat.match_id, MatchSeat.seat, Bot.id).join(Bot, Bot.id == MatchSeat.bot_id)
        query = query.join(StoredMatch, StoredMatch.id == MatchSeat.match_id)
        query = query.where(claimed_together, StoredMatch.status == MatchState.DUE)
        seats = self._session.execute(query.order_by(MatchSeat.seat)).all()
        wanted, lane = Counter(seat.id for seat in seats), lane_of(row)
        self._capacity.load_seats(self._session, [row.id])
        own = [seat for seat in seats if seat.match_id == row.id]
        for seat in sorted(own, key=lambda seat: seat.id != bot_id):
            calls = self._capacity.calls[seat.id]
            missing = min(wanted[seat.id], calls.limit(lane)) - calls.count_free(lane)
            if 0 < missing <= calls.size - calls.total:
                return Reason("friendlies_of_bot", seat=seat.seat)
            if missing > 0 and seat.id != bot_id:
                return Reason("rival_full", seat=seat.seat)
            if missing > 0:
                for_check = CALLS_PER_CHECK if bot_id in self._checked else 0
                return Reason("check_running" if missing <= for_check else "bot_full")
        if row.kind == DealSharing.DUPLICATE:
            is_played = StoredMatch.status == MatchState.RUNNING, StoredMatch.group_id == row.group_id
            played = select(StoredMatch.id).where(*is_played)
            if self._session.scalar(played.where(~is_lease_expired(StoredMatch, self._boot, self._seconds)).limit(1)):
                return Reason("group_playing")
        return None

    def _count_ahead(self, row: Any) -> int:
        """Return the number of matches that will be claimed before this one, given that accounts take turns."""
        if self._due is None:
            counted = select(StoredMatch.created_by, func.count()).where(match_queue.DUE)
            self._due = {row[0]: row[1] for row in self._session.execute(counted.group_by(StoredMatch.created_by))}
        own = self._count_own_ahead(row)
        others = sum(min(count, own + 1) for creator, count in self._due.items() if creator != row.created_by)
        return own + others

    def _count_own_ahead(self, row: Any) -> int:
        key = row.created_by, row.created_at
        if key not in self._at:
            queued = select(StoredMatch.id).where(match_queue.DUE, StoredMatch.created_by == row.created_by)
            older = queued.where(StoredMatch.created_at < row.created_at).with_only_columns(func.count())
            same = queued.where(StoredMatch.created_at == row.created_at)
            self._at[key] = self._session.scalars(older).one(), list(self._session.scalars(same.order_by(*_IN_ORDER)))
        before, same_moment = self._at[key]
        return before + same_moment.index(row.id)


def _bot_reason(bot: Bot) -> Reason | None:
    """Return why the state of the bot keeps it from getting new matches, or None if it does not."""
    match bot.status:
        case BotState.VERIFIED | BotState.HOUSE:
            return None
        case BotState.PAUSED:
            return Reason("unhealthy" if bot.unreachable_streak >= MAX_UNREACHABLE_STREAK else "paused")
        case BotState.RETIRED:
            return Reason("retired")
        case _ if bot.handshake_state == CheckState.IDLE:
            return Reason("handshake_failed")
        case _:
            return Reason("not_verified")


def _waiting_tournaments(session: Session, bot: Bot, excluded: set[str | None]) -> list[WaitingTournament]:
    """Return the tournaments in which the bot is entered but has no open match, each with the reason."""
    entry = TournamentEntry
    query = select(entry, Tournament).join(Tournament, Tournament.id == entry.tournament_id)
    query = query.where(entry.bot_id == bot.id, entry.withdrawn_at.is_(None), Tournament.status.in_(UNFINISHED))
    query = query.where(Tournament.id.not_in([id for id in excluded if id is not None]))
    rows = session.execute(query.order_by(Tournament.created_at, Tournament.id).limit(MAX_SHOWN))
    found: list[WaitingTournament] = []
    for entered, tournament in rows.all():
        of_bot = _bot_reason(bot) if tournament.status == TournamentState.RUNNING else None
        found.append(WaitingTournament(tournament.id, of_bot or entry_reason(session, tournament, entered, bot)))
    return found
