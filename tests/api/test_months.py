"""Final standings of months: API, file, pages and command. What stands before a ± is the rating."""

import csv
import io
import re
import threading
from datetime import UTC, date, datetime

import pytest
from click.testing import CliRunner
from sqlalchemy import insert, update
from werkzeug.serving import make_server

from referee.cli.main import main
from referee.ladders.tables import Ladder, LadderMonth, MonthRow, Rating, RatingError
from referee.matches.tables import Result
from referee.ratings.elo import MICRO
from tests.api.conftest import API, Service
from tests.api.test_site_ladders import HTML, PAYLOAD, text_of
from tests.database.world import World

OCTOBER = date(2026, 10, 1)
RATING = 1_700 * MICRO


@pytest.fixture
def champion(service: Service) -> tuple[str, str]:
    """Return the champion of the closed month of a ladder, and the ladder; the month before has no champion."""
    world = World(service.database, service.names)
    result: Result = world.play(world.bots(2))
    ladder_id, owner_id = str(result.ladder_id), service.person().id
    closed = {"ladder_id": ladder_id, "as_of_seq": 1, "matches": 40, "closed_at": datetime(2026, 11, 1, tzinfo=UTC)}
    october = {**closed, "month": OCTOBER, "bots": 2, "champion_id": result.bots[0]}
    september = {**closed, "month": date(2026, 9, 1), "bots": 0, "champion_id": None}
    row = {"ladder_id": ladder_id, "month": OCTOBER, "owner_id": owner_id, "owner_name": "Ada", "games": 90}
    first = {"rank": 1, "bot_id": result.bots[0], "name": PAYLOAD, "value": RATING, "error": 34.44}
    second = {"rank": 2, "bot_id": result.bots[1], "name": "=Second", "value": 1_698 * MICRO + 250_000, "error": None}
    with service.database.write() as session:
        session.execute(insert(LadderMonth), [october, september])
        session.execute(insert(MonthRow), [{**row, "matches": 40, **bot} for bot in (first, second)])
        session.execute(update(Ladder).values(official=True, daily_matches=48))
        session.execute(update(Rating).where(Rating.bot_id == result.bots[0]).values(value=RATING))
        session.add(RatingError(ladder_id=ladder_id, bot_id=result.bots[0], as_of_seq=1, error=34.44))
    return result.bots[0], ladder_id


@pytest.fixture
def ladder(champion: tuple[str, str]) -> str:
    return champion[1]


def test_the_months_of_a_ladder_are_listed_with_their_champions(service: Service, ladder: str) -> None:
    client = service.anonymous()

    whole = client.get(f"{API}/ladders/{ladder}/months").get_json()
    first = client.get(f"{API}/ladders/{ladder}/months?limit=1").get_json()
    second = client.get(f"{API}/ladders/{ladder}/months", query_string={"limit": 1, "cursor": first["next"]}).get_json()

    assert [one["month"] for one in whole["items"]] == ["2026-10", "2026-09"]
    assert whole["items"] == first["items"] + second["items"]
    october, september = whole["items"]
    assert (october["bots"], october["matches"], october["as_of_seq"]) == (2, 40, 1)
    assert (october["champion"]["name"], october["champion"]["rating"]) == (PAYLOAD, 1_700.0)
    assert september["champion"] is None


def test_a_month_has_its_final_standings_also_as_a_file(service: Service, champion: tuple[str, str]) -> None:
    bot, ladder = champion
    client, path = service.anonymous(), f"{API}/ladders/{ladder}/months/2026-10"

    found, first = client.get(path).get_json(), client.get(f"{path}?limit=1").get_json()
    file = client.get(f"{path}.csv")
    rows = list(csv.DictReader(io.StringIO(file.text, newline="")))

    assert (found["ladder"], found["month"], found["game"]) == (ladder, "2026-10", "saint-poker")
    shown = [(row["rank"], row["rating_error"], row["matches"]) for row in found["items"]]
    assert found["items"][1]["rating"] == 1_698.2
    assert shown == [(1, 34.4, 40), (2, None, 40)]
    assert (first["items"], found["next"]) == (found["items"][:1], None)
    assert file.headers["Content-Type"].startswith("text/csv")
    assert f'filename="{ladder}-2026-10.csv"' in file.headers["Content-Disposition"]
    for row, item in zip(rows, found["items"], strict=True):
        assert (row["rank"], row["bot"], row["rating_micro"]) == (
            str(item["rank"]),
            item["bot"],
            str(item["rating_micro"]),
        )
    assert [row["rating_error"] for row in rows] == ["34.4", ""]
    assert rows[1]["name"] == "'=Second"  # a spreadsheet would run it as a formula
    present = client.get(f"{API}/ladders/{ladder}").get_json()["items"][0]
    rank = client.get(f"{API}/ladders/{ladder}/ranks/{bot}").get_json()
    for row in (present, rank, found["champion"], found["items"][0]):
        assert (row["rating"], row["rating_error"]) == (1_700.0, 34.4)
    assert not any("error" in row or "strength" in row for row in (present, rank, found["champion"], *rows))


def test_a_month_without_standings_is_not_found(service: Service, world: World) -> None:
    client, path = service.anonymous(), f"/ladders/{world.play(world.bots(2)).ladder_id}/months"

    assert "No month of this ladder is over yet." in text_of(client, path)
    assert client.get(f"{path}/2026-10", headers=HTML).status_code == 404
    for month in ("2026-10", "2026-13", "2026-1", "1999-10", "november", "2026-10-01"):
        for name in (month, f"{month}.csv"):
            answer = client.get(f"{API}{path}/{name}")
            assert (answer.status_code, answer.get_json()["code"]) == (404, "not_found"), name


def test_pages_show_months_champions_and_errors_of_ratings(service: Service, champion: tuple[str, str]) -> None:
    (bot, ladder), client = champion, service.anonymous()

    month = text_of(client, f"/ladders/{ladder}/months/2026-10")
    shown = {
        path: text_of(client, path) for path in (f"/ladders/{ladder}", f"/ladders/{ladder}/months", f"/bots/{bot}", "/")
    }
    empty = text_of(client, f"/ladders/{ladder}/months/2026-09")

    assert "October 2026" in month
    assert re.search(r"Champion: <strong><a[^>]*/bots/" + bot, month)
    assert 'rating 1\u202f700.0 <span class="quiet">± 34</span>' in month
    assert f"{API}/ladders/{ladder}/months/2026-10.csv" in month
    assert "No champion: no bot had at least 10 matches" in empty
    for path, page in shown.items():
        assert f'href="/ladders/{ladder}/months/2026-10"' in page, path
    assert "Champion of" in shown[f"/bots/{bot}"]
    assert "Champions of October 2026" in shown.pop("/")
    assert "/months/2026-10" not in text_of(client, f"/ladders/{ladder}?page=2")
    for page in (month, *shown.values()):
        assert "<img src=x" not in page
        text = re.sub(r"<[^>]+>", " ", page).replace("\u202f", "")
        assert set(re.findall(r"(\S+)\s+±\s+(\d\S*)", text)) == {("1700.0", "34")}
    assert "95 % interval: 1\u202f666 to 1\u202f734" in shown[f"/ladders/{ladder}"]  # 1700 ± 34.44


def test_the_command_shows_a_month(service: Service, ladder: str) -> None:
    server = make_server("127.0.0.1", 0, service.app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    url = ["--url", f"http://127.0.0.1:{server.port}"]
    try:
        told, nothing = (
            CliRunner().invoke(main, ["standings", "--month", month, *url]) for month in ("2026-10", "2026-08")
        )
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    wrong = CliRunner().invoke(main, ["standings", "--month", "10/2026"])

    assert (told.exit_code, nothing.exit_code) == (0, 0)
    assert f"2026-10, champion {PAYLOAD}" in told.output
    assert re.search(r"1700 ± 34 ", told.output)
    assert nothing.output == "No ladder has final standings of 2026-08.\n"
    assert "must be a month such as 2026-11" in wrong.output
