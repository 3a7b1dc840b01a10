"""Hold what playing one claimed match needs."""

from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from referee.botclient.address_guard import Policy
from referee.botclient.client import BotCaller, CallLimits, CallTarget
from referee.errors import RefereeError
from referee.match.canonical import Json
from referee.matches.queue.claims import Claim
from referee.metrics.process_metrics import ProcessMetrics
from referee.protocol.signing import bot_secrets
from referee.settings import ForcedMoveWaits
from referee.workflows.ending.match_loading import RunnerSeat
from workers.claim_file import RecordClaims
from workers.connectivity import Connectivity
from workers.database_thread import DatabaseThread
from workers.forced_waits import ResponseTimes


class HandedOver(RefereeError):
    """Signal that the runner stops and another one will continue the match from its recorded rows."""


@dataclass(frozen=True, slots=True)
class MatchContext:
    """Hold a claimed match and everything that is needed to play it."""

    claim: Claim
    database: DatabaseThread
    policy: Policy
    limits: CallLimits
    master_key: bytes
    is_stopping: Callable[[], bool]
    connectivity: Connectivity
    keep_claim: Callable[[], AbstractContextManager[None]]  # keeps the claim renewed while the block runs
    notify_spectators: Callable[[], None]  # notifies spectators that the database has changed
    record_claims: RecordClaims
    forced_move_waits: ForcedMoveWaits
    response_times: ResponseTimes
    metrics: ProcessMetrics
    count_decisions: Callable[[int], None]
    now_s: Callable[[], float]  # the clock of leases, which includes time in suspension
    unfinished: set[Hashable]  # what should end before the runner does; all its matches share it
    callers: dict[tuple[str, int], BotCaller] = field(default_factory=dict)  # by bot and seat
    interrupted: Json = field(default_factory=dict)  # the questions that were cancelled, as ``StoredMatch`` has them

    def caller(self, player: RunnerSeat) -> BotCaller:
        """Return the caller of a seat. All questions and notices to the seat share its connection."""
        key = player.bot_id, player.seat
        if key not in self.callers:
            secrets = bot_secrets(self.master_key, player.bot_id, player.secret_generations)
            target = CallTarget(player.bot_id, player.url, secrets, player.max_concurrent_requests, player.owner_id)
            now = self.connectivity.clock.wall_s
            self.callers[key] = BotCaller(target, self.policy, self.limits, now=now, follow_bot_clock=True)
        return self.callers[key]

    def close_connections(self) -> None:
        for caller in self.callers.values():
            caller.close()
