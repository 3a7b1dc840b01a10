"""Shares of slots and of the requests of bots: hostile accounts leave room for the matches of others."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from sqlalchemy import select, update

from referee.matches.queue import claims, match_queue
from referee.matches.queue.claims import ClaimedMatch
from referee.matches.queue.shares import Lane, Pool, call_shares, create_slots, has_sure_slot
from referee.matches.states import MatchKind, MatchState
from referee.matches.tables import StoredMatch
from tests.database.checks import on_one_database
from tests.database.world import MANIFEST, World, manifest_of
from tests.matches.test_match_queue import arranged, of, plan

ORGANISED = Lane(MatchKind.ORGANISED, "acc_o")
FIRST, SECOND, OWNER = (Lane(MatchKind.FRIENDLY, account) for account in ("acc_1", "acc_2", "acc_owner"))
TARPIT_S, MATCH_S = 600, 10


def test_E21_friendlies_leave_half_of_the_slots_and_those_of_one_account_three_quarters() -> None:
    slots = create_slots(8)
    assert [slots.limit(lane) for lane in (ORGANISED, FIRST)] == [6, 2]

    slots.take(FIRST, 2)
    assert [slots.count_free(lane) for lane in (ORGANISED, FIRST, SECOND)] == [4, 0, 2]
    slots.take(SECOND, 2)
    assert [slots.count_free(lane) for lane in (ORGANISED, FIRST, SECOND, OWNER)] == [2, 0, 0, 0]
    slots.take(SECOND, -2)
    assert slots.count_free(OWNER) == 2


def test_B16_a_lane_leaves_a_quarter_of_the_slots_to_lanes_that_use_none() -> None:
    other = Lane(MatchKind.ORGANISED, "acc_p")
    slots = create_slots(8)

    slots.take(ORGANISED, 6)
    assert [slots.count_free(lane) for lane in (ORGANISED, other)] == [0, 1]
    slots.take(other)
    assert [slots.count_free(lane) for lane in (ORGANISED, other, FIRST)] == [-1, -1, 1]
    slots.take(FIRST)
    assert [slots.count_free(lane) for lane in (other, SECOND)] == [-2, 0]
    slots.take(ORGANISED, -6)
    assert [slots.count_free(lane) for lane in (ORGANISED, other)] == [4, 4]


@pytest.mark.parametrize(
    ("lane", "organised", "friendlies", "is_sure"),
    [
        (ORGANISED, 11, 0, True),
        (ORGANISED, 12, 0, False),  # six in each: the last two slots of a runner are for lanes that use none of them
        (ORGANISED, 4, 8, False),
        (FIRST, 0, 7, True),
        (FIRST, 0, 8, False),  # four in each
        (FIRST, 5, 4, True),
        (FIRST, 6, 4, False),  # the friendlies in one, the others in the other
        (ORGANISED, 6, 4, True),
    ],
)
def test_E21_K11_a_slot_is_sure_only_if_one_runner_has_it_wherever_the_matches_are_played(
    lane: Lane, organised: int, friendlies: int, is_sure: bool
) -> None:
    playing = [(ORGANISED, organised), (SECOND, friendlies)]

    assert has_sure_slot(lane, playing, runners=2, size=8) == is_sure


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_E21_K11_a_runner_that_plays_nothing_surely_has_a_slot_and_a_full_one_has_none(size: int) -> None:
    for lane in (ORGANISED, FIRST):
        assert has_sure_slot(lane, [], runners=1, size=size)
        assert not has_sure_slot(lane, [(SECOND, size)], runners=1, size=size)


def test_E21_friendlies_leave_half_of_the_requests_of_a_bot_and_strangers_three_quarters() -> None:
    calls = Pool(8, call_shares("acc_owner"))
    assert [calls.limit(lane) for lane in (ORGANISED, OWNER, FIRST)] == [8, 4, 2]

    calls.take(FIRST, 2)
    assert [calls.count_free(lane) for lane in (ORGANISED, OWNER, FIRST, SECOND)] == [6, 2, 0, 2]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_small_pool_has_a_place_for_each_share(size: int) -> None:
    assert create_slots(size).limit(FIRST) == 1


def modest(world: World, count: int, most: int) -> list[str]:
    return [world.bot(manifest=manifest_of("1", MANIFEST.games, most)) for _ in range(count)]


@on_one_database
def test_E21_friendlies_of_strangers_never_take_all_requests_of_a_bot(world: World) -> None:
    victim, rival = modest(world, 2, 8)
    tarpits = world.bots(3)
    for tarpit in tarpits:
        arranged(world, *[plan([victim, tarpit], world.account(), rated=False)] * 8)

    assert [len(world.claim(50)), len(world.claim(50))] == [4, 0]
    rated = arranged(world, *[plan([victim, rival])] * 6)

    assert set(of(world.claim(50))) <= set(rated)
    assert len(world.claim(50)) == 0


@on_one_database
def test_E21_a_friendly_gives_way_to_a_match_that_waits_for_the_last_request_of_a_bot(world: World) -> None:
    (victim,) = modest(world, 1, 1)
    (busy,) = modest(world, 1, 1)
    tarpit, other = world.bots(2)
    arranged(world, plan([busy, other]))
    (playing,) = world.claim(1)
    friendly = arranged(world, plan([victim, tarpit], world.account(), rated=False))
    rated = arranged(world, plan([victim, busy]))

    assert world.claim(5) == []
    world.finish(playing)
    (claimed,) = world.claim(5)
    assert [claimed.match_id] == rated
    world.finish(claimed)
    assert of(world.claim(5)) == friendly


@on_one_database
def test_the_oldest_match_is_not_overtaken_for_ever_by_matches_of_bots_that_come_free_in_turn(world: World) -> None:
    first, second = modest(world, 2, 1)
    others = world.bots(2)
    arranged(world, plan([first, others[0]]))
    arranged(world, plan([second, others[1]]))
    playing = world.claim(5)
    (oldest,) = arranged(world, plan([first, second]))
    for _ in range(20):
        arranged(world, plan([first, others[0]]), plan([second, others[1]]))

    world.finish(playing[0])
    assert world.claim(5) == []  # the free one of its two bots waits
    world.finish(playing[1])

    assert of(world.claim(5)) == [oldest]


# -- in simulated time --


@dataclass
class Simulation:
    """A runner whose matches take a simulated time, which depends on who arranged them."""

    world: World
    hostile: set[str]
    slots: Pool
    now_s: float = 0.0
    ends: list[tuple[float, ClaimedMatch]] = field(default_factory=list)
    begun_s: dict[str, float] = field(default_factory=dict)

    def claim(self) -> None:
        while (room := self.slots.size - len(self.ends)) > 0:
            found = self.world.read(match_queue.find_matches, room, slots=self.slots)
            claimed = self.world.write(claims.claim_found, found.units, slots=self.slots)
            if not claimed:
                return
            for match in claimed:
                self.slots.take(match.lane)
                self.begun_s[match.claim.match_id] = self.now_s
                lasts_s = TARPIT_S if match.lane.account in self.hostile else MATCH_S
                heapq.heappush(self.ends, (self.now_s + lasts_s, match))

    def pass_until(self, until_s: float) -> None:
        """Let matches end and others begin up to this time."""
        self.claim()
        while self.ends and self.ends[0][0] <= until_s:
            self.now_s, ended = heapq.heappop(self.ends)
            self.slots.take(ended.lane, -1)
            with self.world.database.write() as session:
                of_match = StoredMatch.id == ended.claim.match_id
                session.execute(update(StoredMatch).where(of_match).values(status=MatchState.FINISHED))
            self.claim()
        self.now_s = until_s
        self.claim()

    def unfinished(self, match_ids: Sequence[str]) -> int:
        with self.world.database.read() as session:
            query = select(StoredMatch.id).where(StoredMatch.id.in_(match_ids))
            return len(session.scalars(query.where(StoredMatch.status != MatchState.FINISHED)).all())


@on_one_database
@pytest.mark.parametrize("aimed", [False, True])
def test_E21_ten_hostile_accounts_delay_a_match_of_an_organiser_by_no_more_than_its_length(
    world: World, aimed: bool
) -> None:
    accounts = [world.account() for _ in range(10)]
    victims = modest(world, 2, 8)
    for account in accounts:
        tarpit = world.bot(account)
        opponent = victims[0] if aimed else world.bot(account)
        arranged(world, *[plan([tarpit, opponent], account, rated=False)] * 10)
    simulation = Simulation(world, set(accounts), create_slots(8))
    simulation.pass_until(100)
    assert len(simulation.ends) == 4  # friendlies, in half of the slots

    rated = [arranged(world, plan(victims, created_by=world.account()))[0] for _ in range(4)]
    simulation.pass_until(100 + MATCH_S)

    assert [simulation.begun_s[match_id] for match_id in rated] == [100] * 4
    assert simulation.unfinished(rated) == 0


@on_one_database
def test_B16_K30_tarpits_of_ten_organisers_delay_the_matches_of_others_by_no_more_than_their_own(world: World) -> None:
    accounts = [world.account() for _ in range(10)]
    seated = world.bots(2)
    for account in accounts:
        arranged(world, *[plan(seated, created_by=account)] * 40)
    simulation = Simulation(world, set(accounts), create_slots(40))
    simulation.pass_until(100)
    assert len(simulation.ends) == 30

    honest = [arranged(world, *[plan(seated, created_by=world.account())] * 3) for _ in range(5)]
    simulation.pass_until(100 + 3 * MATCH_S)

    one_after_another = [100, 100 + MATCH_S, 100 + 2 * MATCH_S]
    for match_ids in honest:
        assert sorted(simulation.begun_s[match_id] for match_id in match_ids) == one_after_another
        assert simulation.unfinished(match_ids) == 0


@on_one_database
def test_B16_organisers_who_come_one_after_another_find_slots_although_the_first_took_all_they_may(
    world: World,
) -> None:
    accounts = [world.account() for _ in range(10)]
    simulation, seated = Simulation(world, set(accounts), create_slots(48)), world.bots(2)
    for number, account in enumerate(accounts):
        arranged(world, *[plan(seated, created_by=account)] * 48)
        simulation.pass_until(number)
    assert len(simulation.ends) == 36 + 9

    (honest,) = arranged(world, plan(seated, created_by=world.account()))
    simulation.pass_until(50)

    assert simulation.unfinished([honest]) == 0
