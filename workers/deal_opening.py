"""Open the deal group of a claimed match with its bots, in three steps.

1. Ask each bot for the hash of a nonce, and record the hashes.
2. Send all hashes to each bot and ask for its nonce.
3. Send all nonces to each bot that gave one, and ask whether it accepts them.

A promised nonce that does not arrive, or a bot that refuses the nonces, ends the opening: the group is closed and
published without a deal, and its matches get a new group, for which the bots that failed are not asked.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple, TypeVar

from referee.botclient import client
from referee.botclient.client import BotCaller
from referee.botclient.reply import Reply
from referee.errors import StaleEpoch, Unavailable
from referee.house.players import is_house
from referee.match.log import digest
from referee.match.reveal import OpeningFailure
from referee.matches.deals import openings
from referee.matches.deals.deal_groups import LEASES
from referee.matches.deals.openings import FailedStep, Opening
from referee.matches.states import DealGroupState
from referee.protocol import messages
from referee.workflows.ending import deal_group_superseding, match_loading
from referee.workflows.ending.match_loading import LoadedMatch, RunnerSeat
from workers.clock_watch import Reading
from workers.connectivity import Connectivity, is_unconnected
from workers.match_context import HandedOver, MatchContext

log = logging.getLogger(__name__)

STEP_MS = 3_000  # time limit of each step
OPENING_POLL_S = 0.2  # pause between two looks at a deal group that another runner is opening
T = TypeVar("T")


class _Asked(NamedTuple):
    """Hold what an entry was sent in a step and what it answered."""

    request: bytes
    reply: Reply  # with a fault if the answer is unusable


_Answers = list[tuple[T | None, _Asked | None]]  # by entry; None for entries that were not asked


async def load_when_dealt(context: MatchContext) -> LoadedMatch:
    """Load the match once its deal group is open. Open the group if no other runner is doing so; otherwise wait.

    Raise ``HandedOver`` if the runner stops.
    """
    while True:
        loaded = await context.database.read(
            match_loading.load_match, context.claim.match_id, master_key=context.master_key
        )
        if loaded.group_state != DealGroupState.NEW:
            return loaded
        opening = await context.database.write(openings.claim_opening, loaded.group_id)
        if opening is None:
            await asyncio.sleep(OPENING_POLL_S)
            continue
        context.record_claims("deal_group", [(opening.group_id, opening.epoch)])
        nonces = await _open(context, opening, await load_group_players(context, loaded))
        if context.is_stopping():
            raise HandedOver("stop_requested")
        if nonces is not None:
            return replace(loaded, group_state=DealGroupState.PLAYING, nonces=nonces)


async def load_group_players(context: MatchContext, loaded: LoadedMatch) -> Sequence[RunnerSeat]:
    """Return the bots of the deal group in the order of its entries. They are usually the bots of this match."""
    entries = loaded.header["group"]["entries"]
    if entries == [player.bot_id for player in loaded.players]:
        return loaded.players
    return await context.database.read(match_loading.load_players, entries)


async def _open(context: MatchContext, opening: Opening, players: Sequence[RunnerSeat]) -> list[str] | None:
    """Run the steps of an opening. Return the nonces, or None if it ended or another runner claimed it meanwhile.

    Raise ``Unavailable`` if a call failed through our own fault.
    """
    try:
        return await _run_steps(context, opening, players)
    except StaleEpoch:
        log.info("deal_group_claim_lost", extra={"group": opening.group_id})
        return None
    except (asyncio.CancelledError, Unavailable):
        # All matches of the group wait for its opening. Release the claim, so that they need not wait for the lease to
        # expire.
        with suppress(Unavailable):
            await context.database.write(lambda session: LEASES.release(session, [(opening.group_id, opening.epoch)]))
        raise


async def _run_steps(context: MatchContext, opening: Opening, players: Sequence[RunnerSeat]) -> list[str] | None:
    group_id, epoch = opening.group_id, opening.epoch
    callers = [_caller(context, opening, player) for player in players]
    hashes = opening.nonce_hashes
    if hashes is None:
        promised = await _ask_all(context, opening, 1, callers, messages.read_nonce_hash)
        received = [hash or "" for hash, _ in promised]
        hashes = await context.database.write(openings.record_nonce_hashes, group_id, epoch, received)
    promising = [caller if hash else None for caller, hash in zip(callers, hashes, strict=True)]
    given = await _ask_all(context, opening, 2, promising, messages.read_nonce, hashes)
    nonces = [_keep_promised(nonce, hash) for (nonce, _), hash in zip(given, hashes, strict=True)]
    failed = {
        entry: _failed_step(OpeningFailure.NONCE_WITHHELD, asked, "the nonce does not fit its hash")
        for entry, hash, nonce, (_, asked) in zip(opening.entries, hashes, nonces, given, strict=True)
        if hash and not nonce
    }
    accepted: list[bool | None] = [None] * len(nonces)
    if not failed:
        answers = await _ask_all(context, opening, 3, promising, messages.read_accepted, hashes, nonces)
        accepted = [answer for answer, _ in answers]
        failed = {
            entry: _failed_step(OpeningFailure.NONCES_REFUSED, asked, "the bot answered false")
            for entry, (answer, asked) in zip(opening.entries, answers, strict=True)
            if answer is False
        }
    if failed:
        await _end(context, opening, nonces, failed)
        return None
    await context.database.write(openings.open_group, group_id, epoch, nonces, accepted)
    return nonces


async def _end(context: MatchContext, opening: Opening, nonces: Sequence[str], failed: dict[str, FailedStep]) -> None:
    """Replace the group by a new one, for which those that failed are not asked."""
    new_id = await context.database.write(
        deal_group_superseding.supersede_group,
        opening.group_id,
        opening.epoch,
        nonces,
        failed,
        master_key=context.master_key,
    )
    reasons = {bot_id: str(failure.code) for bot_id, failure in failed.items()}
    log.warning("opening_ended", extra={"group": opening.group_id, "superseded_by": new_id, "failed": reasons})


def _caller(context: MatchContext, opening: Opening, player: RunnerSeat) -> BotCaller | None:
    """Return the caller of an entry, or None for a house player and for a bot that ended an earlier opening."""
    if is_house(player.url) or player.bot_id in opening.left_out:
        return None
    return context.caller(player)


async def _ask_all(
    context: MatchContext,
    opening: Opening,
    step: int,
    callers: Sequence[BotCaller | None],
    read: Callable[[bytes], T],
    *shown: Sequence[str],
) -> _Answers[T]:
    """Return the usable answer of each bot and what was exchanged with it. Raise ``Unavailable`` if we are at fault."""
    body = messages.group_start_body(opening.group_id, opening.commitment, *shown)

    async def ask(index: int, caller: BotCaller | None) -> tuple[T | None, _Asked | None]:
        if caller is None:
            return None, None
        context.connectivity.record_call(caller.target.owner_id)
        before = context.connectivity.clock.read()
        reply = await client.notify(caller, body, f"{opening.group_id}_start_{step}_{index}", STEP_MS)
        reply.require_made()
        if await _is_our_fault(context.connectivity, caller, reply, before):
            raise Unavailable(f"an opening waits: {reply.detail or reply.fault}")
        answer, reply = reply.read(read)
        return answer, _Asked(body, reply)

    calls = [ask(index, caller) for index, caller in enumerate(callers)]
    answers: _Answers[T] = []
    for answer in await asyncio.gather(*calls, return_exceptions=True):  # wait for all before raising an error
        if isinstance(answer, BaseException):
            raise answer
        answers.append(answer)
    return answers


async def _is_our_fault(uplink: Connectivity, caller: BotCaller, reply: Reply, before: Reading) -> bool:
    """Return whether a call failed because of our network, resolver or clock. Record whether the bot was reached."""
    if uplink.is_our_clock(caller.target.bot_id, reply, before):
        return True
    if not is_unconnected(reply):
        uplink.record_success()
        return False
    failed_at = uplink.record_failure(caller.target.owner_id)
    return await uplink.find_outage(reply, failed_at) is not None


def _keep_promised(nonce: str | None, hash: str) -> str:
    """Return the nonce if it is the promised one, otherwise ""."""
    return nonce if nonce and digest(nonce.encode()) == hash else ""


def _failed_step(code: OpeningFailure, asked: _Asked | None, otherwise: str) -> FailedStep:
    """Return the evidence against a bot. ``otherwise`` is the reason if its answer was readable."""
    if asked is None:  # the bot promised a nonce to another runner and cannot be called any more
        return FailedStep(code, "the bot was not asked again", b"", b"")
    reason = asked.reply.detail or asked.reply.fault or otherwise
    return FailedStep(code, reason, asked.request, asked.reply.body)
