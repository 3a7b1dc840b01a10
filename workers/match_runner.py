"""Play one claimed match: open its deal group, ask the bots, record rows and the result, and notify the bots."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress

from referee.botclient import client
from referee.botclient.client import BotSeat
from referee.botclient.match_driver import drive
from referee.botclient.reply import Reply
from referee.db.leases import LEASE_S
from referee.errors import BadLog, NoAuthorities, StaleEpoch, Unavailable
from referee.house.players import is_house
from referee.house.seat import HouseSeat, match_random
from referee.match.canonical import Json
from referee.match.chance import CommittedChance
from referee.match.match import FAULTS, Answer, Match, Request
from referee.matches.logs import logs
from referee.matches.logs.recording import NO_DELAYS, BotError, FaultReport, MatchUpdate, PendingAnswer
from referee.metrics import catalog
from referee.protocol import messages
from referee.workflows.ending import match_end
from referee.workflows.ending.deal_group_closing import ClosedGroup
from referee.workflows.ending.match_loading import LoadedMatch, RunnerSeat
from workers import deal_opening
from workers.clock_watch import Reading
from workers.connectivity import is_unconnected
from workers.forced_waits import ForcedWaits
from workers.match_context import HandedOver, MatchContext

log = logging.getLogger(__name__)

NOTICE_MS = 2_000
SEALED_DELAY_S = 0.05  # time for the other answers to a question before an answer is stored sealed
CONFIRM_CLAIM_S = LEASE_S / 3  # age of the last write after which a claim is confirmed before a question


async def play_match(context: MatchContext) -> bool:
    """Play the match to its end.

    Return False if others ended or claimed it meanwhile. Raise ``HandedOver`` if the runner stops, and ``Unavailable``
    if our network or the database is down.
    """
    try:
        # Stop renewing the claim before storing the result. Storing verifies the claim once more and ends it, which the
        # lease renewer would mistake for a lost claim.
        with context.keep_claim():
            loaded = await deal_opening.load_when_dealt(context)
            table = _MatchSession(context, loaded)
            await table.play()
        end = await table.finish()
        context.notify_spectators()
        await _notify_end(context, loaded, table, end.closed)
        return True
    except StaleEpoch as error:
        log.info("claim_lost", extra={"match": context.claim.match_id, "reason": str(error)})
        return False
    finally:
        context.close_connections()


# -- the match --


class _MatchSession:
    """Play a match with the bots in its seats and record it."""

    def __init__(self, context: MatchContext, loaded: LoadedMatch) -> None:
        self._context = context
        self._loaded = loaded
        self._chance = CommittedChance(loaded.seed, loaded.group_id, loaded.nonces or [])
        sealed = [Answer.from_json(stored) for stored in loaded.sealed]
        self.match = Match.resume(loaded.header, self._chance, loaded.lines, sealed)
        self.seats = [self._create_seat(player) for player in loaded.players]
        self._recorded = len(loaded.lines)
        self._bot_errors: list[BotError] = []  # reported since the last update
        self._has_sealed = bool(loaded.sealed)  # whether answers to the open question are stored sealed
        self._last_answer = asyncio.Event()  # to the open question; set when its answers have become rows
        self._written_at_s = float("-inf")  # when the last write began that verified the claim
        self._cut_off: set[int] = set()  # seats that were asked again although they may have read the question
        self._last_update: MatchUpdate | None = None  # rows that are stored with the result
        self._house_answers = 0  # not counted yet
        self._decisions = 0  # in this claim; not counted yet
        self._forced_waits = self._create_waits()

    async def play(self) -> None:
        """Play the match to its end."""
        if not self.match.over and self._recorded < len(self.match.lines):
            await self._write_update(self._next_update(fault_reports=[]))
        try:
            await drive(self.match, self._ask, self._record)
        finally:
            self._context.count_decisions(self._decisions)
            if self._house_answers:
                self._context.metrics.count(catalog.DECISIONS, "house", by=self._house_answers)

    def _create_seat(self, player: RunnerSeat) -> BotSeat | HouseSeat:
        loaded = self._loaded
        if is_house(player.url):
            return HouseSeat(player.url, loaded.header["game"], match_random(loaded.id, loaded.master_key))
        caller = self._context.caller(player)
        return BotSeat(caller, loaded.header, player.seat, loaded.aliases)

    def _create_waits(self) -> ForcedWaits | None:
        waits = self._context.forced_move_waits
        if waits == "all" or (waits == "rated" and self._loaded.header["rated"]):
            return ForcedWaits(self.match, self._context.response_times)
        return None

    async def finish(self) -> match_end.MatchEnd:
        """Verify the log by replaying the recorded rows, then store the result and return it."""
        tail = self._last_update or self._next_update(fault_reports=[])
        recorded = await self._context.database.read(logs.recorded_lines, self._loaded.id)
        self._replay([*recorded, *tail.lines])
        state = self.match.state
        outcome = match_end.MatchResult(state.placements(), state.returns(), state.scores(), self.match.faults)
        ended = match_end.FinishedMatch(tail, recorded, outcome, self._unreachable_seats())
        return await self._context.database.finish(ended)

    def _unreachable_seats(self) -> set[int]:
        """Return seats that were retired or whose address the policy refuses."""
        refused = {row["seat"] for row in self.match.log.rows if row.get("fault") == "egress_denied"}
        return self.match.retired | refused

    def _replay(self, lines: Sequence[bytes]) -> None:
        """Raise ``BadLog`` unless replaying ``lines`` gives the log of the match.

        The result must follow from the recorded rows alone.
        """
        replayed = Match.resume(self._loaded.header, self._chance, lines)
        if not replayed.lines == self.match.lines == lines:
            raise BadLog(len(replayed.lines), f"match {self._loaded.id} does not replay")

    async def _ask(self, request: Request) -> Answer:
        """Return the seat's answer.

        If a hand-over interrupted the question, the seat has its whole time again, and only the longer of the two times
        is charged: so the hand-over costs it nothing, and a bot that hopes for one gains at most as much as it pays.
        Such a question should not be interrupted again, or a bot that thinks for long would never end.
        """
        before_ms, question = self._interrupted_ms(request.n).get(str(request.seat)), (self._loaded.id, request.seat)
        if before_ms is None:
            return await self._ask_interruptibly(request)
        self._context.unfinished.add(question)
        try:
            answer = await self._ask_interruptibly(request)
        finally:
            self._context.unfinished.discard(question)
        return answer._replace(ms=max(answer.ms, min(before_ms, request.deadline_ms)))

    def _interrupted_ms(self, n: int) -> dict[str, int]:
        """Return the time that seats used for the questions of this decision point before a hand-over, by seat."""
        known = self._context.interrupted or self._loaded.interrupted or {}
        return known["ms"] if known.get("n") == n else {}

    async def _ask_interruptibly(self, request: Request) -> Answer:
        """Return the seat's answer. If it is cancelled, note how long the seat has thought."""
        seat = self.seats[request.seat]
        try:
            return await self._ask_until_charged(request)
        except asyncio.CancelledError:
            if isinstance(seat, BotSeat) and seat.caller.cancelled_ms is not None:
                known, key = self._interrupted_ms(request.n), str(request.seat)
                longest_ms = max(seat.caller.cancelled_ms, known.get(key, 0))
                self._context.interrupted.update(n=request.n, ms={**known, key: longest_ms})
            raise

    async def _ask_until_charged(self, request: Request) -> Answer:
        """Return the seat's answer. If the fault is ours, wait and repeat the question without charging the bot.

        A bot that may have read the question is asked again only once per match if the network failed: otherwise, bots
        of three owners could gain thinking time by closing and refusing connections at the same time.
        """
        seat, uplink = self.seats[request.seat], self._context.connectivity
        player = self._loaded.players[request.seat]
        owner_id = player.owner_id
        while True:
            uplink.record_call(owner_id)
            before, began = uplink.clock.read(), time.perf_counter()
            if isinstance(seat, HouseSeat):
                answer = await seat.ask(request)
                self._house_answers += 1
                await asyncio.sleep(0)  # a match of house players alone must not starve other matches
                return answer
            try:
                answer = await seat.ask(request, before_sending=self._confirm_claim)
            except NoAuthorities as error:
                await self._wait_for_authorities(error)
                continue
            assert seat.last is not None
            bot_s = seat.last[1].took_s
            self._context.metrics.answers.append((max(0.0, time.perf_counter() - began - bot_s), bot_s))
            if not is_unconnected(seat.last[1]):
                uplink.record_success()
                if await self._is_clock_to_blame(player, seat.last[1], before):
                    continue
                return answer
            failed_at = uplink.record_failure(owner_id)
            if seat.last[1].sent and request.seat in self._cut_off:
                return answer
            if await self._is_its_fault(seat.last[1], failed_at):
                return answer
            if seat.last[1].sent:
                self._cut_off.add(request.seat)

    def _confirm_claim(self) -> Awaitable[None] | None:
        """Return what to await before a question is sent, or None if the claim was verified a short time ago.

        Waiting for it raises ``StaleEpoch`` if another runner claimed the match while this process was suspended, or
        while it could not reach the bot. Without this, it would ask a question that the other one has already asked.
        """
        if self._context.now_s() - self._written_at_s < CONFIRM_CLAIM_S:
            return None
        return self._verify_claim()

    async def _verify_claim(self) -> None:
        try:
            await self._write_update(self._next_update(fault_reports=[]))
        except Unavailable as error:  # the runner stops, and its database has not come back
            raise HandedOver(str(error)) from error

    async def _wait_for_authorities(self, error: NoAuthorities) -> None:
        """Pause, and then try again. Raise the error if matches have waited for too long."""
        if not self._context.connectivity.may_wait():
            raise error
        log.warning("no_certificate_authorities", extra={"match": self._loaded.id, "reason": str(error)})
        await self._pause(self._context.connectivity.probe_s)

    async def _is_clock_to_blame(self, player: RunnerSeat, reply: Reply, before: Reading) -> bool:
        """Return whether the fault comes from our clock, after a pause. Note the clock that the bot accepted."""
        uplink, bot_clock = self._context.connectivity, self._context.caller(player).clock
        if bot_clock.ahead_s:
            uplink.clock.record_bot_clock(player.owner_id, bot_clock.ahead_s)
        elif reply.status == 200:
            uplink.clock.record_accepted(player.bot_id, before)
        if not uplink.is_our_clock(player.bot_id, reply, before):
            return False
        log.info("match_waits_for_clock", extra={"match": self._loaded.id, "bot": player.bot_id})
        await self._pause(uplink.probe_s)
        return True

    async def _is_its_fault(self, reply: Reply, failed_at: float) -> bool:
        uplink = self._context.connectivity
        outage = await uplink.find_outage(reply, failed_at, self._pause)
        if outage is None:
            return True
        log.warning(outage, extra={"match": self._loaded.id})
        await self._pause(uplink.probe_s)
        return False

    async def _pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        if self._context.is_stopping():
            raise HandedOver("stop_requested")

    def _record(self, match: Match, rows: list[Json], answer: Answer) -> Awaitable[None]:
        """Record an answer and the rows that it caused, before the match continues.

        If they have forced moves, wait as long as the seats would have taken to answer.
        """
        self._decisions += 1
        evidence = self._fault_reports(answer.seat, rows)
        self._keep_error(answer.seat, rows)
        if not rows:
            return self._record_sealed(PendingAnswer(match.n, answer.seat, answer.to_json()), evidence)
        self._last_answer.set()
        self._last_answer = asyncio.Event()
        delays_ms = self._forced_waits.draw_delays(rows) if self._forced_waits else NO_DELAYS
        update = self._next_update(evidence, delays_ms=delays_ms)
        if match.over:
            self._last_update = update
        return self._write_and_wait(update, answer)

    async def _record_sealed(self, answer: PendingAnswer, evidence: Sequence[FaultReport]) -> None:
        """Store an answer sealed, unless the last answer to the question arrives very soon and makes it a row.

        A crash before that loses the answer as if it had still been under way, and the seat is asked again.
        """
        if not evidence:
            await self._wait_for_last_answer()
        if self.match.n == answer.n:
            self._has_sealed = True
            await self._write_update(self._next_update(evidence, [answer]))

    async def _wait_for_last_answer(self) -> None:
        """Wait until all seats have answered the open question, for at most ``SEALED_DELAY_S``."""
        with suppress(TimeoutError):
            async with asyncio.timeout(SEALED_DELAY_S):
                await self._last_answer.wait()

    async def _write_and_wait(self, update: MatchUpdate, answer: Answer) -> None:
        started_at_s = self._context.now_s()
        await self._write_update(update)
        if self._forced_waits:
            self._forced_waits.add_time(answer.seat, answer.ms + 1000 * (self._context.now_s() - started_at_s))
        if update.delays_ms:
            await self._pause(max(update.delays_ms[max(update.delays_ms)]) / 1000)

    async def _write_update(self, update: MatchUpdate) -> None:
        if update is self._last_update:  # stored with the result
            return
        started_at_s, began = self._context.now_s(), time.perf_counter()
        await self._context.database.record(update)
        self._written_at_s = started_at_s
        if update.lines or update.sealed:
            self._context.metrics.writes.append(time.perf_counter() - began)
        if self._context.is_stopping():
            raise HandedOver("stop_requested")

    def _next_update(
        self,
        fault_reports: Sequence[FaultReport],
        sealed: Sequence[PendingAnswer] = (),
        delays_ms: Mapping[int, list[float]] = NO_DELAYS,
    ) -> MatchUpdate:
        """Return an update with the rows that are not recorded yet, and count these rows as recorded."""
        start, self._recorded = self._recorded, len(self.match.lines)
        new = self.match.log.rows[start:]
        points = [row["n"] for row in new if row["type"] == "decision"] if self._has_sealed else []
        self._has_sealed = self._has_sealed and not points
        errors, self._bot_errors = self._bot_errors, []
        return MatchUpdate(
            match_id=self._loaded.id,
            epoch=self._context.claim.epoch,
            start=start,
            lines=self.match.lines[start:],
            sealed=sealed,
            unsealed=sorted({n for n in points if points.count(n) > 1}),
            fault_reports=fault_reports,
            bot_errors=errors,
            delays_ms=delays_ms,
        )

    def _keep_error(self, seat: int, rows: Sequence[Json]) -> None:
        """Keep the error that the bot reported with its last answer, if any, for the next update."""
        if text := self.seats[seat].error:
            n = rows[0]["n"] if rows else self.match.n
            self._bot_errors.append(BotError(n, seat, self._loaded.players[seat].bot_id, text))

    def _fault_reports(self, seat: int, rows: Sequence[Json]) -> list[FaultReport]:
        """Return a list with the fault report for the bot's owner, or an empty list if the last call was no fault."""
        fault, call = self.match.last_fault, self.seats[seat].last
        if not fault or call is None:
            return []
        self._context.metrics.count(catalog.FAULTS, fault)
        body, reply = call
        return [
            FaultReport(
                n=rows[0]["n"] if rows else self.match.n,
                seat=seat,
                bot_id=self._loaded.players[seat].bot_id,
                code=fault,
                detail=reply.detail or FAULTS[fault],
                request=body,
                reply=reply.body,
                timing=reply.latency() | {"attempts": reply.attempts, "status": reply.status},
            )
        ]


# -- after the end --


async def _notify_end(
    context: MatchContext, loaded: LoadedMatch, table: _MatchSession, closed: ClosedGroup | None
) -> None:
    """Send the bots the result and, if the deal group was closed with it, its seed. Ignore their answers."""
    rows = table.match.log.rows
    notices = []
    for player in _remote_players(loaded.players):
        facts = messages.match_facts(loaded.header, player.seat)
        body = messages.match_end_body(facts, rows[-1], messages.faults_of(rows, player.seat))
        notices.append(_send_notice(context, player, body, f"{loaded.id}_end_{player.seat}"))
    await asyncio.gather(*notices)
    if closed is not None:
        group, reveal = loaded.header["group"], closed.reveal
        body = messages.group_end_body(group["id"], group["commitment"], reveal.seed.hex(), reveal.nonces, closed.head)
        entries = await deal_opening.load_group_players(context, loaded)
        await asyncio.gather(
            *(
                _send_notice(context, player, body, f"{group['id']}_end_{index}")
                for index, player in enumerate(_remote_players(entries))
            )
        )


def _remote_players(players: Sequence[RunnerSeat]) -> list[RunnerSeat]:
    """Return the bots that are called over HTTP."""
    return [player for player in players if not is_house(player.url)]


async def _send_notice(context: MatchContext, player: RunnerSeat, body: bytes, id: str) -> None:
    await client.notify(context.caller(player), body, id, NOTICE_MS)
