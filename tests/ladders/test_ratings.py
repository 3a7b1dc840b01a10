"""The ledger under random operations: stored ratings always equal a replay of its entries."""

import os
import random
import threading
from collections.abc import Callable

import pytest
from sqlalchemy import select, update

from referee.audit.database_audit import audit
from referee.bots import house_bots
from referee.bots.tables import Bot
from referee.errors import BadOption
from referee.ladders import ledger, ratings
from referee.ladders.ladder_rows import load_rows
from referee.ladders.match_ratings import SeatRating, rate_seats
from referee.ladders.tables import LedgerEntry, Rating
from referee.matches.deals import deal_groups
from referee.matches.queue.claims import Claim
from referee.matches.tables import MatchSeat, Result, StoredMatch
from referee.ratings.elo import START
from referee.ratings.exchange import K_NEW, Parties, Seat, exchange, stake
from referee.workflows.voids import match_cancellation, voiding
from tests.database.world import MANIFEST, World, certify, manifest_of
from tests.surroundings import MASTER_KEY

STEPS = int(os.environ.get("REFEREE_LEDGER_STEPS", "20"))
SEED = int(os.environ.get("REFEREE_CAMPAIGN_SEED", "2"))


def standing(world: World) -> dict[str, tuple[int, int]]:
    with world.database.read() as session:
        return {row.bot_id: (row.value, row.games) for row in session.scalars(select(Rating)) if row.games}


def by_hand(world: World) -> dict[str, tuple[int, int]]:
    """Replay the entries in order; a void takes back what its result gave. All bots are new, each of its own owner."""
    values: dict[str, tuple[int, int]] = {}
    given: dict[str | None, dict[str, int]] = {}
    day, exchanged = None, dict[Parties, int]()
    with world.database.read() as session:
        results = {result.match_id: result for result in session.scalars(select(Result))}
        for entry in session.scalars(select(LedgerEntry).order_by(LedgerEntry.seq)):
            if entry.kind == "void":
                for bot, change in given.get(entry.match_id, {}).items():
                    values[bot] = values[bot][0] - change, values[bot][1] - 1
                continue
            if entry.created_at.date() != day:
                day, exchanged = entry.created_at.date(), {}
            result = results[str(entry.match_id)]
            known = [values[bot] if values.get(bot, (START, 0))[1] else (START, 0) for bot in result.bots]
            by_seat = zip(known, result.owners, result.placements, strict=True)
            seats = [Seat(value, stake(games), str(owner), place) for (value, games), owner, place in by_seat]
            given[entry.match_id] = dict(zip(result.bots, exchange(seats, exchanged), strict=True))
            for bot, (value, games) in zip(result.bots, known, strict=True):
                values[bot] = value + given[entry.match_id][bot], games + 1
    return {bot: (value, games) for bot, (value, games) in values.items() if games}


def differences(world: World) -> list[str]:
    with world.database.read() as session:
        return [str(one) for one in audit(session)]


def test_whatever_comes_in_whatever_order_stored_is_the_fold_of_what_counts(world: World) -> None:
    dice = random.Random(SEED)
    bots = world.bots(5)
    moments: dict[int, dict[str, tuple[int, int]]] = {}
    for _ in range(STEPS if world.database.is_sqlite else STEPS // 2):
        step(world, dice, bots)
        assert standing(world) == by_hand(world)
        with world.database.read() as session:
            ladder = session.scalar(select(LedgerEntry.ladder_id))
            if ladder is not None:
                moments[ratings.last_seq(session, ladder)] = standing(world)

    assert differences(world) == []
    assert len(moments) > 3
    with world.database.read() as session:
        assert ladder is not None
        for seq, then in moments.items():
            page = load_rows(session, ladder, as_of=seq, limit=2).page
            rest = load_rows(session, ladder, as_of=seq, limit=10, cursor=page.next).page.items if page.next else []
            lines = [*page.items, *rest]
            assert {line.bot_id: (line.value, line.games) for line in lines} == then
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
            shared(world, [dice.sample(bots, 2) for _ in range(dice.choice([1, 1, 3]))])
        case "finish" if "due" in by_state:
            (claim,) = world.claim(match_id=dice.choice(by_state["due"]))
            world.finish(claim, choice=dice.choice([0, 1]))
        case "void" if "finished" in by_state:
            make_void(world, dice.choice(by_state["finished"]))
        case "cancel" if "due" in by_state and dice.random() < 0.3:
            with world.database.write() as session:
                match_cancellation.cancel_match(
                    session, dice.choice(by_state["due"]), master_key=MASTER_KEY, whole_group=True
                )
        case _:
            world.play(dice.sample(bots, 2), choice=dice.choice([0, 1]))


def shared(world: World, tables: list[list[str]]) -> list[str]:
    with world.database.write() as session:
        group = deal_groups.create_group(session, [bot for table in tables for bot in table], master_key=MASTER_KEY)
        return [world.matched(session, table, group=group).id for table in tables]


def make_void(world: World, match_id: str) -> None:
    with world.database.write() as session:
        voiding.void_match(session, match_id, "at random", created_by=None, master_key=MASTER_KEY)


def test_voids_while_other_results_come_in_lose_and_double_nothing(world: World) -> None:
    bots = world.bots(4)
    over = [world.play([bots[n % 4], bots[(n + 1) % 4]], choice=n % 2).match_id for n in range(4)]
    for n in range(4):
        world.match([bots[n % 4], bots[(n + 2) % 4]])
    shared(world, [bots[:2], bots[2:]])
    claims = world.claim(10)
    failures: list[Exception] = []

    def all_of(effect: Callable[[], object]) -> None:
        try:
            effect()
        except Exception as error:  # noqa: BLE001  # told below
            failures.append(error)

    def finish(some: list[Claim]) -> None:
        for claim in some:
            world.finish(claim)

    def make_all_void(some: list[str]) -> None:
        for match_id in some:
            make_void(world, match_id)

    works = [lambda: finish(claims[::2]), lambda: finish(claims[1::2])]
    works += [lambda: make_all_void(over[:2]), lambda: make_all_void(over[2:])]
    threads = [threading.Thread(target=all_of, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert failures == []
    assert standing(world) == by_hand(world)
    assert differences(world) == []
    assert sum(value for value, _ in standing(world).values()) % START == 0


def test_a_seat_of_the_house_takes_no_part(world: World) -> None:
    one, other = world.bots(2)
    with world.database.write() as session:
        substitute = house_bots.get_or_create_house_bot(session, "sound").id
    match_id = world.match([one, other, substitute])
    with world.database.write() as session:
        session.execute(update(StoredMatch).where(StoredMatch.id == match_id).values(rated=True))
        seat = update(MatchSeat).where(MatchSeat.match_id == match_id, MatchSeat.bot_id == substitute)
        session.execute(seat.values(rated=False))
    (claim,) = world.claim(match_id=match_id)

    result = world.finish(claim, choice=1)

    assert (result.rated, result.anchors, set(standing(world))) == ([True, True, False], [None] * 3, {one, other})
    seats = zip(result.owners, result.placements, strict=True)
    expected = exchange([Seat(START, K_NEW, str(owner), place) for owner, place in seats][:2], {})
    assert [standing(world)[bot][0] - START for bot in (one, other)] == expected
    assert differences(world) == []


def as_many_above_as_below(placements: list[int]) -> bool:
    """Tell whether the first seat finished behind as many seats as it finished ahead of."""
    first, *others = placements
    return sum(one < first for one in others) == sum(one > first for one in others)


def test_an_anchor_in_several_seats_has_one_change_and_the_sum_of_its_exchanges(world: World) -> None:
    (bot,) = world.bots(1)
    with world.database.write() as session:
        house = house_bots.get_or_create_house_bot(session, "house:3").id

    result = world.play([bot, house, house, house], game="pool-nap", choice=1)
    while as_many_above_as_below(result.placements):  # such a result moves no rating
        result = world.play([bot, house, house, house], game="pool-nap", choice=1)

    assert result.anchors == [None, START, START, START]
    with world.database.read() as session:
        seq = session.scalars(select(LedgerEntry.seq).where(LedgerEntry.match_id == result.match_id)).one()
        changes = ratings.list_entry_changes(session, seq)
        balance = session.scalars(select(Rating.balance).where(Rating.bot_id == house)).one()
    assert [change.bot_id for change in changes] == sorted([bot, house])
    assert standing(world)[bot][0] - START == -balance != 0
    assert differences(world) == []


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
    make_void(world, before[-1].match_id)
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


def test_a_bot_is_told_as_it_stood_at_any_act(world: World) -> None:
    seated = world.bots(2)
    played = [world.play(seated, choice=1) for _ in range(2)]
    with world.database.read() as session:
        ladder = str(played[0].ladder_id)
        last = ratings.last_seq(session, ladder)
        for seq in (0, last - 1, last):
            told = ledger.ratings_at(session, ladder, seq, seated)
            lines = {line.bot_id: line.value for line in load_rows(session, ladder, as_of=seq).page.items}
            assert {bot: held.value for bot, held in told.items() if held.games} == lines
