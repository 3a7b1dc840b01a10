"""Two schedulers on official ladders: bots get no match too many, and errors of ratings follow the newest results."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import select

from referee.bots import bots
from referee.ladders import members, official_matches, rating_errors
from referee.ladders.ladder_rows import load_ranks
from referee.ladders.tables import LadderPlayer
from referee.matches.states import PLAYABLE
from referee.matches.tables import MatchSeat, StoredMatch
from tests.database.world import World
from tests.ladders.official_play import end_all, later, poker_bot, prepare
from tests.surroundings import MASTER_KEY

SCHEDULERS = 2
HOURS = 6
MAXIMUM = 3


def sweep_together(world: World) -> int:
    """Let all schedulers see the same work before one of them writes. Return the number of matches made."""
    seen = Barrier(SCHEDULERS)

    def sweep() -> int:
        works = world.read(official_matches.has_work, master_key=MASTER_KEY)
        seen.wait(timeout=30)
        if not works:
            return 0
        return world.write(official_matches.make_matches, master_key=MASTER_KEY)

    with ThreadPoolExecutor(SCHEDULERS) as threads:
        return sum(done.result() for done in [threads.submit(sweep) for _ in range(SCHEDULERS)])


def count_matches(world: World, *, playable: bool) -> Counter[str]:
    """Return the number of matches of each bot."""
    query = select(MatchSeat.bot_id).join(StoredMatch, StoredMatch.id == MatchSeat.match_id)
    query = query.join(LadderPlayer, LadderPlayer.bot_id == MatchSeat.bot_id)
    if playable:
        query = query.where(StoredMatch.status.in_(PLAYABLE))
    with world.database.read() as session:
        return Counter(session.scalars(query))


def test_no_bot_gets_a_match_too_many(world: World) -> None:
    prepare(world)
    bot_ids = [poker_bot(world) for _ in range(6)]
    with world.database.write() as session:
        for bot_id in bot_ids:
            members.change_settings(session, bots.get_bot(session, bot_id), {"daily_maximum": MAXIMUM})
    made = 0
    for _ in range(HOURS):
        made += sweep_together(world)
        assert set(count_matches(world, playable=True).values()) <= {1}
        end_all(world)
        later(world, hours=1)

    assert count_matches(world, playable=False) == dict.fromkeys(bot_ids, MAXIMUM)
    assert len(world.scalars(select(StoredMatch.id))) == made


def load_errors(world: World, ladder_id: str, bot_ids: list[str]) -> dict[str, float | None]:
    with world.database.read() as session:
        assert rating_errors.list_outdated(session) == []
        return {bot_id: load_ranks(session, bot_id, ladder_id)[0].row.error for bot_id in bot_ids}


def test_a_slow_scheduler_does_not_replace_newer_errors(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    pair, newer, compute = world.bots(2), list[dict[str, float | None]](), rating_errors.compute_errors
    world.play(pair)
    (ladder_id,) = world.read(rating_errors.list_outdated)

    def compute_slowly(*found: Any) -> dict[str, float]:
        monkeypatch.setattr(rating_errors, "compute_errors", compute)
        older = compute(*found)
        world.play(pair)
        rating_errors.refresh_errors(world.database, ladder_id)
        newer.append(load_errors(world, ladder_id, pair))
        assert newer[0] != older
        return older

    monkeypatch.setattr(rating_errors, "compute_errors", compute_slowly)
    rating_errors.refresh_errors(world.database, ladder_id)

    assert [load_errors(world, ladder_id, pair)] == newer
