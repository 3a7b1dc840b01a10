"""Test for how long friendlies may last while other matches wait for slots, and how they end."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import pytest
from redis import Redis
from rq.serializers import JSONSerializer
from sqlalchemy import select

from referee.events import Event, FriendlyCancelled
from referee.games import catalogue, game
from referee.match.log import parse_row
from referee.matches import matches
from referee.matches.logs import logs, recording
from referee.matches.logs.recording import MatchUpdate
from referee.matches.queue.friendly_time import LEAST_S, TOO_LONG, is_over, longest_s
from referee.matches.tables import Fault, StoredMatch
from tests.database.checks import on_one_database
from tests.database.world import World
from tests.matches.test_queue_watch import redis as redis
from tests.surroundings import MASTER_KEY
from workers import queues
from workers.friendly_watch import LOOK_EVERY_S, FriendlyWatch
from workers.queue_watch import MAX_GAP_S
from workers.worker import RunnerWorker

SLOTS = 4  # two of them for friendlies, one for those of an account
OLD_S = LEAST_S + 60
LOOK_S = MAX_GAP_S - 1


@pytest.mark.parametrize(
    ("name", "seats", "budget_ms", "expected_s"),
    [
        ("prisoners", 2, 1_000, 900),  # 3 x 2 x 20 x 1 s is less
        ("pool-nap", 2, 1_000, 900),  # 3 x 2 x 100 x 1 s is less
        ("pool-nap", 2, 5_000, 3_000),
        ("prince-albert", 4, 5_000, 10_800),
    ],
)
def test_E21_a_friendly_lasts_15_minutes_or_three_times_its_usual_duration(
    name: str, seats: int, budget_ms: int, expected_s: float
) -> None:
    assert longest_s(name, seats, budget_ms) == expected_s


def test_E21_a_friendly_ends_only_if_it_has_lasted_too_long_and_others_wait() -> None:
    ends = [is_over(played_s, 900.0, is_slot_wanted=wanted) for played_s in (900.0, 901.0) for wanted in (False, True)]

    assert ends == [False, False, False, True]


def test_every_game_says_how_many_questions_a_seat_usually_gets() -> None:
    assert all("questions_per_seat" in vars(game(name)) for name in catalogue())


@dataclass
class Watched:
    """Two friendlies of two accounts, each old, at one worker with four slots."""

    world: World
    watch: FriendlyWatch
    friendlies: list[str]
    now_s: list[float]

    def look(self, after_s: float = LOOK_EVERY_S) -> bool:
        self.world.clock.moment += timedelta(seconds=after_s)
        self.now_s[0] += LOOK_EVERY_S
        return self.watch.step(self.world.database)

    def play(self, seconds: float) -> bool:
        """Look regularly for this long. Return whether a friendly was ended."""
        looks = [self.look(LOOK_S) for _ in range(int(seconds / LOOK_S))]
        return any(looks)

    def statuses(self) -> list[str]:
        with self.world.database.read() as session:
            return [matches.get_match(session, match_id).status for match_id in self.friendlies]

    def shift_begin(self, seconds: float) -> None:
        with self.world.database.write() as session:
            for match in session.scalars(select(StoredMatch).where(StoredMatch.id.in_(self.friendlies))):
                assert match.started_at is not None
                match.started_at -= timedelta(seconds=seconds)


@pytest.fixture
def watched(world: World, redis: Redis) -> Watched:
    redis.flushall()
    start_worker(redis)
    found = [world.match(rated=False, created_by=world.account()) for _ in range(SLOTS // 2)]
    assert len(world.claim(SLOTS)) == len(found)
    now_s = [0.0]
    watch = FriendlyWatch(redis, SLOTS, MASTER_KEY, seconds=lambda: now_s[0])
    watched = Watched(world, watch, found, now_s)
    watched.look()
    watched.shift_begin(OLD_S)
    watch._watched_since = world.clock.moment - timedelta(seconds=OLD_S)
    return watched


def start_worker(redis: Redis) -> None:
    RunnerWorker(queues.QUEUE, connection=redis, serializer=JSONSerializer).register_birth()


def test_E21_the_oldest_of_the_friendlies_that_last_too_long_ends_for_a_match_that_waits(watched: Watched) -> None:
    world = watched.world
    world.match(rated=False, created_by=world.account())

    looks = [watched.look() for _ in range(3)]

    assert looks == [False, True, False]  # the second friendly stays: a slot is free for the one that waits
    assert sorted(watched.statuses()) == ["cancelled", "running"]
    assert len(world.claim(SLOTS)) == 1


def nobody_waits(_: Watched) -> None:
    pass


def they_are_young(watched: Watched) -> None:
    watched.world.match(rated=False, created_by=watched.world.account())
    watched.shift_begin(LEAST_S - 60 - OLD_S)


def a_slot_is_free(watched: Watched) -> None:
    watched.world.match(created_by=watched.world.account("organiser"))


def only_their_own_account_waits(watched: Watched) -> None:
    account_id = watched.world.read(matches.get_match, watched.friendlies[0]).created_by
    watched.world.match(rated=False, created_by=account_id)


def no_worker_is_counted(watched: Watched) -> None:
    watched.world.match(rated=False, created_by=watched.world.account())
    watched.watch._redis.flushall()


def redis_is_away(watched: Watched) -> None:
    watched.world.match(rated=False, created_by=watched.world.account())
    watched.watch._redis = queues.connect("unix:///nowhere")


@on_one_database
@pytest.mark.parametrize(
    "begin",
    [nobody_waits, they_are_young, a_slot_is_free, only_their_own_account_waits, no_worker_is_counted, redis_is_away],
)
def test_E21_friendlies_go_on_if_nobody_waits_for_their_slots(
    watched: Watched, begin: Callable[[Watched], None]
) -> None:
    begin(watched)

    assert not any(watched.look() for _ in range(5))
    assert watched.statuses() == ["running", "running"]


def the_host_was_asleep(watched: Watched) -> None:
    watched.look(3_600)


def no_worker_lived(watched: Watched) -> None:
    redis = watched.watch._redis
    redis.flushall()
    watched.look()
    start_worker(redis)


def the_scheduler_was_stopped(watched: Watched) -> None:
    watched.watch = FriendlyWatch(watched.watch._redis, SLOTS, MASTER_KEY, seconds=lambda: watched.now_s[0])


@on_one_database
@pytest.mark.parametrize("pause", [the_host_was_asleep, no_worker_lived, the_scheduler_was_stopped])
def test_E21_time_in_which_perhaps_nobody_played_does_not_count(
    watched: Watched, pause: Callable[[Watched], None]
) -> None:
    pause(watched)
    watched.world.match(rated=False, created_by=watched.world.account())

    early = watched.play(LEAST_S - 30)

    assert (early, watched.play(90)) == (False, True)


@on_one_database
def test_E21_a_friendly_that_ends_charges_nobody_keeps_its_log_and_its_owners_are_told(
    watched: Watched, reported_events: list[Event]
) -> None:
    world, (first, second) = watched.world, watched.friendlies
    for match_id in (first, second):
        world.open_group(match_id)
        lines = world.resumed(match_id).lines
        with world.database.write(durable=False) as session:
            epoch = matches.get_match(session, match_id).epoch
            assert not recording.record_batch(session, [MatchUpdate(match_id, epoch, 0, lines)])
    world.match(rated=False, created_by=world.account())

    watched.look()
    assert watched.look()

    (ended,) = [id for id, status in zip(watched.friendlies, watched.statuses(), strict=True) if status == "cancelled"]
    with world.database.read() as session:
        match = matches.get_match(session, ended)
        rows = [parse_row(line) for line in logs.read_log_file(session, match, gzipped=False).splitlines()]
        seats = matches.seats_of(session, [ended])[ended]
        assert session.scalars(select(Fault)).all() == []
    assert match.reason == TOO_LONG
    types = [row["type"] for row in rows]
    assert (types[0], types[-2:]) == ("header", ["reveal", "signature"])
    (told,) = [event for event in reported_events if isinstance(event, FriendlyCancelled)]
    assert len(told.accounts) == 3  # the owners of both bots, and the account that arranged it
    assert (told.bots, told.reason) == ([seat.bot_id for seat in seats], TOO_LONG)
