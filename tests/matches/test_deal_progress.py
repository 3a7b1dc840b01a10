"""Progress of a deal group: what all of its matches have drawn, found by reading few rows."""

from random import Random

import pytest
from sqlalchemy import event, insert, update

from referee.match.canonical import Json, dumps
from referee.matches.deals import deal_progress
from referee.matches.deals.deal_progress import DealGroupProgress, DrawCounts
from referee.matches.tables import LogRow, StoredMatch
from tests.database.checks import on_one_database
from tests.database.world import World

TABLES = 6


class Group:
    """A group whose rows are written by the test."""

    def __init__(self, world: World) -> None:
        self.world = world
        matches = world.sharing([world.bots(2)] * TABLES)
        self.id = world.get_one(StoredMatch, matches[0]).group_id
        self.rows: dict[str, list[Json]] = {match_id: [] for match_id in matches}

    def add(self, match_id: str, kinds: list[str]) -> None:
        """Add rows of decisions, decks and draws."""
        made, start = [], len(self.rows[match_id])
        for kind in kinds:
            row = {"type": "chance", "chance": {"kind": kind}} if kind != "decision" else decision()
            made.append(row)
        self.rows[match_id] += made
        values = [
            {"match_id": match_id, "row": start + place, "line": dumps(row), "recorded_at": 0.0}
            for place, row in enumerate(made)
        ]
        with self.world.database.write() as session:
            if values:
                session.execute(insert(LogRow), values)
            session.execute(update(StoredMatch).where(StoredMatch.id == match_id).values(rows=start + len(made)))

    def end(self, match_id: str) -> None:
        del self.rows[match_id]
        self.world.execute(update(StoredMatch).where(StoredMatch.id == match_id).values(status="finished"))

    def last(self, tables: DealGroupProgress) -> DrawCounts | None:
        return self.world.read(tables.find_slowest, self.id)

    def least(self) -> DrawCounts | None:
        """Return the result by counting all rows."""
        kinds = [
            [row.get("chance", {}).get("kind") for row in rows if row["type"] == "chance"]
            for rows in self.rows.values()
        ]
        if not kinds:
            return None
        return DrawCounts(min(one.count("deck") for one in kinds), min(one.count("draw") for one in kinds))


def decision() -> Json:
    """Return a decision that mentions chance."""
    return {"type": "decision", "action": {"type": "chance", "kind": "deck"}, "note": '"type":"chance"'}


@on_one_database
def test_what_all_tables_have_drawn_is_found_whatever_they_do(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deal_progress, "PAGE_SIZE", 3)
    random, group, tables = Random(7), Group(world), DealGroupProgress()
    found, expected = [], []

    while group.rows:
        match_id = random.choice(list(group.rows))
        if random.random() < 0.12:
            group.end(match_id)
        else:
            group.add(match_id, random.choices(["decision", "deck", "draw"], [6, 2, 1], k=random.randint(0, 12)))
        found.append(group.last(tables))
        expected.append(group.least())

    assert found == expected
    assert len({(one.decks, one.draws) for one in found if one}) > 5
    assert found[-1] is None


@on_one_database
def test_where_there_is_much_to_read_what_is_found_is_never_too_much(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deal_progress, "MAX_ROWS_READ", 1)
    group, tables = Group(world), DealGroupProgress()
    for match_id in group.rows:
        group.add(match_id, ["deck", "draw", "deck"])

    found = [group.last(tables) for _ in range(TABLES + 1)]

    assert found[0] == DrawCounts(0, 0)
    assert found[-1] == DrawCounts(2, 1)


def test_as_long_as_the_last_is_where_it_was_little_is_asked_for(world: World) -> None:
    group, tables = Group(world), DealGroupProgress()
    ahead = next(iter(group.rows))
    group.add(ahead, ["draw", "deck", "deck"])
    group.last(tables)
    asked: list[str] = []
    with world.database.read() as session:
        event.listen(session.connection(), "before_cursor_execute", lambda *said: asked.append(said[2]))
        again = tables.find_slowest(session, group.id)

    assert again == DrawCounts(0, 0)
    assert len(asked) <= 3
