"""Points exchanged between owners: order, what chance explains, API, file and page."""

import csv
import io
from datetime import UTC, date, datetime
from math import sqrt

import pytest
from sqlalchemy import insert, select

from referee.bots.tables import Bot
from referee.ladders.owner_exchanges import SLACK
from referee.ladders.tables import Ladder, OwnerExchange
from referee.matches.tables import Result
from referee.ratings.elo import MICRO
from referee_extras.exchanges.listing import ExchangedPoints, list_exchanges
from tests.api.conftest import Service
from tests.database.world import World

NOVEMBER = date(2026, 11, 1)


@pytest.fixture(autouse=True)
def in_november(world: World) -> None:
    world.clock.moment = datetime(2026, 11, 15, tzinfo=UTC)


def listed(world: World, result: Result, month: date = NOVEMBER, limit: int = 50) -> list[ExchangedPoints]:
    """Read all pages of this size."""
    found, cursor = [], None
    while True:
        with world.database.read() as session:
            page = list_exchanges(session, str(result.ladder_id), month, limit=limit, cursor=cursor)
        found += page.items
        cursor = page.next
        if cursor is None:
            return found


def test_F5_who_gains_from_whom_is_listed_with_what_chance_explains_least_first(world: World) -> None:
    one, other, third = world.bots(3)
    for number in range(6):
        result = world.play([one, other], choice=number % 2)
    world.play([other, third])
    owners = world_owners(world)

    found = listed(world, result)

    pairs = {frozenset([row.owner_id, row.loser_id]): row for row in found}
    assert pairs[frozenset([owners[one], owners[other]])].encounters == 6
    assert pairs[frozenset([owners[other], owners[third]])].encounters == 1
    assert all(row.points >= 0 for row in found)
    assert found == sorted(found, key=lambda row: -abs(row.deviation))
    assert found == listed(world, result, limit=1)
    for row in found:
        assert row.chance > sqrt(SLACK)
        assert row.deviation == pytest.approx(row.points / row.chance)
    assert listed(world, result, date(2026, 10, 1)) == []


def world_owners(world: World) -> dict[str, str]:
    with world.database.read() as session:
        return dict(session.execute(select(Bot.id, Bot.owner_id)).all())


HTML = {"Accept": "text/html"}
OCTOBER = date(2026, 10, 1)
MOST = 60  # pairs, more than a page of HTML has


@pytest.fixture
def ladder(service: Service) -> str:
    """Return the id of a ladder with many pairs in October; in the first, an owner lost 900 points."""
    people = sorted(service.person().id for _ in range(12))
    result: Result = World(service.database).play([service.verified_bot(service.person())["id"] for _ in range(2)])
    pairs = [(one, other) for one in people for other in people if one < other][:MOST]
    rows = [
        {"party": one, "owner_id": other, "encounters": 3, "gain": number * MICRO, "variance": 0, "excess": number / 99}
        for number, (one, other) in enumerate(pairs)
    ]
    rows[-1] |= {"gain": -900 * MICRO, "variance": 500_000, "excess": 900.0, "encounters": 90}  # ± 30 by chance
    rows.append({**rows[0], "party": "", "owner_id": people[0], "gain": 40 * MICRO, "excess": 4.0})
    rows.append({**rows[0], "party": "", "owner_id": people[1], "gain": 1, "excess": 99.0, "encounters": 0})
    with service.database.write() as session:
        session.get_one(Ladder, result.ladder_id).created_at = datetime(2026, 1, 20, tzinfo=UTC)
        session.execute(insert(OwnerExchange), [{"ladder_id": result.ladder_id, "month": OCTOBER, **r} for r in rows])
    return str(result.ladder_id)


def test_F5_everybody_may_read_who_gained_from_whom(service: Service, ladder: str) -> None:
    client = service.anonymous()
    path = f"/api/v1/ladders/{ladder}/exchanges/2026-10"

    shown = client.get(f"{path}?limit=2").get_json()

    first, second = shown["items"]
    assert (shown["ladder"], shown["month"]) == (ladder, "2026-10")
    assert (first["points"], first["chance"], first["deviation"], first["encounters"]) == (900.0, 30.0, 30.0, 90)
    assert first["owner"] < first["loser"]  # it gained what the row counts as a loss of the other
    assert (second["loser"], second["loser_name"], second["points"]) == (None, None, 40.0)
    found, cursor = [first, second], shown["next"]
    while cursor:
        page = client.get(path, query_string={"limit": 7, "cursor": cursor}).get_json()
        found, cursor = found + page["items"], page["next"]
    assert len(found) == len({(row["owner"], row["loser"]) for row in found}) == MOST + 1
    assert client.get(f"/api/v1/ladders/{ladder}/exchanges/2026-09").get_json()["items"] == []
    assert client.get(f"/api/v1/ladders/{ladder}/exchanges/2026-13").status_code == 404
    assert client.get(f"/api/v1/ladders/lad_{'0' * 26}/exchanges/2026-10").status_code == 404
    assert client.get(f"{path}?cursor=x").status_code == 422


def test_F5_the_file_has_all_pairs(service: Service, ladder: str) -> None:
    answer = service.anonymous().get(f"/api/v1/ladders/{ladder}/exchanges/2026-10.csv")

    rows = list(csv.DictReader(io.StringIO(answer.get_data(as_text=True))))
    assert answer.mimetype == "text/csv"
    assert len(rows) == MOST + 1
    assert (rows[0]["points"], rows[0]["chance"], rows[0]["deviation"]) == ("900.0", "30.0", "30.0")
    assert (rows[1]["loser"], rows[1]["loser_name"]) == ("", "")


def test_F5_the_page_of_the_ladder_leads_to_the_pairs(service: Service, ladder: str) -> None:
    client = service.anonymous()

    page = client.get(f"/ladders/{ladder}/exchanges/2026-10", headers=HTML).get_data(as_text=True)
    now = client.get(f"/ladders/{ladder}/exchanges", headers=HTML)

    assert f'href="/ladders/{ladder}/exchanges"' in client.get(f"/ladders/{ladder}", headers=HTML).get_data(
        as_text=True
    )
    assert "<strong>30.0</strong>" in page
    assert "House players" in page
    assert page.count("<tr>") == 51
    assert f"/ladders/{ladder}/exchanges/2026-09" in page
    assert f"/ladders/{ladder}/exchanges/2026-11" in page
    assert f"/api/v1/ladders/{ladder}/exchanges/2026-10.csv" in page
    assert now.status_code == 200
    empty = client.get(f"/ladders/{ladder}/exchanges/2026-01", headers=HTML).get_data(as_text=True)
    assert "No points were exchanged in this month." in empty
    assert f"/ladders/{ladder}/exchanges/2026-02" in empty
    assert f"/ladders/{ladder}/exchanges/2025-12" not in empty  # before the ladder was created
