"""Order of the queue: accounts take turns, and duplicate groups are claimed as a whole."""

from collections.abc import Sequence

from sqlalchemy import delete, update

from referee.match.time_limits import Limits
from referee.matches import scheduling
from referee.matches.queue import claims, match_queue, queued_seats
from referee.matches.queue.claims import Claim
from referee.matches.queue.shares import create_slots
from referee.matches.scheduling import Deal, MatchPlan
from referee.matches.states import DealSharing
from referee.matches.tables import QueuedSeat, StoredMatch
from referee.workflows.voids import match_cancellation
from tests.database.checks import on_one_database
from tests.database.queue import due_seats, listed
from tests.database.world import GAME, MANIFEST, World, manifest_of
from tests.surroundings import MASTER_KEY

SLOTS = create_slots(8)  # an account may play two friendlies in them


def arranged(world: World, *plans: MatchPlan) -> list[str]:
    return world.write(scheduling.create_matches, plans, master_key=MASTER_KEY)


def plan(seated: Sequence[str], created_by: str | None = None, *, together: str = "", rated: bool = True) -> MatchPlan:
    deal = Deal(together, DealSharing.DUPLICATE) if together else None
    return MatchPlan(GAME, seated, {}, Limits(), created_by=created_by, deal=deal, rated=rated)


def of(claimed: Sequence[Claim]) -> list[str]:
    return [claim.match_id for claim in claimed]


def give_back(world: World, claimed: Sequence[Claim]) -> None:
    world.write(claims.release_claims, claimed)


@on_one_database
def test_E21_many_matches_of_one_account_do_not_delay_the_one_of_another(world: World) -> None:
    seated, many, few = world.bots(2), world.account(), world.account()
    early = arranged(world, *[plan(seated, many)] * 30)
    early += arranged(world, *[plan(seated, many)] * 2)
    late = arranged(world, *[plan(seated, few)] * 2)
    of_nobody = arranged(world, plan(seated))

    first, second, third = world.claim(4), world.claim(4), world.claim(4)

    # The account with the fewest matches in progress is next, then the longest wait: many, few, nobody, many, few.
    assert [one in early for one in of(first)] == [True, False, False, True]
    assert of(first)[1] in late
    assert of(first)[2:3] == of_nobody
    assert of(second)[0] in late
    assert set(of(second)[1:] + of(third)) <= set(early[:30])
    assert early[-1] not in of(third)


def test_E21_friendlies_of_one_account_are_played_up_to_its_share_however_often_runners_ask(world: World) -> None:
    seated, many, few = world.bots(2), world.account(), world.account()
    early = sorted(
        arranged(world, *[plan(seated, many, rated=False)] * 130)
    )  # arranged at the same time, so ordered by id
    rated = arranged(world, plan(seated, many))  # arranged by an organiser
    others = sorted(arranged(world, *[plan(seated, few, rated=False)] * 3))

    claimed = [world.claim(2, slots=SLOTS) for _ in range(4)]

    mine = [claim for taken in claimed for claim in taken if claim.match_id in early]
    assert of(mine) == early[:2]
    assert {one for taken in claimed for one in of(taken)} == {*early[:2], *rated, *others[:2]}
    world.finish(mine[0])
    assert of(world.claim(5, slots=SLOTS)) == early[2:3]


def test_E21_friendlies_whose_runner_is_gone_are_taken_up_again_within_the_share(world: World) -> None:
    seated, many = world.bots(2), world.account()
    friendlies = sorted(arranged(world, *[plan(seated, many, rated=False)] * 4))
    assert len(world.claim(4)) == 4
    world.pass_seconds(16)

    again = [of(world.claim(1, slots=SLOTS)), of(world.claim(4, slots=SLOTS)), of(world.claim(4, slots=SLOTS))]

    assert again == [friendlies[:1], friendlies[1:2], []]


@on_one_database
def test_a_full_bot_of_one_account_leaves_the_turn_to_others(world: World) -> None:
    busy, *others = world.bot(manifest=manifest_of("1", MANIFEST.games, 1)), *world.bots(2)
    first, second = world.account(), world.account()
    blocked = arranged(world, *[plan([busy, others[0]], first)] * 20)
    free = arranged(world, plan(others, first), *[plan(others, second)] * 3)

    claimed = of(world.claim(5))

    assert len(claimed) == 5
    assert set(claimed) == {*free, claimed[0]}
    assert claimed[0] in blocked


@on_one_database
def test_thousands_of_matches_that_wait_for_one_bot_hold_up_no_others_of_their_creator(world: World) -> None:
    busy, *others = world.bot(manifest=manifest_of("1", MANIFEST.games, 1)), *world.bots(2)
    account_id = world.account()
    for _ in range(3):  # as of a few gauntlets of the same slow bot
        arranged(world, *[plan([busy, others[0]], account_id)] * 110)
    free = arranged(world, plan(others, account_id))

    assert len(world.claim(5)) == 2
    world.finish(Claim(free[0], 1))

    assert world.claim(5) == []


def test_matches_of_a_duplicate_group_go_out_together_even_where_one_was_asked_for(world: World) -> None:
    seated = world.bots(2)
    alone = arranged(world, plan(seated))
    group = arranged(world, plan(seated, together="a"), plan(seated[::-1], together="a"))
    after = arranged(world, plan(seated))

    first, second, third = world.claim(2), world.claim(1), world.claim(2)

    assert of(first) == alone  # a part of the group would fit; the whole comes first in the next claim
    assert set(of(second)) == set(group)
    assert of(third) == after


@on_one_database
def test_a_duplicate_group_waits_until_its_bots_have_their_calls_free(world: World) -> None:
    busy, other = world.bot(manifest=manifest_of("1", MANIFEST.games, 2)), world.bot()
    (before,) = arranged(world, plan([busy, other]))
    group = arranged(world, *[plan([busy, other], together="a")] * 3)

    (first,) = world.claim(5)
    assert first.match_id == before
    assert world.claim(5) == []
    world.finish(first)

    assert set(of(world.claim(5))) == set(group)  # three seats of a bot that accepts two calls: it needs both


@on_one_database
def test_a_duplicate_group_is_not_held_up_for_ever_by_single_matches_that_fit(world: World) -> None:
    busy, *others = world.bot(manifest=manifest_of("1", MANIFEST.games, 2)), *world.bots(2)
    arranged(world, plan([busy, others[0]]))
    (playing,) = world.claim(5)
    group = arranged(world, *[plan([busy, others[0]], together="a")] * 2)
    arranged(world, plan([busy, others[1]]))
    apart = arranged(world, plan(others))

    # A free call of the bot would suffice for the younger single match: it stays reserved for the group.
    assert of(world.claim(5)) == apart
    world.finish(playing)

    assert set(of(world.claim(5))) == set(group)


def test_a_duplicate_group_given_back_in_parts_goes_out_whole_again(world: World) -> None:
    seated = world.bots(2)
    arranged(world, *[plan(seated, together="a")] * 3)
    claimed = world.claim(3)
    world.finish(claimed[0])

    give_back(world, claimed[1:2])
    assert world.claim(3) == []
    give_back(world, claimed[2:])
    again = world.claim(1)

    assert set(of(again)) == set(of(claimed[1:]))
    world.pass_seconds(16)
    assert len(world.claim(1)) == 1  # lost matches are claimed one by one


# -- the list of due matches --


def test_the_list_has_each_bot_of_each_due_match(world: World) -> None:
    first, second = world.bots(2)
    made = arranged(world, plan([first, second]), plan([second, second, first]), plan([first, second]))
    states = [listed(world.database)]
    claimed = world.claim(2)
    states.append(listed(world.database))
    give_back(world, claimed[:1])
    (waiting,) = {*made} - {*of(claimed)}
    world.write(match_cancellation.cancel_match, waiting, master_key=MASTER_KEY)

    assert [len(rows) for rows in states] == [6, 2]  # each has both bots, one of them in two seats
    assert listed(world.database) == due_seats(world.database)
    assert {match_id for match_id, _, _ in listed(world.database)} == {claimed[0].match_id}


def test_a_match_missing_in_the_list_is_put_back_when_it_is_the_oldest(world: World) -> None:
    match_id = world.match()
    world.execute(delete(QueuedSeat))
    later = world.match()
    ended = world.claim(1)
    assert of(ended) == [later]

    assert world.read(queued_seats.is_oldest_missing)
    with world.database.write() as session:
        queued_seats.repair_queue(session)
        assert not queued_seats.is_oldest_missing(session)

    assert listed(world.database) == due_seats(world.database)
    assert of(world.claim(1)) == [match_id]


@on_one_database
def test_a_match_is_found_behind_many_that_are_listed_though_they_are_not_due(world: World) -> None:
    seated = world.bots(2)
    excess = arranged(world, *[plan(seated)] * (match_queue.WINDOW + 1))
    world.execute(update(StoredMatch).where(StoredMatch.id.in_(excess)).values(status="waiting"))
    wanted = arranged(world, plan(seated))

    assert of(world.claim(1)) == wanted
    world.write(queued_seats.repair_queue)
    assert listed(world.database) == set()
