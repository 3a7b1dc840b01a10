"""Play unrated matches without a service, with house players in this process, bots at URLs, and logs in memory."""

import hashlib
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Protocol

from referee.botclient.address_guard import Policy, parse_url
from referee.botclient.client import BotCaller, BotSeat, CallLimits, CallTarget
from referee.botclient.match_driver import Ask, drive
from referee.botclient.reply import Reply
from referee.errors import BadOption
from referee.games import game
from referee.house.players import LEVEL_ADDRESSES, NoSuchHousePlayer, find_player, is_house
from referee.house.seat import HouseSeat
from referee.local.problems import Problems
from referee.match.canonical import Json
from referee.match.chance import CommittedChance, commitment
from referee.match.log import reveal_line
from referee.match.match import Answer, Match, Request, new_header
from referee.match.reveal import Reveal
from referee.match.time_limits import Limits
from referee.protocol.messages import DEFAULT_MAX_CONCURRENT_REQUESTS

# Users may call any address that their own machine can reach, so loopback is allowed, unlike in the service.
LOCAL_POLICY = Policy.parse("127.0.0.0/8:1-65535,[::1/128]:1-65535", allow_http=True)

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"


class LocalSeat(Protocol):
    """Define the seat of a bot or of a player in this process. ``last`` is its last question with the reply."""

    last: tuple[bytes, Reply] | None
    error: str  # that it reported with its last answer

    async def ask(self, request: Request) -> Answer: ...
    def close(self) -> None: ...


SeatMaker = Callable[[Json, int], LocalSeat]  # takes the header of a match and the number of the seat


@dataclass(frozen=True, slots=True)
class LocalEntrant:
    """Represent a player, given as ``house:3``, a URL or a file. Names are unique among the entrants."""

    name: str
    source: str
    url: str = ""  # of a started file
    version: str = ""  # from its manifest; empty if the manifest is not fetched
    max_concurrent_requests: int = DEFAULT_MAX_CONCURRENT_REQUESTS

    @property
    def id(self) -> str:
        return local_id("bot", self.name, self.source)

    @property
    def is_house(self) -> bool:
        return is_house(self.source)

    @property
    def file(self) -> Path | None:
        """Return the file to start, or None if the player is not given as a file."""
        return None if self.is_house or "://" in self.source else find_program(self.source)

    @property
    def address(self) -> str:
        """Return the URL to call."""
        return self.url or self.source


@dataclass(frozen=True, slots=True)
class LocalMatchPlan:
    """Hold the terms that all matches of a run share."""

    game: str
    options: Json
    entrants: Sequence[LocalEntrant]
    seed: str
    limits: Limits
    secrets: tuple[str, ...] = ()  # sign the calls to bots; calls are unsigned if there are none
    local_seats: Mapping[str, SeatMaker] = field(default_factory=dict)  # players in this process, by name

    def seating(self, number: int) -> list[LocalEntrant]:
        """Return the entrants of match ``number``, counted from 0, in seat order.

        All move one seat on after each match.
        """
        return [self.entrants[(seat + number) % len(self.entrants)] for seat in range(len(self.entrants))]


@dataclass(frozen=True, slots=True)
class PlannedMatch:
    """Describe a match to play, with its deal and its entrants in seat order.

    ``dice`` seeds the choices of house players.
    """

    match_id: str
    seated: Sequence[LocalEntrant]
    group_id: str
    seed: bytes
    dice: str


@dataclass(slots=True)
class LocalResult:
    """Hold a finished match: its complete log, its header and result rows, and the problems of each seat, which the
    log does not fully contain."""

    header: Json
    result: Json
    lines: list[bytes] = field(repr=False)
    problems: list[Problems]

    @property
    def names(self) -> list[str]:
        """Return the names of the players, by seat."""
        return [player["name"] for player in self.header["players"]]


def make_plan(
    game_name: str,
    entrants: Sequence[LocalEntrant],
    options: Json,
    seed: str,
    limits: Limits,
    *,
    seats: int,
    secrets: tuple[str, ...] = (),
) -> LocalMatchPlan:
    """Return a plan for tables of ``seats`` seats. Raise ``NoSuchGame`` or ``BadOption`` if it cannot be played."""
    rules = game(game_name)
    complete = rules.complete_options(seats, options)
    rules.start(seats, complete)
    return LocalMatchPlan(game_name, complete, entrants, seed, limits, secrets)


def parse_entrants(sources: Sequence[str]) -> list[LocalEntrant]:
    """Return the entrants for these sources. Number equal names. Raise ``BadOption`` or ``UrlRefused``."""
    sources = [_address_of_house_player(source) if is_house(source) else source for source in sources]
    labels = [_label(source) for source in sources]
    named = []
    for index, (label, source) in enumerate(zip(labels, sources, strict=True)):
        number = labels[: index + 1].count(label)
        named.append(LocalEntrant(label if labels.count(label) == 1 else f"{label} {number}", source))
    return named


async def play_numbered_match(plan: LocalMatchPlan, number: int) -> LocalResult:
    """Play match ``number`` of the plan, counted from 0. House players make the same choices for the same seed.

    As many successive matches as there are players share a deal, with all players moved on by one seat each time.
    """
    deal = number // len(plan.entrants)
    # The figures of docs/strategies follow from these texts.
    seed = hashlib.sha256(f"referee.play|{plan.seed}|{deal}".encode()).digest()
    ids = local_id("mat", "function", plan.seed, number), local_id("grp", "function", plan.seed, deal)
    return await play_match(plan, PlannedMatch(ids[0], plan.seating(number), ids[1], seed, f"{plan.seed}|{number}"))


async def play_match(plan: LocalMatchPlan, planned: PlannedMatch, limits: CallLimits | None = None) -> LocalResult:
    """Play one match. Pass the same ``limits`` to all matches that may call the same bots."""
    seated, group_id = planned.seated, planned.group_id
    header = new_header(
        match_id=planned.match_id,
        game_name=plan.game,
        options=plan.options,
        players=[{"bot": entrant.id, "name": entrant.name, "version": entrant.version} for entrant in seated],
        group={
            "id": group_id,
            "commitment": commitment(planned.seed, group_id),
            "entries": [entrant.id for entrant in seated],
        },
        limits=plan.limits,
    )
    reveal = Reveal.without_nonces(planned.seed, len(seated))
    match = Match(header, CommittedChance(planned.seed, group_id, reveal.nonces))
    match.begin()
    return await play_to_end(match, planned, plan.secrets, reveal.to_json(), limits, plan.local_seats)


async def play_to_end(
    match: Match,
    planned: PlannedMatch,
    secrets: tuple[str, ...],
    revealed: Json,
    limits: CallLimits | None = None,
    local_seats: Mapping[str, SeatMaker] | None = None,
) -> LocalResult:
    """Play a match from its current position to its end. Complete its log with a reveal row of these members."""
    table = _LocalTable(match.header, planned, secrets, limits or CallLimits(), local_seats or {})
    try:
        await drive(match, table.ask, table.record)
    finally:
        table.close()
    for seat in match.retired:
        table.problems[seat].retired = 1
    end = reveal_line(len(match.lines), match.lines[-1], revealed)
    return LocalResult(match.header, match.log.rows[-1], [*match.lines, end], table.problems)


class _LocalTable:
    """Ask the players of one match, and record the ``problems`` of each seat."""

    def __init__(
        self,
        header: Json,
        planned: PlannedMatch,
        secrets: tuple[str, ...],
        limits: CallLimits,
        local_seats: Mapping[str, SeatMaker],
    ) -> None:
        self.problems = [Problems() for _ in planned.seated]
        self._bots: dict[int, LocalSeat] = {}
        self._phases: dict[int, str] = {}  # phase of the last question, by seat
        self._seats: list[Ask] = []
        for seat, entrant in enumerate(planned.seated):
            if entrant.is_house:
                self._seats.append(_house_seat(entrant, header["game"], f"{planned.dice}|{seat}").ask)
                continue
            if entrant.name in local_seats:
                self._bots[seat] = local_seats[entrant.name](header, seat)
            else:
                target = CallTarget(entrant.id, entrant.address, secrets, entrant.max_concurrent_requests)
                self._bots[seat] = BotSeat(BotCaller(target, LOCAL_POLICY, limits), header, seat)
            self._seats.append(self._bots[seat].ask)

    async def ask(self, request: Request) -> Answer:
        self._phases[request.seat] = request.observation["phase"]
        return await self._seats[request.seat](request)

    def record(self, match: Match, _rows: list[Json], answer: Answer) -> Awaitable[None]:
        """Record the problems of an answer. The rows are not stored, since the match keeps its log in memory."""
        bot = self._bots.get(answer.seat)
        if bot and bot.last:
            problems, (_, reply) = self.problems[answer.seat], bot.last
            problems.record_decision(self._phases[answer.seat], reply, match.last_fault, bot.error)
        return _discard_rows()

    def close(self) -> None:
        for bot in self._bots.values():
            bot.close()


def _house_seat(entrant: LocalEntrant, game_name: str, seed: str) -> HouseSeat:
    dice = Random(seed)  # noqa: S311  # for the player's choices, not for cards
    return HouseSeat(entrant.source, game_name, lambda _: dice)


async def _discard_rows() -> None:
    """Do nothing, because the log stays in memory."""


def local_id(prefix: str, *parts: object) -> str:
    """Return an id in the form of the service, ``prefix_`` and 26 characters, derived from a hash of ``parts``."""
    number = int.from_bytes(hashlib.sha256("|".join(map(str, parts)).encode()).digest()[:16], "big")
    return f"{prefix}_" + "".join(_DIGITS[number >> shift & 31] for shift in range(125, -1, -5))


def find_program(source: str) -> Path | None:
    """Return the bot file at a path: the file itself, or ``bot.…`` in a folder, or None if there is no such file."""
    path = Path(source)
    if path.is_dir():
        return next((found for found in sorted(path.glob("bot.*")) if found.is_file()), None)
    return path if path.is_file() else None


def _label(source: str) -> str:
    if is_house(source):
        return source
    if "://" in source:
        return parse_url(source, LOCAL_POLICY).url
    if find_program(source) is None:
        raise BadOption(
            "players",
            f"{source!r} is not a player. Pass the URL of a bot (http://…), its file (no such file exists), or one of "
            f"{', '.join(LEVEL_ADDRESSES)}.",
        )
    parts = Path(os.path.normpath(source)).parts
    alone = not parts[-1].startswith("bot.")  # the name bot.py alone would not distinguish bots
    return "/".join(parts[-1:] if alone else parts[-2:])


def _address_of_house_player(source: str) -> str:
    try:
        return find_player(source).address()
    except NoSuchHousePlayer as error:
        raise BadOption("players", str(error)) from None
