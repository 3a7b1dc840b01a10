"""Find the logs of a tournament, a bot, a ladder or a span of time, on both databases."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from referee.errors import BadOption, LogDeleted
from referee.matches.tables import MatchLog, Result, StoredMatch
from referee.workflows.publishing import log_downloads
from referee.workflows.publishing.log_downloads import LogList, LogSelection, find_logs
from tests.database import tournaments
from tests.database.world import World


def find(world: World, selection: LogSelection, after: str | None = None) -> LogList:
    return world.read(find_logs, selection, after=after)


def matches_in(world: World, found: LogList) -> list[str]:
    """Return the matches of the list, read page by page."""
    ids: list[str] = []
    with world.database.read() as session:
        while page := log_downloads.list_entries(session, found, len(ids)):
            ids += [entry.match_id for entry in page]
    return ids


def delete_log(world: World, match_id: str) -> None:
    with world.database.write() as session:
        moment = {"log_deleted_at": world.clock.moment}
        session.execute(update(StoredMatch).where(StoredMatch.id == match_id).values(**moment))
        session.execute(update(MatchLog).where(MatchLog.match_id == match_id).values(gzip_log=b"", reveal_line=None))


def test_logs_follow_in_the_order_of_the_ends_from_any_match(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_downloads, "PAGE_SIZE", 2)
    event, _ = tournaments.begun(world, 3)
    results = [world.finish(claim) for claim in world.claim(3)]
    tournaments.go_on(world.database, event)
    world.play(world.bots(2))
    selection = LogSelection(tournament_id=event)

    assert matches_in(world, find(world, selection)) == [result.match_id for result in results]
    assert matches_in(world, find(world, selection, results[0].match_id)) == [one.match_id for one in results[1:]]
    assert len(find(world, selection, results[2].match_id)) == 0


def test_a_selection_is_by_bot_by_ladder_and_by_span(world: World) -> None:
    ada, bob, cyd = world.bots(3)
    friendly, rated, other = (
        world.play([ada, bob], rated=False),
        world.play([ada, cyd], rated=True),
        world.play([bob, cyd], rated=True),
    )
    with world.database.write() as session:
        moment = other.finished_at - timedelta(days=1)
        session.execute(update(Result).where(Result.seq == friendly.seq).values(finished_at=moment))

    bound = moment + timedelta(hours=1)

    def ids(selection: LogSelection) -> list[str]:
        return matches_in(world, find(world, selection))

    assert ids(LogSelection(bot_id=ada)) == [friendly.match_id, rated.match_id]
    assert ids(LogSelection(ladder_id=rated.ladder_id)) == [rated.match_id, other.match_id]
    assert ids(LogSelection(finished_before=bound)) == [friendly.match_id]
    assert ids(LogSelection(finished_since=moment)) == [one.match_id for one in (friendly, rated, other)]
    assert ids(LogSelection(bot_id=ada, finished_since=bound)) == [rated.match_id]
    for after in (other.match_id, "mat_" + "0" * 26):
        with pytest.raises(BadOption, match="match of this download"):
            find(world, LogSelection(bot_id=ada), after)


def test_logs_from_the_first_closed_one_on_are_withheld(world: World) -> None:
    ada, bob, cyd, dan = world.bots(4)
    first = world.play([ada, bob])
    early, late = world.sharing([[ada, bob], [cyd, dan]])
    (claim,) = world.claim(match_id=early)
    world.finish(claim)
    last = world.play([ada, bob])
    selection = LogSelection(bot_id=ada)

    before = find(world, selection)
    (claim,) = world.claim(match_id=late)
    world.finish(claim)
    after = find(world, selection, first.match_id)

    assert matches_in(world, before) == [first.match_id]
    assert before.withheld == 2
    assert matches_in(world, after) == [early, last.match_id]
    assert after.withheld == 0


def test_deleted_logs_are_left_out_and_counted(world: World) -> None:
    ada, bob = world.bots(2)
    first, second, third = (world.play([ada, bob]).match_id for _ in range(3))
    delete_log(world, first)
    delete_log(world, second)

    found = find(world, LogSelection(bot_id=ada))

    assert (matches_in(world, found), found.deleted) == ([third], 2)
    assert find(world, LogSelection(bot_id=ada), first).deleted == 1
    with world.database.read() as session, pytest.raises(LogDeleted):
        log_downloads.load_gzip_log(session, first)
