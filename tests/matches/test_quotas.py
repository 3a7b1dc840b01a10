"""Friendlies of one account: how many may be open, even with concurrent requests."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from sqlalchemy import func, select

from referee.accounts import accounts, acts
from referee.accounts.act_kinds import ActKind
from referee.db.engine import Database
from referee.errors import QuotaExceeded
from referee.matches.queue import quotas
from referee.matches.tables import StoredMatch
from tests.database.checks import on_one_database
from tests.database.world import FakeClock, World

AT_ONCE = 6


def test_E21_requests_at_the_same_moment_make_no_eleventh_friendly(world: World) -> None:
    account_id, seated = world.account(), world.bots(2)
    friendly = {"rated": False, "created_by": account_id}
    for _ in range(quotas.MAX_OPEN_FRIENDLIES - 2):
        world.match(seated, **friendly)
    together = Barrier(AT_ONCE)

    def ask(_: int) -> bool:
        together.wait(timeout=30)
        try:
            with world.database.write() as session:
                quotas.check_friendlies(session, account_id)
                world.matched(session, seated, **friendly)
        except QuotaExceeded:
            return False
        return True

    with ThreadPoolExecutor(AT_ONCE) as threads:
        arranged = list(threads.map(ask, range(AT_ONCE)))

    assert sum(arranged) == 2
    assert world.scalar(select(func.count()).select_from(StoredMatch)) == quotas.MAX_OPEN_FRIENDLIES


@on_one_database
def test_E21_rated_matches_matches_of_others_and_matches_that_are_over_are_not_counted(world: World) -> None:
    account_id, seated = world.account(), world.bots(2)
    for _ in range(quotas.MAX_OPEN_FRIENDLIES):
        world.play(seated, rated=False, created_by=account_id)
        world.match(seated, created_by=account_id)
        world.match(seated, rated=False, created_by=world.account())

    world.write(quotas.check_friendlies, account_id)


def test_E21_who_counts_friendlies_holds_up_nothing_else_of_their_account(postgres_url: str) -> None:
    database = Database(postgres_url, clock=FakeClock(), write_wait_s=1)
    world = World(database)
    account_id = world.account()

    with database.write() as session:
        quotas.check_friendlies(session, account_id)
        with database.write() as other:  # refers to the account, as does the health of its bots
            acts.record_act(other, accounts.get_account(other, account_id), ActKind.BOT_RENAMED, account_id)
    database.dispose()
