"""Load what a runner needs to begin or resume a match."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.bots.bots import signing_generations
from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.match.log import parse_row
from referee.match.match import new_header
from referee.match.time_limits import Limits
from referee.matches import deal_groups, logs, matches
from referee.matches.states import DealGroupState, MatchState
from referee.matches.tables import DealGroup, MatchSeat, SealedAnswer, StoredMatch
from referee.protocol.aliases import aliases
from referee.tournaments.tables import Tournament

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RunnerSeat:
    """Describe a seat and how to call its bot: with the address stored when the match started, and the current keys."""

    seat: int
    bot_id: str
    owner_id: str
    name: str
    version: str | None
    url: str
    max_concurrent_requests: int
    secret_generations: tuple[int, ...]  # generations of its secrets, from ``bots.signing_generations``


@dataclass(frozen=True, slots=True)
class LoadedMatch:
    """Hold a match with all recorded rows. ``header`` is that of its log; ``lines`` is empty before the first row."""

    id: str
    epoch: int
    status: MatchState
    header: Json
    lines: list[bytes]
    sealed: list[Json]
    players: list[RunnerSeat]
    group_id: str
    group_state: DealGroupState
    nonces: list[str] | None
    nonce_hashes: list[str] | None
    aliases: list[str]  # by seat: ids that bots see instead of bot ids in an anonymous match; otherwise empty
    seed: bytes = field(repr=False)


def load_match(session: Session, match_id: str, *, master_key: bytes) -> LoadedMatch:
    """Return a match as recorded. The runner replays it and repeats the open question. Raise ``NotFound``."""
    match = matches.get_match(session, match_id)
    group = deal_groups.get_group(session, match.group_id)
    lines = logs.log_lines(session, match_id)
    players = _load_match_players(session, match_id)
    sealed = select(SealedAnswer.answer).where(SealedAnswer.match_id == match_id)
    return LoadedMatch(
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
        seed=deal_groups.unseal_seed_of_group(group, master_key),
    )


def load_players(session: Session, bot_ids: Sequence[str]) -> list[RunnerSeat]:
    """Return these bots, in this order, with their current addresses and keys; ``seat`` is the index in the list."""
    bots = {bot.id: bot for bot in session.scalars(select(Bot).where(Bot.id.in_(bot_ids)))}
    return [_runner_seat(bots[bot_id], seat, current_time(session)) for seat, bot_id in enumerate(bot_ids)]


def _load_match_players(session: Session, match_id: str) -> list[RunnerSeat]:
    query = select(MatchSeat, Bot).join(Bot, Bot.id == MatchSeat.bot_id).where(MatchSeat.match_id == match_id)
    rows, moment = session.execute(query.order_by(MatchSeat.seat)), current_time(session)
    return [
        replace(
            _runner_seat(bot, seat.seat, moment),
            name=seat.bot_name,
            version=seat.version,
            url=seat.url or bot.verified_url or "",
        )
        for seat, bot in rows
    ]


def _aliases(session: Session, match: StoredMatch, master_key: bytes) -> list[str]:
    if not _is_anonymous(session, match):
        return []
    seats = select(func.coalesce(MatchSeat.entrant_id, MatchSeat.bot_id)).where(MatchSeat.match_id == match.id)
    entrants = list(session.scalars(seats.order_by(MatchSeat.seat)))
    return aliases(master_key, match.id, entrants)


def _is_anonymous(session: Session, match: StoredMatch) -> bool:
    """Return whether opponents are hidden from bots, as in rated matches of an anonymous tournament."""
    anonymous = select(Tournament.anonymous).where(Tournament.id == match.tournament_id)
    return match.rated and session.scalar(anonymous) is True


def _runner_seat(bot: Bot, seat: int, moment: datetime) -> RunnerSeat:
    return RunnerSeat(
        seat=seat,
        bot_id=bot.id,
        owner_id=bot.owner_id,
        name=bot.name,
        version=bot.version,
        url=bot.verified_url or "",
        max_concurrent_requests=bot.max_concurrent_requests,
        secret_generations=signing_generations(bot, moment),
    )


def _header(match: StoredMatch, players: Sequence[RunnerSeat], group: DealGroup) -> Json:
    return new_header(
        match_id=match.id,
        game_name=match.game,
        options=match.options,
        players=[{"bot": player.bot_id, "name": player.name, "version": player.version} for player in players],
        group={"id": group.id, "commitment": group.commitment, "entries": group.entries},
        rated=match.rated,
        limits=Limits(match.budget_ms, match.bank_ms),
    )


def _stored_header(line: bytes) -> Json:
    return {name: value for name, value in parse_row(line).items() if name not in ("type", "row", "prev")}
