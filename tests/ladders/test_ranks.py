"""Ranks counted in bands equal ranks counted directly, whatever happened before."""

import random

from sqlalchemy import select

from referee.accounts.tables import Account
from referee.bots.tables import Bot
from referee.db.engine import Database
from referee.ladders import ledger, ranks, ratings
from referee.ladders.ladder_rows import RankedBot, find_rows, load_ranks, load_rows
from referee.ladders.rating_replay import RatingState
from referee.ladders.tables import Rating, RatingCount
from referee.ratings.elo import MICRO, START
from tests.database.world import GAME, World

SIZE = 120


def test_F12_ranks_and_counts_hold_through_any_moves(world: World, database: Database) -> None:
    dice = random.Random(5)
    with database.write() as session:
        ladder_id = ratings.get_or_create_ladder(session, GAME, {}, 2).id
        bots = [f"bot_{number}" for number in range(SIZE)]
        session.add(Account(id="acc", name="x", normalized_name="x", role="owner", created_at=world.clock.utc_now()))
        session.flush()
        session.add_all(bot_row(bot, world) for bot in bots)
    held: dict[str, RatingState] = {}
    for _ in range(3):
        with database.write() as session:
            moved = {bot: some_rating(dice) for bot in dice.sample(bots, SIZE // 2)}
            ranks.update_counts(session, ladder_id, [held[bot] for bot in moved if bot in held], moved.values())
            held |= moved
            for bot, state in moved.items():
                session.merge(Rating(ladder_id=ladder_id, bot_id=bot, as_of_seq=0, **state._asdict()))

        with database.read() as session:
            stored = {row.band: row.bots for row in session.scalars(select(RatingCount)) if row.bots}
            found = {bot: load_ranks(session, bot, ladder_id) for bot in bots}
            sorted_rows, total = find_rows(session, ladder_id, limit=SIZE)
            paged, cursor = list[RankedBot](), None
            while not paged or cursor is not None:
                page = load_rows(session, ladder_id, limit=35, cursor=cursor)
                paged += page.page.items
                cursor = page.page.next
        playing = {bot: state.value for bot, state in held.items() if state.games}
        by_hand = {bot: 1 + sum(value > own for value in playing.values()) for bot, own in playing.items()}
        assert stored == ranks.count_bands(held.values())
        assert {bot: one.row.rank for bot in bots for one in found[bot]} == by_hand
        assert {row.bot_id: row.rank for row in sorted_rows} == by_hand
        assert {one.total for bot in bots for one in found[bot]} == {total} == {len(playing)}
        assert paged == sorted_rows


def some_rating(dice: random.Random) -> RatingState:
    """Return ratings near the start and far away, at band edges and below zero, often equal; some without a match."""
    value = dice.choice(
        [START, START + 1, START - 1, 1536 * MICRO, 1536 * MICRO - 1, -1, 0, -64 * MICRO]
        + [round(dice.gauss(START, 2 * MICRO)), round(dice.gauss(START, 300 * MICRO))] * 4
    )
    return dice.choice([RatingState(), RatingState(value, 1), RatingState(value, 9)])


def bot_row(bot_id: str, world: World) -> Bot:
    return Bot(
        id=bot_id, owner_id="acc", name=bot_id, normalized_name=bot_id, url="", host="", status="verified", games=[],
        max_concurrent_requests=1, secret_generation=1, revision=1, created_at=world.clock.utc_now(),
        handshake_state="idle", epoch=0, handshake_lost_claims=0,
    )  # fmt: skip


def test_a_result_brings_its_bots_to_their_places(world: World) -> None:
    bots = world.bots(3)
    result = world.play(bots[:2], choice=1)
    ladder = str(result.ladder_id)
    with world.database.read() as session:
        found = [one for bot in bots for one in load_ranks(session, bot, ladder)]
        values = ledger.ratings_at(session, ladder, ratings.last_seq(session, ladder), bots)

    assert [(one.row.rank, one.total, one.row.games) for one in found] == [
        (1 + sum(values[other].value > values[bot].value for other in bots[:2]), 2, 1) for bot in bots[:2]
    ]
