"""Claim and finish handshakes of bots. Runners send the challenge and read the manifest.

``checks`` handles the check that may follow.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.bots.bots import signing_generations
from referee.bots.states import BotState, CheckState
from referee.bots.tables import Bot
from referee.db.engine import current_time, lease_now
from referee.db.leases import Leases
from referee.db.names import make_storable
from referee.protocol.messages import Manifest

HANDSHAKES_AT_ONCE = 10
HANDSHAKES_PER_OWNER: Final = 4
WINDOW: Final = 1_000  # oldest due handshakes among which the next are chosen
LOST_BEFORE_GIVEN_UP = 3  # a handshake that crashes its runners must not keep interrupting their matches
GIVEN_UP = {
    "ok": False,
    "challenge": {"ok": False, "code": "referee_failed", "detail": "the referee could not finish this handshake"},
    "manifest": None,
}
LEASES: Final = Leases(Bot, state="handshake_state", lost="handshake_lost_claims")


@dataclass(frozen=True, slots=True)
class ClaimedHandshake:
    """Hold a claimed handshake with all that a runner needs to perform it."""

    bot_id: str
    epoch: int
    url: str
    secret_generations: tuple[int, ...]  # generations of the secrets that sign the challenge
    owner_id: str


def claim_due_handshakes(
    session: Session, limit: int = HANDSHAKES_AT_ONCE, *, running: Mapping[str, int] | None = None
) -> list[ClaimedHandshake]:
    """Claim handshakes that are due or whose lease expired. End a handshake as failed after three lost claims.

    Owners take turns: next is the one with the fewest under way, then the oldest handshake. ``running`` has those that
    the runner has under way already, by owner. An owner gets at most ``HANDSHAKES_PER_OWNER``.
    """
    query = select(Bot.id).where(Bot.id.in_(_choose(session, limit, running or {})))
    query = query.order_by(Bot.handshake_due_at, Bot.id)
    moment = current_time(session)
    taken = []
    for bot in LEASES.claim(session, query):
        if bot.handshake_lost_claims >= LOST_BEFORE_GIVEN_UP:
            end_handshake(bot, GIVEN_UP, None, moment)
        else:
            taken.append(ClaimedHandshake(bot.id, bot.epoch, bot.url, signing_generations(bot, moment), bot.owner_id))
    session.flush()
    return taken


def _choose(session: Session, limit: int, running: Mapping[str, int]) -> list[str]:
    """Return the ids of the bots whose handshakes are next."""
    boot, seconds = lease_now(session)
    due = select(Bot.id, Bot.owner_id).where(Bot.status != BotState.RETIRED, LEASES.is_claimable(boot, seconds))
    turns = Counter(running)
    chosen = []
    for bot_id, owner_id in session.execute(due.order_by(Bot.handshake_due_at, Bot.id).limit(WINDOW)):
        chosen.append((turns[owner_id], bot_id))
        turns[owner_id] += 1
    chosen.sort(key=lambda turn: turn[0])
    return [bot_id for turn, bot_id in chosen if turn < HANDSHAKES_PER_OWNER][:limit]


def release_claim(session: Session, claimed: ClaimedHandshake) -> int:
    """Make a claimed handshake due again, behind those that are due already. Return the number of changed rows.

    It then does not count as lost. A claim that is no longer valid is ignored.
    """
    return LEASES.release(session, [(claimed.bot_id, claimed.epoch)], handshake_due_at=current_time(session))


def end_handshake(
    bot: Bot, report: dict[str, Any], manifest: Manifest | None, moment: datetime, *, forgiven: bool = False
) -> None:
    """End a handshake with its report. With a manifest the bot becomes verified at its URL, otherwise unverified.

    With ``forgiven``, a verified bot stays verified even without a manifest.
    """
    bot.handshake_state, bot.handshake_due_at, bot.handshake_lost_claims = CheckState.IDLE, None, 0
    bot.handshake_ended_at = moment
    bot.end_lease()
    bot.handshake_report = report
    if manifest is not None:
        bot.verified_url = bot.url
        bot.version = make_storable(manifest.version)[:128]
        bot.games = [make_storable(game)[:40] for game in manifest.games]
        bot.max_concurrent_requests = manifest.max_concurrent_requests
    if bot.status in (BotState.UNVERIFIED, BotState.VERIFIED) and not (forgiven and bot.status == BotState.VERIFIED):
        bot.status = BotState.UNVERIFIED if manifest is None else BotState.VERIFIED
        bot.status_reason = "the handshake failed" if manifest is None else None
    bot.revision += 1
