"""Deliveries of many accounts to one address, by a runner."""

from sqlalchemy import select

from referee.accounts import accounts
from referee.botclient.address_caps import DELIVERIES
from referee_extras.notifications import webhooks
from referee_extras.notifications.tables import Delivery
from tests.workers.conftest import World, until
from tests.workers.conftest import world as world
from tests.workers.test_address_caps import ACCOUNTS, Victim


async def test_A13_deliveries_of_many_accounts_to_one_address_are_few_at_a_time_and_none_is_lost(world: World) -> None:
    def waiting() -> list[Delivery]:
        return world.scalars(select(Delivery).where(Delivery.response_status.is_(None)))

    def put_off() -> list[Delivery]:
        """Return the deliveries that found no place."""
        return [delivery for delivery in waiting() if delivery.last_error]

    async with Victim().serving(ACCOUNTS) as victim:
        with world.database.write() as session:
            for number, url in enumerate(victim.urls):
                owner = accounts.create_account(session, f"Subscriber {number}")
                webhooks.create(session, owner.id, url, ["match.finished"])
        async with world.running():
            await until(lambda: victim.held == DELIVERIES)
            await until(lambda: len(put_off()) == ACCOUNTS - DELIVERIES)
            assert victim.most_held == victim.requests == DELIVERIES
            assert {(delivery.attempts, delivery.status) for delivery in put_off()} == {(0, "due")}
            victim.may_answer.set()
            await until(lambda: len(waiting()) == ACCOUNTS - DELIVERIES)

        assert victim.most_held == DELIVERIES
