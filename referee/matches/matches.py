"""Matches: arranging, listing, cancelling, and all a runner needs to begin one or to go on with it.

Who may write to a match is settled in ``claims``, what is written in ``recording`` and ``results``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import func, or_, select, update
from sqlalchemy.orm import Session

from referee.bots.bots import signing_generations
from referee.bots.tables import Bot
from referee.db.engine import count_changed_rows, current_time
from referee.db.leases import revoked
from referee.db.paging import Cursor, Page, newest_first
from referee.errors import Conflict, NotFound
from referee.ladders import voiding
from referee.match.match import new_header
from referee.match.rows import parse_row
from referee.match.time_limits import Limits
from referee.matches import deal_groups, logs
from referee.matches.scheduling import MatchPlan as MatchPlan
from referee.matches.scheduling import arrange
from referee.matches.tables import OPEN, DealGroup, Match, MatchSeat, SealedAnswer, is_unstarted
from referee.protocol.aliases import aliases
from referee.tournaments.tables import Tournament

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RunnerSeat:
    """A seat as the runner calls it: the address the match began with, and the keys of today."""

    seat: int
    bot_id: str
    owner_id: str
    name: str
    version: str | None
    url: str
    max_calls: int
    secret_generations: tuple[int, ...]  # keys that sign calls to it, see ``bots.signing_generations``


@dataclass(frozen=True, slots=True)
class Loaded:
    """A match as far as it is recorded. ``header`` is for ``Match``; ``lines`` are empty before the first row."""

    id: str
    epoch: int
    status: str
    header: Json
    lines: list[bytes]
    sealed: list[Json]
    players: list[RunnerSeat]
    group_id: str
    group_state: str
    nonces: list[str] | None
    nonce_hashes: list[str] | None
    aliases: list[str]  # by seat: what players are called towards bots in an anonymous match; empty in any other
    seed: bytes = field(repr=False)


def create_match(session: Session, plan: MatchPlan, *, master_key: bytes, group: DealGroup | None = None) -> Match:
    """Arranges one match; raises what ``arrange`` does."""
    (match_id,) = arrange(session, [plan], master_key=master_key, group=group)
    return get_match(session, match_id)


def get_match(session: Session, match_id: str) -> Match:
    match = session.get(Match, match_id)
    if match is None:
        raise NotFound("match", match_id)
    return match


def seats_told(session: Session, found: Sequence[Match]) -> set[str]:
    """The ids of those of these matches whose seats everybody may know now: a bot that knew its rivals could favour
    a friend."""
    hidden = [match for match in found if match.rated and match.status not in deal_groups.ENDED]
    events = {match.tournament_id for match in hidden if match.tournament_id is not None}
    query = select(Tournament.id).where(Tournament.id.in_(events), Tournament.open_seats)
    telling = set(session.scalars(query)) if events else set()
    kept = {match.id for match in hidden if match.tournament_id not in telling}
    return {match.id for match in found} - kept


def seats_of(session: Session, match_ids: Sequence[str]) -> dict[str, list[MatchSeat]]:
    """The seats of each of these matches, in order."""
    seats: dict[str, list[MatchSeat]] = {match_id: [] for match_id in match_ids}
    query = select(MatchSeat).where(MatchSeat.match_id.in_(match_ids)).order_by(MatchSeat.match_id, MatchSeat.seat)
    for seat in session.scalars(query):
        seats[seat.match_id].append(seat)
    return seats


def list_matches(
    session: Session,
    *,
    status: str | None = None,
    bot_id: str | None = None,
    tournament_id: str | None = None,
    stage: int | None = None,
    game: str | None = None,
    open_seats: bool = False,
    limit: int = 50,
    cursor: Cursor | None = None,
) -> Page[Match]:
    """Matches by these filters. With ``open_seats`` only those whose seats everybody may know: a rated match tells
    who plays it when it is over, or at once where its event says so."""
    query = select(Match)
    if open_seats:
        told = Match.tournament_id.in_(select(Tournament.id).where(Tournament.open_seats))
        query = query.where(or_(Match.rated.is_(False), Match.status.in_(deal_groups.ENDED), told))
    filters = (Match.status, status), (Match.tournament_id, tournament_id), (Match.stage, stage), (Match.game, game)
    for column, wanted in filters:
        if wanted is not None:
            query = query.where(column == wanted)
    if bot_id is not None:
        query = query.where(Match.id.in_(select(MatchSeat.match_id).where(MatchSeat.bot_id == bot_id)))
    return newest_first(session, query, Match.created_at, Match.id, limit=limit, cursor=cursor)


def count_running_by_game(session: Session) -> dict[str, int]:
    """Return how many matches are being played of each game that has any."""
    running = select(Match.game, func.count()).where(Match.status == "running").group_by(Match.game)
    return dict(session.execute(running).all())


def cancel(
    session: Session,
    match_id: str,
    reason: str = "cancelled",
    *,
    master_key: bytes,
    whole_group: bool = False,
    by: str | None = None,
) -> Match:
    """Ends a match that is not over, without a result; its runner finds out at its next write.

    One of several in a deal group is cancelled with all of them, which must be wished by ``whole_group`` (else
    ``Conflict``): those that are finished become void, with the same reason.
    """
    match = get_match(session, match_id)
    others = select(func.count()).where(
        Match.group_id == match.group_id, Match.id != match_id, Match.status.not_in(["cancelled", "void"])
    )
    together = session.scalars(others).one()
    if together and not whole_group:
        raise Conflict(f"the match shares its cards with {together} more; cancel them all by whole_group")
    if together and match.status not in deal_groups.ENDED:
        voiding.cancel_group(session, match.group_id, reason, by=by, master_key=master_key)
        return match
    ended = (
        update(Match)
        .where(Match.id == match_id, Match.status.in_(OPEN))
        .values(status="cancelled", reason=reason, finished_at=current_time(session), **revoked(Match))
    )
    if count_changed_rows(session, ended) == 0:
        raise Conflict(f"the match is {get_match(session, match_id).status}")
    match = session.get_one(Match, match_id, populate_existing=True)
    logs.pack_what_there_is(session, match_id)
    deal_groups.close_if_over(session, match.group_id, master_key=master_key)
    return match


def cancel_unbegun(session: Session, bot_id: str, tournament_id: str | None) -> int:
    """Cancels matches of the bot (of one tournament, or all) that nobody has started; tells how many."""
    sits = MatchSeat.bot_id == bot_id
    if tournament_id is not None:  # it leaves the event: nobody is to sit in for it
        sits = or_(sits, MatchSeat.entrant_id == bot_id)
    seated = select(MatchSeat.match_id).where(sits)
    query = select(Match.id).where(Match.id.in_(seated), is_unstarted())
    if tournament_id is not None:
        query = query.where(Match.tournament_id == tournament_id)
    ids = list(session.scalars(query.order_by(Match.id).with_for_update()))
    session.execute(
        update(Match)
        .where(Match.id.in_(ids))
        .values(status="cancelled", reason="bot_withdrawn", finished_at=current_time(session))
    )
    return len(ids)


def revive(session: Session, match_id: str) -> Match:
    """Makes a stuck match due again, as if it had never lost a claim; what is recorded of it stays. For the operator,
    once he has found what cost its runners their lives; in a paused event it waits. Raises ``NotFound``, and
    ``Conflict`` unless it is stuck and its event goes on."""
    match = get_match(session, match_id)
    event = select(Tournament).where(Tournament.id == match.tournament_id).with_for_update()
    tournament = session.scalar(event.execution_options(populate_existing=True))
    if tournament is not None and tournament.status not in ("running", "paused"):
        raise Conflict(f"the event is {tournament.status}; its stuck match can become void, or be cancelled")
    due = "waiting" if tournament is not None and tournament.status == "paused" else "due"
    fresh = {"status": due, "reason": None, "lost_claims": 0, "claims_without_progress": 0}
    revived = update(Match).where(Match.id == match_id, Match.status == "stuck").values(fresh)
    if count_changed_rows(session, revived.values(revoked(Match))) == 0:
        raise Conflict(f"the match is {match.status}, not stuck")
    return session.get_one(Match, match_id, populate_existing=True)


def load(session: Session, match_id: str, *, master_key: bytes) -> Loaded:
    """All that is recorded of a match; the runner replays it and asks the open question again."""
    match = get_match(session, match_id)
    group = deal_groups.get_group(session, match.group_id)
    lines = logs.log_lines(session, match_id)
    players = _players(session, match_id)
    sealed = select(SealedAnswer.answer).where(SealedAnswer.match_id == match_id)
    return Loaded(
        id=match.id,
        epoch=match.epoch,
        status=match.status,
        header=_header(match, players, group) if not lines else _stored_header(lines[0]),
        lines=lines,
        sealed=list(session.scalars(sealed.order_by(SealedAnswer.n, SealedAnswer.seat))),
        players=players,
        group_id=group.id,
        group_state=group.state,
        nonces=group.nonces,
        nonce_hashes=group.nonce_hashes,
        aliases=_aliases(session, match, master_key),
        seed=deal_groups.seed_of(group, master_key),
    )


def players_of(session: Session, bot_ids: Sequence[str]) -> list[RunnerSeat]:
    """These bots, in this order, as they would be called now; ``seat`` is the place in the list."""
    bots = {bot.id: bot for bot in session.scalars(select(Bot).where(Bot.id.in_(bot_ids)))}
    return [_player(bots[bot_id], seat, current_time(session)) for seat, bot_id in enumerate(bot_ids)]


def _players(session: Session, match_id: str) -> list[RunnerSeat]:
    query = select(MatchSeat, Bot).join(Bot, Bot.id == MatchSeat.bot_id).where(MatchSeat.match_id == match_id)
    rows, moment = session.execute(query.order_by(MatchSeat.seat)), current_time(session)
    return [
        replace(
            _player(bot, seat.seat, moment),
            name=seat.bot_name,
            version=seat.version,
            url=seat.url or bot.proven_url or "",
        )
        for seat, bot in rows
    ]


def _aliases(session: Session, match: Match, master_key: bytes) -> list[str]:
    if not _is_anonymous(session, match):
        return []
    seats = select(func.coalesce(MatchSeat.entrant_id, MatchSeat.bot_id)).where(MatchSeat.match_id == match.id)
    entrants = list(session.scalars(seats.order_by(MatchSeat.seat)))
    return aliases(master_key, match.id, entrants)


def _is_anonymous(session: Session, match: Match) -> bool:
    """Return whether bots are not told who their opponents are: in rated matches of a tournament that hides it."""
    open_seats = select(Tournament.open_seats).where(Tournament.id == match.tournament_id)
    return match.rated and session.scalar(open_seats) is False


def _player(bot: Bot, seat: int, moment: datetime) -> RunnerSeat:
    return RunnerSeat(
        seat=seat,
        bot_id=bot.id,
        owner_id=bot.owner_id,
        name=bot.name,
        version=bot.version,
        url=bot.proven_url or "",
        max_calls=bot.max_calls,
        secret_generations=signing_generations(bot, moment),
    )


def _header(match: Match, players: Sequence[RunnerSeat], group: DealGroup) -> Json:
    return new_header(
        match_id=match.id,
        game_name=match.game,
        options=match.options,
        players=[{"bot": one.bot_id, "name": one.name, "version": one.version} for one in players],
        group={"id": group.id, "commitment": group.commitment, "entries": group.entries},
        rated=match.rated,
        limits=Limits(match.budget_ms, match.bank_ms),
    )


def _stored_header(line: bytes) -> Json:
    return {name: value for name, value in parse_row(line).items() if name not in ("type", "row", "prev")}
