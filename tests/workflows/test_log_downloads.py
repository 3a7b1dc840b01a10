"""Find the logs of a tournament, a bot, a ladder or a span of time, on both databases."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from referee.errors import BadOption
from referee.matches.tables import Result
from referee.workflows.publishing import log_downloads
from referee.workflows.publishing.log_downloads import LogList, LogSelection, find_logs
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
