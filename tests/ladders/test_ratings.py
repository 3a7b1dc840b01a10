"""The ledger under random operations: stored ratings always equal a replay of its entries."""

import os
import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import select, update

from referee.bots import house_bots
from referee.bots.tables import Bot
from referee.errors import BadOption
from referee.ladders import ledger, ratings
from referee.ladders.ladder_rows import load_rows
from referee.ladders.match_ratings import SeatRating, rate_seats
from referee.ladders.tables import LedgerEntry, Rating, RatingChange
from referee.matches.tables import MatchSeat, Result, StoredMatch
from referee.ratings.elo import START
from referee.ratings.exchange import Seat, exchange
from referee.workflows.voids import match_cancellation
from tests.database.world import MANIFEST, World, certify, manifest_of
from tests.ladders.test_ledger_file import differences
from tests.surroundings import MASTER_KEY

STEPS = int(os.environ.get("REFEREE_LEDGER_STEPS", "20"))
SEED = int(os.environ.get("REFEREE_CAMPAIGN_SEED", "2"))


def standing(world: World) -> dict[str, tuple[int, int]]:
    return {row.bot_id: (row.value, row.games) for row in world.scalars(select(Rating)) if row.games}


def test_whatever_comes_in_whatever_order_stored_is_the_fold_of_what_counts(world: World) -> None:
    dice = random.Random(SEED)
    bots = world.bots(5)
    moments: dict[int, dict[str, tuple[int, int]]] = {}
    for _ in range(STEPS if world.database.is_sqlite else STEPS // 2):
        step(world, dice, bots)
        with world.database.read() as session:
            ladder = session.scalar(select(LedgerEntry.ladder_id))
            if ladder is not None:
                moments[ratings.last_seq(session, ladder)] = standing(world)

    assert ladder is not None
    assert differences(world, ladder) == []
    assert len(moments) > 3
    with world.database.read() as session:
        for seq, then in moments.items():
            page = load_rows(session, ladder, as_of=seq, limit=2).page
            rest = load_rows(session, ladder, as_of=seq, limit=10, cursor=page.next).page.items if page.next else []
            lines = [*page.items, *rest]
            assert {line.bot_id: (line.value, line.games) for line in lines} == then
            states = ledger.ratings_at(session, ladder, seq, bots)
            assert {bot: (held.value, held.games) for bot, held in states.items() if held.games} == then
            assert [line.rank for line in lines] == [
                1 + sum(other.value > line.value for other in lines) for line in lines
            ]
        with pytest.raises(BadOption, match="last ledger entry"):
            load_rows(session, ladder, as_of=max(moments) + 10**6)


def step(world: World, dice: random.Random, bots: list[str]) -> None:
    """Perform a random operation: start matches of a group, end, void or cancel one."""
    with world.database.read() as session:
        by_state: dict[str, list[str]] = {}
        for match in session.scalars(select(StoredMatch).order_by(StoredMatch.created_at, StoredMatch.id)):
            by_state.setdefault(match.status, []).append(match.id)
    match dice.choice(["arrange", "finish", "finish", "finish", "void", "cancel"]):
        case "arrange":
            world.sharing([dice.sample(bots, 2) for _ in range(dice.choice([1, 1, 3]))])
        case "finish" if "due" in by_state:
            (claim,) = world.claim(match_id=dice.choice(by_state["due"]))
            world.finish(claim, choice=dice.choice([0, 1]))
        case "void" if "finished" in by_state:
            world.void(dice.choice(by_state["finished"]))
        case "cancel" if "due" in by_state and dice.random() < 0.3:
            world.write(
                match_cancellation.cancel_match, dice.choice(by_state["due"]), master_key=MASTER_KEY, whole_group=True
            )
        case _:
            world.play(dice.sample(bots, 2), choice=dice.choice([0, 1]))


def test_voids_while_other_results_come_in_lose_and_double_nothing(world: World) -> None:
    bots = world.bots(4)
    over = [world.play([bots[n % 4], bots[(n + 1) % 4]], choice=n % 2) for n in range(4)]
    for n in range(4):
        world.match([bots[n % 4], bots[(n + 2) % 4]])
    world.sharing([bots[:2], bots[2:]])
    claims = world.claim(10)
    void = [result.match_id for result in over]
    works = [(world.finish, claims[::2]), (world.finish, claims[1::2]), (world.void, void[:2]), (world.void, void[2:])]

    def do_all(work: tuple[Callable[[Any], object], Sequence[Any]]) -> None:
        for subject in work[1]:
            work[0](subject)

    with ThreadPoolExecutor(len(works)) as threads:
        list(threads.map(do_all, works))

    assert differences(world, str(over[0].ladder_id)) == []
    assert sum(row.value + row.balance for row in world.scalars(select(Rating))) % START == 0


def test_a_seat_of_the_house_takes_no_part(world: World) -> None:
    one, other = world.bots(2)
    substitute = world.write(house_bots.get_or_create_house_bot, "sound").id
    match_id = world.match([one, other, substitute])
    with world.database.write() as session:
        session.execute(update(StoredMatch).where(StoredMatch.id == match_id).values(rated=True))
        seat = update(MatchSeat).where(MatchSeat.match_id == match_id, MatchSeat.bot_id == substitute)
        session.execute(seat.values(rated=False))
    (claim,) = world.claim(match_id=match_id)

    result = world.finish(claim, choice=1)

    assert (result.rated, result.anchors, set(standing(world))) == ([True, True, False], [None] * 3, {one, other})
    seats = zip(result.owners, result.placements, strict=True)
    changes = exchange([Seat(START, 0, str(owner), place) for owner, place in seats][:2], {})
    assert [standing(world)[bot][0] - START for bot in (one, other)] == [change.rating for change in changes]
    assert differences(world, str(result.ladder_id)) == []


def as_many_above_as_below(placements: list[int]) -> bool:
    """Tell whether the first seat finished behind as many seats as it finished ahead of."""
    first, *others = placements
    return sum(one < first for one in others) == sum(one > first for one in others)


def test_an_anchor_in_several_seats_has_one_change_and_the_sum_of_its_exchanges(world: World) -> None:
    (bot,) = world.bots(1)
    house = world.write(house_bots.get_or_create_house_bot, "house:3").id

    result = world.play([bot, house, house, house], game="pool-nap", choice=1)
    while as_many_above_as_below(result.placements):  # such a result moves no rating
        result = world.play([bot, house, house, house], game="pool-nap", choice=1)

    assert result.anchors == [None, START, START, START]
    with world.database.read() as session:
        seq = session.scalars(select(LedgerEntry.seq).where(LedgerEntry.match_id == result.match_id)).one()
        moved = sorted(session.scalars(select(RatingChange.bot_id).where(RatingChange.seq == seq)))
        balance = session.scalars(select(Rating.balance).where(Rating.bot_id == house)).one()
    assert moved == sorted([bot, house])
    assert standing(world)[bot][0] - START == -balance != 0
    assert differences(world, str(result.ladder_id)) == []


def test_each_seat_of_a_repeated_anchor_is_compared_by_its_own_placement() -> None:
    changes = {"bot": (START, START + 7), "house": (START, START)}

    worse, bot, better, unrated = rate_seats(["house", "bot", "house", "other"], [3, 2, 1, 4], changes)

    assert worse == SeatRating(START, 0, 0.5, 0.0)
    assert bot == SeatRating(START, 7, 0.5, 0.5)
    assert better == SeatRating(START, 0, 0.5, 1.0)
    assert unrated is None


def test_the_history_marks_a_change_of_version(world: World) -> None:
    bot, other = world.bots(2)

    def played_as(version: str) -> Result:
        with world.database.write() as session:
            session.execute(update(Bot).where(Bot.id == bot).values(version=version))
            certify(session, bot, manifest_of(version, MANIFEST.games, 100))
        return world.play([bot, other])

    before = [played_as(version) for version in ("1.0", "1.0", "2.0")]
    world.void(before[-1].match_id)
    last = played_as("3.0")

    with world.database.read() as session:
        whole = ratings.list_changes(session, str(last.ladder_id), bot).items
        first = ratings.list_changes(session, str(last.ladder_id), bot, limit=1)
        second = ratings.list_changes(session, str(last.ladder_id), bot, limit=4, cursor=first.next)
    assert [(one.kind, one.version, one.version_changed) for one in whole] == [
        ("result", "3.0", True),
        ("void", None, False),
        ("result", "2.0", True),
        ("result", "1.0", False),
        ("result", "1.0", False),
    ]
    assert whole == [*first.items, *second.items]
    assert [one.games for one in whole] == [3, 2, 3, 2, 1]
