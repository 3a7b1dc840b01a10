"""Load what a runner needs to begin or resume a match."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from referee.bots.bots import signing_generations
from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.db.prepared import Prepared
from referee.errors import NotFound
from referee.match.log import LINK_MEMBERS, parse_row
from referee.match.match import new_header
from referee.match.time_limits import Limits
from referee.matches.deals import deal_groups
from referee.matches.logs import logs
from referee.matches.states import DealGroupState, MatchState
from referee.matches.tables import DealGroup, MatchSeat, SealedAnswer, StoredMatch
from referee.protocol.aliases import aliases
from referee.tournaments.tables import Tournament

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RunnerSeat:
    """Describe a seat and how to call its bot: at the address stored when the match started, with the current keys."""

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
    """Hold a match with all recorded rows. ``header`` is row 0 of its log; ``lines`` is empty before the first row."""

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
    aliases: list[str]  # by seat: ids that bots see instead of bot ids in an anonymous match; otherwise empty
    interrupted: Json | None  # see ``StoredMatch``
    seed: bytes = field(repr=False)
    master_key: bytes = field(repr=False)  # with which the match began


def load_match(session: Session, match_id: str, *, master_key: bytes) -> LoadedMatch:
    """Return a match as recorded. The runner replays it and repeats the open question.

    Raise ``NotFound`` if there is no such match.
    """
    found = _MATCH.rows(session, {"of": match_id})
    if not found:
        raise NotFound("match", match_id)
    match = _MatchRow(*found[0])
    lines = logs.log_lines(session, match_id) if match.rows else []
    seats = [_SeatRow(*row) for row in _SEATED.rows(session, {"of": match_id})]
    moment = current_time(session)
    players = [_runner_seat(seat, seat.seat, seat.bot_id, seat.bot_name, seat.url, moment) for seat in seats]
    seed, key = deal_groups.unseal_with_key(match.group_id, match.seed_sealed, match.commitment, master_key)
    return LoadedMatch(
        id=match_id,
        epoch=match.epoch,
        status=match.status,
        header=_header(match_id, match, players) if not lines else _stored_header(lines[0]),
        lines=lines,
        sealed=[answer for (answer,) in _SEALED_ANSWERS.rows(session, {"of": match_id})],
        players=players,
        group_id=match.group_id,
        group_state=match.state,
        nonces=match.nonces,
        aliases=_aliases(match_id, match, seats, key),
        interrupted=match.interrupted,
        seed=seed,
        master_key=key,
    )


def load_players(session: Session, bot_ids: Sequence[str]) -> list[RunnerSeat]:
    """Return these bots in this order, with their current addresses and keys. ``seat`` is the index in the list."""
    bots = {bot.id: bot for bot in session.scalars(select(Bot).where(Bot.id.in_(bot_ids)))}
    moment = current_time(session)
    return [
        _runner_seat(bots[bot_id], seat, bot_id, bots[bot_id].name, None, moment) for seat, bot_id in enumerate(bot_ids)
    ]


def _runner_seat(
    of: "Bot | _SeatRow", seat: int, bot_id: str, name: str, url: str | None, moment: datetime
) -> RunnerSeat:
    """Return a seat. Its address is ``url``, with which the match started, or that of the bot now."""
    address, generations = url or of.verified_url or "", signing_generations(of, moment)
    return RunnerSeat(seat, bot_id, of.owner_id, name, of.version, address, of.max_concurrent_requests, generations)


def _aliases(match_id: str, match: "_MatchRow", seats: Sequence["_SeatRow"], master_key: bytes) -> list[str]:
    """Return the aliases of the bots in a rated match of an anonymous tournament, or [] for other matches."""
    if not (match.rated and match.anonymous):
        return []
    return aliases(master_key, match_id, [seat.entrant_id or seat.bot_id for seat in seats])


def _header(match_id: str, match: "_MatchRow", players: Sequence[RunnerSeat]) -> Json:
    return new_header(
        match_id=match_id,
        game_name=match.game,
        options=match.options,
        players=[{"bot": player.bot_id, "name": player.name, "version": player.version} for player in players],
        group={"id": match.group_id, "commitment": match.commitment, "entries": match.entries},
        rated=match.rated,
        limits=Limits(match.budget_ms, match.bank_ms),
    )


def _stored_header(line: bytes) -> Json:
    return {name: value for name, value in parse_row(line).items() if name not in LINK_MEMBERS}


class _MatchRow(NamedTuple):
    """Hold columns of a match and its deal group. ``anonymous`` is None if the match has no tournament."""

    epoch: int
    status: MatchState
    game: str
    options: Json
    budget_ms: int
    bank_ms: int
    rated: bool
    rows: int
    interrupted: Json | None
    group_id: str
    state: DealGroupState
    seed_sealed: bytes
    commitment: str
    entries: list[str]
    nonces: list[str] | None
    anonymous: bool | None


class _SeatRow(NamedTuple):
    """Hold columns of a seat and of its bot."""

    seat: int
    bot_id: str
    entrant_id: str | None
    bot_name: str
    version: str | None
    url: str | None
    owner_id: str
    verified_url: str | None
    max_concurrent_requests: int
    secret_generation: int
    previous_secret_until: datetime | None


_MATCHES, _GROUPS, _TOURNAMENTS, _SEATS, _BOTS, _SEALED = (
    model.__table__ for model in (StoredMatch, DealGroup, Tournament, MatchSeat, Bot, SealedAnswer)
)
_MATCH: Final = Prepared(
    select(
        *(_MATCHES.c[name] for name in _MatchRow._fields[:10]),
        *(_GROUPS.c[name] for name in _MatchRow._fields[10:15]),
        _TOURNAMENTS.c.anonymous,
    )
    .select_from(
        _MATCHES.join(_GROUPS, _GROUPS.c.id == _MATCHES.c.group_id).outerjoin(
            _TOURNAMENTS, _TOURNAMENTS.c.id == _MATCHES.c.tournament_id
        )
    )
    .where(_MATCHES.c.id == bindparam("of"))
)
_SEATED: Final = Prepared(
    select(*(_SEATS.c[name] for name in _SeatRow._fields[:6]), *(_BOTS.c[name] for name in _SeatRow._fields[6:]))
    .join_from(_SEATS, _BOTS, _BOTS.c.id == _SEATS.c.bot_id)
    .where(_SEATS.c.match_id == bindparam("of"))
    .order_by(_SEATS.c.seat)
)
_SEALED_ANSWERS: Final = Prepared(
    select(_SEALED.c.answer).where(_SEALED.c.match_id == bindparam("of")).order_by(_SEALED.c.n, _SEALED.c.seat)
)
