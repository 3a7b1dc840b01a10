"""The hall view of a tournament in every state, for every format, with hidden players."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from referee_extras.hall import pages
from tests.api.conftest import Person, Service
from tests.api.test_site_tournaments import HARMFUL, names_of, read, words
from tests.api.tournaments import drafted, entered, opened, play, started
from tests.database.world import World


@pytest.fixture
def anonymous(service: Service) -> FlaskClient:
    return service.anonymous()


def hall(client: FlaskClient, tournament_id: str) -> str:
    page = read(client, f"/tournaments/{tournament_id}/hall")
    assert "<nav" not in page
    assert "<footer" not in page
    assert "<form" not in page
    return page


def parts(page: str) -> list[str]:
    return re.findall('data-part="([a-z]+)"', page)


def test_the_documentation_says_how_many_entrants_it_shows() -> None:
    page = Path(__file__).parents[3] / "docs" / "tournaments.md"
    assert f"with the first {pages.ROWS} entrants" in page.read_text()


def test_of_a_bracket_with_a_large_round_the_newest_tables_are_listed() -> None:
    newest = {"tables": [{"table": 1}]}
    bracket = {"rounds": [{"tables": [{}] * (pages.MAX_DRAWN + 1)}, newest]}

    assert pages._bracket(bracket, "Cup") == {"drawing": None, "listed": newest}


def test_before_the_start_it_shows_the_entrants(service: Service, organiser: Person, anonymous: FlaskClient) -> None:
    draft = drafted(organiser, name="Not yet")
    made, bots = entered(service, organiser, 3)
    page = hall(anonymous, made)

    assert parts(page) == ["entrants", "table"]
    assert all(name in page for name in names_of(service, bots))
    assert "data-until" not in page, "nothing says when it starts"
    assert f'href="/tournaments/{made}/hall"' in read(anonymous, f"/tournaments/{made}")
    for unseen in (draft, f"trn_{'0' * 26}"):
        read(anonymous, f"/tournaments/{unseen}/hall", 404)


def test_the_clock_runs_to_the_start_of_the_tournament_and_of_the_next_round(
    service: Service, organiser: Person, anonymous: FlaskClient
) -> None:
    starts_at = (datetime.now(UTC) + timedelta(hours=1)).replace(microsecond=0)
    page = hall(anonymous, opened(organiser, starts_at=starts_at.isoformat()))

    until, now = re.search('data-until="([^"]+)" data-now="([^"]+)"', page).groups()  # type: ignore[union-attr]
    assert datetime.fromisoformat(until) == starts_at
    assert abs(datetime.fromisoformat(now) - datetime.now(UTC)) < timedelta(minutes=5)
    terms = {"rated": False, "format": "swiss", "format_options": {"rounds": 2}, "round_minutes": 60}
    paced = started(service, organiser, 4, **terms)
    play(service, paced)
    assert "Round 2 starts <b" in hall(anonymous, paced)


@pytest.mark.parametrize("format", ["swiss", "knockout"])
def test_a_tournament_that_is_played_shows_its_ranks_its_newest_results_and_then_its_podium(
    service: Service, organiser: Person, anonymous: FlaskClient, format: str
) -> None:
    made = started(service, organiser, 4, format=format, deal_sharing="own")
    ranks = "bracket" if format == "knockout" else "standings"
    assert parts(hall(anonymous, made)) == [ranks, "table"]

    play(service, made, matches=1)
    page = hall(anonymous, made)

    assert parts(page) == [ranks, "table", "results"]
    (result,) = re.findall("<li data-match.+?</li>", page, re.DOTALL)
    assert re.search(r" (beat .+|tied) −?\d+( – |–)−?\d+", words(result)), "with the score"

    play(service, made)
    page = hall(anonymous, made)
    assert parts(page) == ["podium", *dict.fromkeys([ranks, "standings"]), "table", "results"]
    assert re.search(" (wins|share the first place) ", words(page))
    assert 'data-over="yes"' in page


def test_a_cancelled_tournament_says_why(service: Service, organiser: Person, anonymous: FlaskClient) -> None:
    before, _ = entered(service, organiser, 2)
    running = started(service, organiser, 3)
    play(service, running, matches=1)
    for made in (before, running):
        assert organiser.post(f"/tournaments/{made}/cancel", {"reason": HARMFUL}).status_code == 200

    assert parts(hall(anonymous, before)) == ["table", "empty"]
    assert "cancelled before it started" in hall(anonymous, before)
    assert parts(hall(anonymous, running)) == ["standings", "table", "results"]
    for page in (hall(anonymous, before), hall(anonymous, running)):
        assert HARMFUL not in page
        assert "&lt;img src=x" in page


def test_it_hides_who_sits_at_a_table_as_the_other_pages_do(
    service: Service, organiser: Person, anonymous: FlaskClient
) -> None:
    made = started(service, organiser, 4, format="knockout", anonymous=True)
    ids = [one["bot"] for one in anonymous.get(f"/api/v1/tournaments/{made}/entries").get_json()["items"]]

    page = hall(anonymous, made)

    assert not [one for one in (*ids, *names_of(service, ids)) if one in page]


def test_scores_are_left_out_while_others_play_the_same_cards(
    service: Service, organiser: Person, anonymous: FlaskClient
) -> None:
    made = started(service, organiser, 4, deal_sharing="common")
    world = World(service.database)
    (claim,) = world.claim(1)
    world.finish(claim)

    page = words(hall(anonymous, made))

    assert re.search(" (beat|tied) ", page)
    assert not re.search(r"\d–−?\d", page)
