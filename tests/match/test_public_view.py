"""The public view of a growing log, and where its rounds begin."""

import pytest

from referee.games import game
from referee.match.canonical import Json
from referee.match.log import PublicView, opens_round, parse_row, visible_events
from tests.golden import FOLDER

LOGS = sorted(FOLDER.glob("*.ndjson"))


def rows_of(name: str) -> list[Json]:
    return [parse_row(line) for line in (FOLDER / name).read_bytes().splitlines()]


@pytest.mark.parametrize("name", [path.name for path in LOGS])
@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_a_log_that_grows_is_told_as_if_it_had_been_there_at_once(name: str, step: int) -> None:
    rows = rows_of(name)
    header = rows[0]
    view = PublicView(header)

    news = [item for first in range(0, len(rows), step) for item in view.add(rows[first : first + step])]

    events = [event for row in rows for event in row.get("events", [])]
    assert news == view.items
    masked = visible_events(game(header["game"]), events, None, header["options"])
    assert news == [{"number": number, "event": event} for number, event in enumerate(masked)]


@pytest.mark.parametrize("name", [path.name for path in LOGS])
def test_each_round_begins_once_and_nothing_of_it_comes_in_another_way(name: str) -> None:
    rows = rows_of(name)
    header, events = rows[0], [event for row in rows for event in row.get("events", [])]
    openings = [event for event in events if event["event"] == game(header["game"]).opening]
    count = "deal" if "deal" in openings[0] else "round"

    begun = [event.get(count, 1) for event in openings]  # a game of a single round need not number it
    rounds = [row for row in rows if opens_round(row, header)]

    assert begun == list(range(1, len(begun) + 1))
    assert len(rounds) == len(begun) > 0
    later = {event[count] for event in events if count in event}
    assert later <= set(begun)
