"""Leases are renewed even while the event loop is blocked."""

import time

from referee.matches.queue import claims
from tests.workers.conftest import World
from workers.lease_renewal import LeaseRenewer

PATIENCE_S = 30


async def test_K15_a_lease_is_renewed_while_the_event_loop_is_blocked(world: World) -> None:
    async with world.houses("first", "first"):
        match_id = world.arrange("saint-poker", world.bot_ids)
        (claim,) = world.write(claims.claim_matches, 1)
        claimed_until = world.match(match_id).lease_until
        assert claimed_until is not None
        holder = LeaseRenewer(world.database, renew_s=0.01)
        holder.start()
        with holder.keep_claim(claim):
            deadline = time.monotonic() + PATIENCE_S
            # Blocks the event loop, as when every write waits for a slow disk.
            while world.match(match_id).lease_until == claimed_until:
                assert time.monotonic() < deadline
        holder.stop()
