"""Figures of a tournament: the operations of the API, its pages, and the facts below its podium."""

import re
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from referee.matches.tables import Result
from referee.ratings.elo import MICRO
from referee.tournaments.tables import TournamentEntry
from referee_extras.analysis import pages, strengths
from referee_extras.analysis.crosstable_grid import score_level
from tests.api.conftest import Person, Service
from tests.api.test_rounds import shown
from tests.api.test_site_tournaments import highlights_of, read, words
from tests.api.tournaments import opened, play, started
from tests.database import tournaments
from tests.database.world import World

NAMES = ("crosstable", "luck", "strengths")


def test_the_figures_fit_the_standings(service: Service, owner: Person, organiser: Person) -> None:
    tournament_id = started(service, organiser, 4, cycles=3)
    path = f"/tournaments/{tournament_id}"
    play(service, tournament_id, 16)

    table = shown(owner, f"{path}/standings")
    cross, luck, strong = (shown(owner, f"{path}/{name}") for name in NAMES)

    rows = table["items"]
    order = [row["bot"] for row in rows]
    assert {page["as_of_seq"] for page in (cross, luck, strong)} == {table["as_of_seq"]}
    assert [row["bot"] for row in cross["items"]] == order
    for row, crossed in zip(rows, cross["items"], strict=True):
        assert sum(one["points"] for one in crossed["opponents"]) == row["points"]
        assert sum(one["matches"] for one in crossed["opponents"]) == row["matches"]
    assert sorted(row["bot"] for row in luck["items"]) == sorted(row["bot"] for row in strong["items"]) == sorted(order)
    assert [row["rank"] for row in strong["items"]] == [1, 2, 3, 4]
    assert strong["items"][0]["low"] <= strong["items"][0]["points"] <= strong["items"][0]["high"]


@pytest.mark.parametrize("name", NAMES)
def test_a_tournament_without_results_has_empty_figures(organiser: Person, name: str) -> None:
    path = f"/tournaments/{opened(organiser)}/{name}"

    assert shown(organiser, path)["items"] == []
    assert organiser.get(f"/tournaments/trn_{'0' * 26}/{name}").status_code == 404
    assert organiser.get(f"{path}?limit=0").status_code == 422
    assert organiser.get(f"{path}?cursor=x").status_code == 422


def test_a_fit_that_takes_too_long_is_refused(service: Service, owner: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    service.played(owner, service.person())
    ladder = shown(owner, "/ladders")["items"][0]["id"]
    monkeypatch.setattr(strengths, "MOST_FITTED_BOTS", 1)

    refused = owner.get(f"/ladders/{ladder}/strengths")
    monkeypatch.undo()
    fitted = shown(owner, f"/ladders/{ladder}/strengths?limit=1")
    rest = shown(owner, f"/ladders/{ladder}/strengths?limit=1&cursor={fitted['next']}")

    assert (refused.status_code, refused.get_json()["code"]) == (409, "too_large")
    assert (fitted["results"], fitted["left_out"], fitted["converged"]) == (1, 0, True)
    assert [fitted["items"][0]["rank"], rest["items"][0]["rank"]] == [1, 2]
    assert fitted["items"][0]["superior_to_next"] >= 0.5  # it may have been a draw


@pytest.fixture
def anonymous(service: Service) -> FlaskClient:
    return service.anonymous()


def rows_by_round(page: str) -> list[list[str]]:
    """Return the text of each cell of the table by rounds, row by row."""
    table = re.search('<div class="table crosstable by-round".*?</table>', page, re.DOTALL)
    assert table is not None
    return [[words(f"<{cell}") for cell in re.split("<t[hd]", row)[1:]] for row in re.split("<tr>", table[0])[2:]]


def test_a_swiss_tournament_has_a_table_by_rounds_in_pages(
    service: Service, organiser: Person, anonymous: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = started(service, organiser, 5, format="swiss", format_options={"rounds": 3})
    path = f"/tournaments/{made}/by-round"
    assert "–" in rows_by_round(read(anonymous, path))[0]
    play(service, made)
    standings = anonymous.get(f"/api/v1/tournaments/{made}/standings").get_json()["items"]

    page = read(anonymous, path)

    rows = rows_by_round(page)
    assert [row["name"] in cells[0] for row, cells in zip(standings, rows, strict=True)] == [True] * 5
    assert all(len(cells) == 4 for cells in rows)
    assert [float(cells[-1].rpartition("= ")[2]) for cells in rows] == [row["points"] for row in standings]
    assert sum("bye" in cell for cells in rows for cell in cells) == 3
    assert page.count("By round</a>") == 1
    monkeypatch.setattr(pages, "CROSSTABLE_ROWS", 2)
    assert rows_by_round(read(anonymous, path)) == rows[:2]  # opponents on other pages have their names, too
    monkeypatch.setattr(pages, "ROUND_COLUMNS", 2)
    assert len(rows_by_round(read(anonymous, path))[0]) == 1 + 1
    assert len(rows_by_round(read(anonymous, f"{path}?rounds=1"))[0]) == 1 + 2
    for wrong in ("rounds=3", "rounds=0", "page=4", "rounds=x"):
        read(anonymous, f"{path}?{wrong}", 422)
    read(anonymous, f"/tournaments/{started(service, organiser, 2)}/by-round", 404)


def test_opponents_at_large_tables_are_shown_by_their_rows(
    service: Service, organiser: Person, anonymous: FlaskClient
) -> None:
    made = started(service, organiser, 6, format="swiss", format_options={"rounds": 2}, seats=3)
    play(service, made)

    first = rows_by_round(read(anonymous, f"/tournaments/{made}/by-round"))[0]

    assert all(re.search(r"\d, \d \d", cell) for cell in first[1:])


def test_the_upset_names_the_ratings_before_the_match(
    service: Service, organiser: Person, anonymous: FlaskClient
) -> None:
    made = started(service, organiser, 6, format="round_robin")
    play(service, made)
    matches = anonymous.get(f"/api/v1/tournaments/{made}/matches").get_json()["items"]
    gaps = [
        (other["rating"]["before_micro"] - seat["rating"]["before_micro"], seat, other)
        for match in matches
        for seat in match["seats"]
        for other in match["seats"]
        if seat["placement"] == 1 < other["placement"]
        and other["rating"]["before_micro"] > seat["rating"]["before_micro"]
    ]

    said = highlights_of(read(anonymous, f"/tournaments/{made}"))

    assert ("Biggest upset" in said) == bool(gaps)
    biggest = [(winner, loser) for gap, winner, loser in gaps if gap == max(gaps, key=lambda gap: gap[0])[0]]
    sentences = [
        "{} ({}) beat {} ({})".format(*(part for seat in pair for part in (seat["name"], rating_of(seat))))
        for pair in biggest
    ]
    assert not gaps or any(sentence in said for sentence in sentences)


def rating_of(seat: dict[str, Any]) -> int:
    micro: int = seat["rating"]["before_micro"]
    return round(micro / MICRO)


def test_luck_is_drawn_beside_the_table(service: Service, organiser: Person, anonymous: FlaskClient) -> None:
    made = started(service, organiser, 4, format="round_robin", deal_sharing="common")
    play(service, made)
    rows = anonymous.get(f"/api/v1/tournaments/{made}/luck").get_json()["items"]

    page = read(anonymous, f"/tournaments/{made}/luck")

    drawn = re.findall('<svg[^>]*class="luck"[^>]*><title>([^<]*)', page)
    assert [title.split(":")[0] for title in drawn] == [row["name"] for row in rows] != []


def test_an_unrated_knockout_has_its_final_and_an_upset_by_seeds(service: Service, anonymous: FlaskClient) -> None:
    world = World(service.database)
    tournament_id, ids = tournaments.entered(
        world, 4, format="knockout", format_options={"seeding": "hand"}, rated=False
    )
    seeds = {bot: seed for seed, bot in enumerate(ids, 1)}
    with service.database.write() as session:
        for entry in session.scalars(select(TournamentEntry)):
            entry.seed = seeds[entry.bot_id]
    tournaments.begin(world, tournament_id)
    for _ in range(3):
        for claim in world.claim(4):
            world.finish(claim)
        with service.database.write() as session:
            for result in session.scalars(select(Result)):  # the worse seed wins
                places = [seeds[bot] for bot in result.bots]
                result.placements = [1 if seed == max(places) else 2 for seed in places]
        tournaments.go_on(world.database, tournament_id)

    page = read(anonymous, f"/tournaments/{tournament_id}")

    assert "watch the final" in page
    upset = words(page.partition("Biggest upset</dt>")[2].partition("</dd>")[0])
    assert re.search(r"\(seed 4\) beat .* \(seed 1\)", upset), upset


def test_pages_of_figures_are_there_from_the_start_on(
    service: Service, organiser: Person, anonymous: FlaskClient
) -> None:
    begun, unplayed = started(service, organiser, 3), opened(organiser)

    for name in ("crosstable", "luck"):
        assert "First cup" in read(anonymous, f"/tournaments/{begun}/{name}?page=1")
        read(anonymous, f"/tournaments/{begun}/{name}?page=2", 422)
        read(anonymous, f"/tournaments/{unplayed}/{name}", 404)


@pytest.mark.parametrize(
    ("share", "level"),
    [(0, "l3"), (0.16, "l3"), (0.17, "l2"), (0.4, "l1"), (0.5, "even"), (0.6, "w1"), (0.8, "w2"), (1, "w3")],
)
def test_colours_of_the_crosstable_are_by_sixths_of_the_points(share: float, level: str) -> None:
    assert score_level(share) == level
