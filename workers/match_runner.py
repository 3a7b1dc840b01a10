"""One claimed match from the record to its result: nonces, questions, rows, the end, and who is told of it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace

from referee.botclient import client
from referee.botclient.address_guard import Policy
from referee.botclient.client import BotCaller, BotSeat, CallLimits, Target
from referee.botclient.match_driver import drive
from referee.bots import house_bots
from referee.errors import BadLog, RefereeError, StaleEpoch, Unavailable
from referee.house.seat import HouseSeat
from referee.match.canonical import Json
from referee.match.chance import CommittedChance
from referee.match.log import digest
from referee.match.match import FAULTS, Answer, Match, Request
from referee.matches import deal_groups
from referee.matches.claims import Claim
from referee.matches.recording import Evidence, MatchUpdate, Sealed
from referee.protocol import messages
from referee.protocol.signing import bot_secrets
from referee.workflows import health, match_end, match_loading
from referee.workflows.match_loading import Loaded, RunnerSeat
from workers.batch_writer import RETRY_S, Recorder
from workers.connectivity import Uplink, is_unconnected
from workers.house_seat import dice_of_match

log = logging.getLogger(__name__)

NONCE_MS = 3_000  # for each of the two steps of a group's start
NOTICE_MS = 2_000
UNCLEAR_S = 0.1  # between two looks whether others can be reached
OPENING_S = 0.2  # between two looks at a group that another runner opens


class HandedOver(RefereeError):
    """The runner stops: the match goes on elsewhere from what is recorded."""


@dataclass(frozen=True, slots=True)
class Playing:
    """A claimed match and what is needed to play it."""

    claim: Claim
    recorder: Recorder
    policy: Policy
    limits: CallLimits
    master_key: bytes
    stopping: Callable[[], bool]
    uplink: Uplink
    hold: Callable[[], AbstractContextManager[None]]  # keeps the claim ours while the block runs
    announce: Callable[[], None]  # tells those who watch that the record has changed

    def caller(self, player: RunnerSeat) -> BotCaller:
        """A connection of its own to a bot."""
        keys = bot_secrets(self.master_key, player.bot_id, player.secret_generations)
        return BotCaller(
            Target(player.bot_id, player.url, keys, player.max_concurrent_requests), self.policy, self.limits
        )


async def play(playing: Playing) -> bool:
    """Plays to the end; False when the match was ended or claimed by others meanwhile.

    Raises ``HandedOver`` when the runner stops, ``Unavailable`` when bots cannot be called or the record not read.
    """
    try:
        # The claim is let go before the result is stored, which checks it once more: afterwards the match is
        # nobody's, and whoever renews claims would take that for a loss.
        with playing.hold():
            loaded = await _load_when_dealt(playing)
            table = _Table(playing, loaded)
            await table.play()
        await table.finish()
        playing.announce()
    except StaleEpoch as error:
        log.info("match is another's now", extra={"match": playing.claim.match_id, "reason": str(error)})
        return False
    await _tell_the_end(playing, loaded, table)
    return True


# -- the nonces of the deal group --


async def _load_when_dealt(playing: Playing) -> Loaded:
    """The match as recorded, once its deal group is open: by us, or by whoever plays another of its matches."""
    while True:
        loaded = await playing.recorder.read(match_loading.load, playing.claim.match_id, master_key=playing.master_key)
        if loaded.group_state != "new":
            return loaded
        opening = await playing.recorder.write(deal_groups.claim_opening, loaded.group_id)
        if opening is None:
            await asyncio.sleep(OPENING_S)
        elif gathered := await _gather_nonces(playing, opening, await _entries(playing, loaded)):
            hashes, nonces = gathered
            loaded = replace(loaded, group_state="open", nonce_hashes=hashes, nonces=nonces)
            if not playing.stopping():
                return loaded
        if playing.stopping():
            raise HandedOver("told to stop")


async def _entries(playing: Playing, loaded: Loaded) -> Sequence[RunnerSeat]:
    """The bots of the deal group, in entry order; nearly always those of this match."""
    entries = loaded.header["group"]["entries"]
    if entries == [player.bot_id for player in loaded.players]:
        return loaded.players
    return await playing.recorder.read(match_loading.players_of, entries)


async def _gather_nonces(
    playing: Playing, opening: deal_groups.Opening, players: Sequence[RunnerSeat]
) -> tuple[list[str], list[str]] | None:
    """1. Everybody's hash, recorded. 2. Everybody is shown all hashes and gives the nonce; one that does not fit
    its hash counts as none. 3. All are recorded before anything is drawn.

    Gives hashes and nonces; None when another opens the group meanwhile.
    """
    group_id, epoch = opening.group_id, opening.epoch
    callers = [None if house_bots.is_house(player.url) else playing.caller(player) for player in players]
    try:
        hashes = opening.nonce_hashes
        if hashes is None:
            body = messages.group_start_body(group_id, opening.commitment)
            told = await _ask_all(callers, body, f"{group_id}_hash", messages.read_nonce_hash)
            hashes = await playing.recorder.write(deal_groups.record_nonce_hashes, group_id, epoch, told)
        body = messages.group_start_body(group_id, opening.commitment, hashes)
        told = await _ask_all(callers, body, f"{group_id}_nonce", messages.read_nonce)
        nonces = [
            nonce if nonce and digest(nonce.encode()) == promised else ""
            for nonce, promised in zip(told, hashes, strict=True)
        ]
        await playing.recorder.write(deal_groups.open_group, group_id, epoch, nonces)
    except StaleEpoch:
        log.info("group is opened by another", extra={"group": group_id})
        return None
    except asyncio.CancelledError:
        # All matches of the group wait for this: whoever takes one next shall not have to wait for the lease too.
        with suppress(Unavailable):
            await playing.recorder.write(deal_groups.give_back_opening, group_id, epoch)
        raise
    finally:
        for caller in callers:
            if caller is not None:
                caller.close()
    return hashes, nonces


async def _ask_all(
    callers: Sequence[BotCaller | None], body: bytes, id: str, read: Callable[[bytes], str]
) -> list[str]:
    """What each bot says, "" where it says nothing that can be used, or is none to be called."""

    async def ask(place: int, caller: BotCaller | None) -> str:
        if caller is None:
            return ""
        reply = await client.notify(caller, body, f"{id}_{place}", NONCE_MS)
        try:
            return read(reply.body) if reply.ok else ""
        except messages.BadBody:
            return ""

    return list(await asyncio.gather(*(ask(place, caller) for place, caller in enumerate(callers))))


# -- the match --


class _Table:
    """A match with its bots in their seats."""

    def __init__(self, playing: Playing, loaded: Loaded) -> None:
        self._playing = playing
        self._loaded = loaded
        self._chance = CommittedChance(loaded.seed, loaded.group_id, loaded.nonces or [])
        sealed = [Answer.from_json(stored) for stored in loaded.sealed]
        self.match = Match.resume(loaded.header, self._chance, loaded.lines, sealed)
        self.seats = [_seat(playing, loaded, player) for player in loaded.players]
        self._recorded = len(loaded.lines)
        self._cut_off: set[int] = set()  # seats asked again although they may have read the question
        self._tail: MatchUpdate | None = None  # rows that are stored with the result

    async def play(self) -> None:
        """Drives the match to its end."""
        try:
            await self._play()
        finally:
            for seat in self.seats:
                seat.close()

    async def finish(self) -> None:
        """Stores the result, once the whole log has been checked against the rules.

        While the record cannot be written this waits: giving the match back would ask its last question again.
        """
        await asyncio.to_thread(self._replay)
        tail = self._tail or self._record(evidence=[])
        state = self.match.state
        outcome = match_end.MatchResult(state.placements(), state.returns(), state.scores(), self.match.faults)
        stored = False
        while not stored:
            try:
                await self._playing.recorder.write(
                    health.finish, tail, outcome, master_key=self._playing.master_key, sour=self._unreachable_seats()
                )
                stored = True
            except Unavailable as error:
                log.warning("result not stored, trying again", extra={"match": tail.match_id, "reason": str(error)})
                await asyncio.sleep(RETRY_S)

    async def _play(self) -> None:
        if not self.match.over and self._recorded < len(self.match.lines):
            await self._playing.recorder.write_durably(self._record(evidence=[]))
        await drive(self.match, self._ask, self._note)

    def _unreachable_seats(self) -> set[int]:
        """Seats that were given up: not asked any more, or at an address that may not be called."""
        refused = {row["seat"] for row in self.match.log.rows if row.get("fault") == "egress_denied"}
        return self.match.retired | refused

    def _replay(self) -> None:
        """Plays the whole log once more: what depends on anything but the record must not become a result."""
        again = Match.resume(self._loaded.header, self._chance, self.match.lines)
        if again.lines != self.match.lines:
            raise BadLog(len(again.lines), f"match {self._loaded.id} does not replay")

    async def _ask(self, request: Request) -> Answer:
        """The seat's answer. While our own line is down the question is asked again and again, at no charge.

        Whoever may have read the question is let off once a match: bots of three owners that hang up together and
        refuse to be called would else think as long as they please.
        """
        seat, uplink = self.seats[request.seat], self._playing.uplink
        owner_id = self._loaded.players[request.seat].owner_id
        while True:
            uplink.calling(owner_id)
            answer = await seat.ask(request)
            if seat.last is None:  # a house player in this process
                await asyncio.sleep(0)  # a table of house players alone must let other matches have their turn
                return answer
            if not is_unconnected(seat.last[1]):
                uplink.record_success()
                return answer
            failed_at = uplink.record_failure(owner_id)
            if seat.last[1].sent and request.seat in self._cut_off:
                return answer
            if await self._is_its_fault(failed_at):
                return answer
            if seat.last[1].sent:
                self._cut_off.add(request.seat)

    async def _is_its_fault(self, failed_at: float) -> bool:
        uplink = self._playing.uplink
        while (verdict := uplink.verdict(failed_at)) == "unclear":
            await self._rest(UNCLEAR_S)
        if verdict == "down":
            log.warning("nobody can be reached, asking again", extra={"match": self._loaded.id})
            await self._rest(uplink.probe_s)
        return verdict == "fault"

    async def _rest(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        if self._playing.stopping():
            raise HandedOver("told to stop")

    def _note(self, match: Match, rows: list[Json], answer: Answer) -> Awaitable[None]:
        """Writes an answer down before anything comes of it."""
        evidence = self._evidence(answer.seat, rows)
        sealed = [] if rows else [Sealed(match.n, answer.seat, answer.to_json())]
        record = self._record(evidence, sealed)
        if match.over:
            self._tail = record
        return self._write_update(record)

    async def _write_update(self, record: MatchUpdate) -> None:
        if record is self._tail:  # stored with the result
            return
        await self._playing.recorder.write_durably(record)
        if self._playing.stopping():
            raise HandedOver("told to stop")

    def _record(self, evidence: Sequence[Evidence], sealed: Sequence[Sealed] = ()) -> MatchUpdate:
        """What is not recorded yet."""
        start, self._recorded = self._recorded, len(self.match.lines)
        new = self.match.log.rows[start:]
        points = [row["n"] for row in new if row["type"] == "decision"]
        return MatchUpdate(
            match_id=self._loaded.id,
            epoch=self._playing.claim.epoch,
            start=start,
            lines=self.match.lines[start:],
            sealed=sealed,
            unsealed=sorted({n for n in points if points.count(n) > 1}),
            evidence=evidence,
        )

    def _evidence(self, seat: int, rows: Sequence[Json]) -> list[Evidence]:
        """What the owner of a bot gets to see of a fault."""
        fault, call = self.match.last_fault, self.seats[seat].last
        if not fault or call is None:
            return []
        body, reply = call
        return [
            Evidence(
                n=rows[0]["n"] if rows else self.match.n,
                seat=seat,
                bot_id=self._loaded.players[seat].bot_id,
                code=fault,
                detail=reply.detail or FAULTS[fault],
                request=body,
                reply=reply.body,
                timing={**timing_fields(reply), "attempts": reply.attempts, "status": reply.status},
            )
        ]


def _seat(playing: Playing, loaded: Loaded, player: RunnerSeat) -> BotSeat | HouseSeat:
    if house_bots.is_house(player.url):
        name = house_bots.player_name(player.url)
        return HouseSeat(name, loaded.header["game"], dice_of_match(loaded.id, playing.master_key))
    return BotSeat(playing.caller(player), loaded.header, player.seat, loaded.aliases)


def timing_fields(reply: client.Reply) -> Json:
    """Where the time of a call went, in milliseconds."""
    timing = reply.timing
    return {
        "total_ms": reply.ms,
        "dns_ms": timing.dns_ms,
        "connect_ms": timing.connect_ms,
        "wait_ms": timing.wait_ms,
        "read_ms": timing.read_ms,
    }


# -- after the end --


async def _tell_the_end(playing: Playing, loaded: Loaded, table: _Table) -> None:
    """Tells the seats the result and, when the deal group is over, its seed. Nothing depends on their answers."""
    rows = table.match.log.rows
    tellers = []
    for player in _remote_players(loaded.players):
        facts = messages.match_facts(loaded.header, player.seat)
        body = messages.match_end_body(facts, rows[-1], messages.faults_of(rows, player.seat))
        tellers.append(_tell(playing, player, body, f"{loaded.id}_end_{player.seat}"))
    await asyncio.gather(*tellers)
    revealed = await playing.recorder.read(deal_groups.reveal_of, loaded.group_id, playing.master_key)
    if revealed is not None:
        group = loaded.header["group"]
        body = messages.group_end_body(group["id"], group["commitment"], revealed["seed"], revealed["nonces"])
        entries = await _entries(playing, loaded)
        await asyncio.gather(
            *(
                _tell(playing, player, body, f"{group['id']}_end_{place}")
                for place, player in enumerate(_remote_players(entries))
            )
        )


def _remote_players(players: Sequence[RunnerSeat]) -> list[RunnerSeat]:
    """Those that are reached over HTTP."""
    return [player for player in players if not house_bots.is_house(player.url)]


async def _tell(playing: Playing, player: RunnerSeat, body: bytes, id: str) -> None:
    caller = playing.caller(player)
    try:
        await client.notify(caller, body, id, NOTICE_MS)
    finally:
        caller.close()
