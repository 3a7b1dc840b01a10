"""What stands before a ± on a ladder is the number whose error it is: the fitted strength, not the rating."""

import csv
import io
import re
from datetime import UTC, date, datetime

import pytest
from sqlalchemy import insert, update

from referee.ladders.tables import Ladder, LadderMonth, MonthRow, Rating, RatingError
from referee.ratings.elo import MICRO
from tests.api.conftest import Service
from tests.database.world import World

API = "/api/v1"
OCTOBER = date(2026, 10, 1)
RATING = 1_700 * MICRO
ESTIMATE = {"strength": 1_598.04, "strength_error": 34.44}


@pytest.fixture
def champion(service: Service) -> tuple[str, str]:
    """Return a bot whose rating is far from its strength, now and in a closed month, and its ladder."""
    result = World(service.database).play([service.verified_bot(service.person())["id"] for _ in range(2)])
    bot, ladder, owner = result.bots[0], str(result.ladder_id), service.person().id
    with service.database.write() as session:
        session.execute(update(Ladder).values(official=True, daily_matches=48))
        session.execute(update(Rating).where(Rating.bot_id == bot).values(value=RATING))
        session.add(RatingError(ladder_id=ladder, bot_id=bot, as_of_seq=1, **ESTIMATE))
        month = {"ladder_id": ladder, "month": OCTOBER}
        closed = {"as_of_seq": 1, "bots": 1, "matches": 40, "closed_at": datetime(2026, 11, 1, tzinfo=UTC)}
        session.execute(insert(LadderMonth), [{**month, **closed, "champion_id": bot}])
        row = {"rank": 1, "bot_id": bot, "name": "Ada", "owner_id": owner, "owner_name": "Lovelace", "value": RATING}
        session.execute(insert(MonthRow), [{**month, **row, **ESTIMATE, "games": 90, "matches": 40}])
    return bot, ladder


def estimates_in(text: str) -> set[tuple[str, str]]:
    """Return each pair of a text before a ± and the number behind it."""
    return set(re.findall(r"(\S+)\s+±\s+(\d\S*)", re.sub(r"<[^>]+>", " ", text).replace("\u202f", "")))


def test_pages_show_the_error_beside_the_strength(service: Service, champion: tuple[str, str]) -> None:
    bot, ladder = champion
    month = f"/ladders/{ladder}/months/2026-10"

    for path in (f"/ladders/{ladder}", f"/ladders/{ladder}/months", month, f"/bots/{bot}"):
        page = service.anonymous().get(path, headers={"Accept": "text/html"}).get_data(as_text=True)
        assert estimates_in(page) == {("1598", "34")}, path
        assert "1\u202f700.0" in page, path


def test_a_ladder_draws_the_interval_around_the_strength(service: Service, champion: tuple[str, str]) -> None:
    page = service.anonymous().get(f"/ladders/{champion[1]}", headers={"Accept": "text/html"}).get_data(as_text=True)

    assert "95 % interval: 1\u202f564 to 1\u202f632" in page


def test_badges_show_the_rating_without_an_error(service: Service, champion: tuple[str, str]) -> None:
    text = service.anonymous().get(f"/bots/{champion[0]}/badge.svg").get_data(as_text=True)

    assert "1\u202f700" in text
    assert "±" not in text


def test_the_api_names_the_number_to_which_an_error_belongs(service: Service, champion: tuple[str, str]) -> None:
    bot, ladder = champion
    client = service.anonymous()
    month = client.get(f"{API}/ladders/{ladder}/months/2026-10").get_json()

    rows = [
        client.get(f"{API}/ladders/{ladder}").get_json()["items"][0],
        client.get(f"{API}/ladders/{ladder}/ranks/{bot}").get_json(),
        *(month["champion"], month["items"][0]),
    ]
    file = client.get(f"{API}/ladders/{ladder}/months/2026-10.csv").get_data(as_text=True)
    (written,) = csv.DictReader(io.StringIO(file, newline=""))

    for row in rows:
        assert (row["rating"], row["strength"], row["strength_error"]) == (1_700.0, 1_598.0, 34.4)
    assert (written["strength"], written["strength_error"]) == ("1598.0", "34.4")
    assert not any("error" in row for row in (*rows, written))
