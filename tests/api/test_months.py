"""Final standings of months: API, file, pages and command."""

import csv
import io
import re
import threading
from datetime import UTC, date, datetime

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient
from sqlalchemy import insert, update
from werkzeug.serving import make_server

from referee.cli.main import main
from referee.ladders import months
from referee.ladders.tables import Ladder, LadderMonth, MonthRow
from referee.matches.tables import Result
from referee.ratings.elo import MICRO
from tests.api.conftest import Service
from tests.database.world import World

API = "/api/v1"
HTML = {"Accept": "text/html"}
OCTOBER = date(2026, 10, 1)
PAYLOAD = "<img src=x onerror=alert(1)>"


@pytest.fixture
def ladder(service: Service) -> str:
    """Return the id of a ladder with a closed month that has a champion, and one before without."""
    result: Result = World(service.database).play([service.verified_bot(service.person())["id"] for _ in range(2)])
    ladder_id, owner_id = str(result.ladder_id), service.person().id
    with service.database.write() as session:
        closed = {"ladder_id": ladder_id, "as_of_seq": 1, "matches": 40, "closed_at": datetime(2026, 11, 1, tzinfo=UTC)}
        session.execute(
            insert(LadderMonth),
            [
                {**closed, "month": OCTOBER, "bots": 2, "champion_id": result.bots[0]},
                {**closed, "month": date(2026, 9, 1), "bots": 0, "champion_id": None},
            ],
        )
        rows = [
            {"rank": rank, "bot_id": bot, "name": name, "value": (1_700 - rank) * MICRO + 250_000, **estimate}
            for rank, bot, name, estimate in (
                (1, result.bots[0], PAYLOAD, {"strength": 1_598.04, "strength_error": 34.44}),
                (2, result.bots[1], "=Second", {"strength": None, "strength_error": None}),
            )
        ]
        owner = {"owner_id": owner_id, "owner_name": "Ada", "games": 90, "matches": 40}
        session.execute(insert(MonthRow), [{"ladder_id": ladder_id, "month": OCTOBER, **owner, **row} for row in rows])
        session.execute(update(Ladder).values(official=True, daily_matches=48))
    return ladder_id


def text_of(client: FlaskClient, path: str) -> str:
    answer = client.get(path, headers=HTML)
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return answer.get_data(as_text=True)


def test_the_months_of_a_ladder_are_listed_with_their_champions(service: Service, ladder: str) -> None:
    client = service.anonymous()

    whole = client.get(f"{API}/ladders/{ladder}/months").get_json()
    first = client.get(f"{API}/ladders/{ladder}/months?limit=1").get_json()
    second = client.get(f"{API}/ladders/{ladder}/months", query_string={"limit": 1, "cursor": first["next"]}).get_json()

    assert [one["month"] for one in whole["items"]] == ["2026-10", "2026-09"]
    assert whole["items"] == first["items"] + second["items"]
    october, september = whole["items"]
    assert (october["bots"], october["matches"], october["as_of_seq"]) == (2, 40, 1)
    assert (october["champion"]["name"], october["champion"]["rating"]) == (PAYLOAD, 1_699.2)
    assert september["champion"] is None


def test_a_month_has_its_final_standings_also_as_a_file(service: Service, ladder: str) -> None:
    client = service.anonymous()

    found = client.get(f"{API}/ladders/{ladder}/months/2026-10").get_json()
    first = client.get(f"{API}/ladders/{ladder}/months/2026-10?limit=1").get_json()
    file = client.get(f"{API}/ladders/{ladder}/months/2026-10.csv")
    rows = list(csv.DictReader(io.StringIO(file.get_data(as_text=True), newline="")))

    assert (found["ladder"], found["month"], found["game"]) == (ladder, "2026-10", "saint-poker")
    assert [(row["rank"], row["strength"], row["strength_error"], row["matches"]) for row in found["items"]] == [
        (1, 1_598.0, 34.4, 40),
        (2, None, None, 40),
    ]
    assert (first["items"], found["next"]) == (found["items"][:1], None)
    assert file.headers["Content-Type"].startswith("text/csv")
    assert f'filename="{ladder}-2026-10.csv"' in file.headers["Content-Disposition"]
    assert [(row["rank"], row["bot"], row["rating_micro"]) for row in rows] == [
        (str(row["rank"]), row["bot"], str(row["rating_micro"])) for row in found["items"]
    ]
    assert [(row["strength"], row["strength_error"]) for row in rows] == [("1598.0", "34.4"), ("", "")]
    assert rows[1]["name"] == "'=Second"  # a spreadsheet would run it as a formula


@pytest.mark.parametrize("month", ["2026-08", "2026-13", "2026-1", "1999-10", "november", "2026-10-01"])
@pytest.mark.parametrize("path", ["{}", "{}.csv"])
def test_a_month_without_standings_is_not_found(service: Service, ladder: str, month: str, path: str) -> None:
    answer = service.anonymous().get(f"{API}/ladders/{ladder}/months/{path.format(month)}")

    assert (answer.status_code, answer.get_json()["code"]) == (404, "not_found")


def test_pages_show_the_month_its_champion_and_lead_to_the_file(service: Service, ladder: str) -> None:
    client = service.anonymous()
    with service.database.read() as session:
        closed = months.get_month(session, ladder, OCTOBER)
    assert closed.champion is not None
    bot = closed.champion.bot_id

    month = text_of(client, f"/ladders/{ladder}/months/2026-10")
    shown = {
        path: text_of(client, path) for path in (f"/ladders/{ladder}", f"/ladders/{ladder}/months", f"/bots/{bot}", "/")
    }
    empty = text_of(client, f"/ladders/{ladder}/months/2026-09")

    assert "October 2026" in month
    assert re.search(r"Champion: <strong><a[^>]*/bots/" + bot, month)
    assert "rating 1\u202f699.2, strength 1\u202f598 ± 34" in month
    assert f"{API}/ladders/{ladder}/months/2026-10.csv" in month
    assert "No champion: no bot had at least 10 matches" in empty
    for path, page in shown.items():
        assert f'href="/ladders/{ladder}/months/2026-10"' in page, path
    assert "Champion of" in shown[f"/bots/{bot}"]
    assert "Champions of October 2026" in shown["/"]
    assert not any("<img src=x" in page for page in (month, *shown.values()))


def test_the_page_of_months_says_when_the_first_comes(service: Service) -> None:
    result = World(service.database).play([service.verified_bot(service.person())["id"] for _ in range(2)])

    page = text_of(service.anonymous(), f"/ladders/{result.ladder_id}/months")

    assert "No month of this ladder is over yet." in page
    assert service.anonymous().get(f"/ladders/{result.ladder_id}/months/2026-10", headers=HTML).status_code == 404


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
    assert re.search(r"1699\.2 +1598 ± 34 ", told.output)
    assert nothing.output == "No ladder has final standings of 2026-08.\n"
    assert "must be a month such as 2026-11" in wrong.output
