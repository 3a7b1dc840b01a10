"""Pages of a tournament with its crosstable, results by round and luck, and the facts below its podium."""

import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from referee.ratings.elo import MICRO
from referee_extras.analysis.crosstable_grid import score_level
from tests.api.conftest import Person, Service
from tests.api.test_site_results import highlights_of
from tests.api.test_site_tournaments import read, words
from tests.api.tournaments import play, started
from tests.database import tournaments
from tests.database.world import World


@pytest.fixture
def anonymous(service: Service) -> FlaskClient:
    return service.anonymous()


def rows_by_round(page: str) -> list[list[str]]:
    """Return the text of each cell of the table by rounds, row by row."""
    table = re.search('<div class="table crosstable by-round".*?</table>', page, re.DOTALL)
    assert table is not None
    return [[words(f"<{cell}") for cell in re.split("<t[hd]", row)[1:]] for row in re.split("<tr>", table[0])[2:]]


def test_a_swiss_tournament_has_a_table_by_rounds(service: Service, organiser: Person, anonymous: FlaskClient) -> None:
    made = started(service, organiser, 5, format="swiss", format_options={"rounds": 3})
    play(service, made)
    standings = anonymous.get(f"/api/v1/tournaments/{made}/standings").get_json()["items"]

    page = read(anonymous, f"/tournaments/{made}/by-round")

    rows = rows_by_round(page)
    assert [row["name"] in cells[0] for row, cells in zip(standings, rows, strict=True)] == [True] * 5
    assert all(len(cells) == 4 for cells in rows)
    ends = [float(cells[-1].rpartition("= ")[2]) for cells in rows]
    assert ends == [row["points"] for row in standings]
    assert sum("bye" in cell for cells in rows for cell in cells) == 3
    assert page.count("By round</a>") == 1


def test_opponents_at_large_tables_are_shown_by_their_rows(
    service: Service, organiser: Person, anonymous: FlaskClient
) -> None:
    made = started(service, organiser, 6, format="swiss", format_options={"rounds": 2}, seats=3)
    play(service, made)

    first = rows_by_round(read(anonymous, f"/tournaments/{made}/by-round"))[0]

    assert all(re.search(r"\d, \d \d", cell) for cell in first[1:])


def test_the_table_by_rounds_is_paged_and_only_of_swiss_tournaments(
    service: Service, organiser: Person, anonymous: FlaskClient
) -> None:
    made = started(service, organiser, 13, format="swiss", format_options={"rounds": 12}, rated=False)
    assert "–" in rows_by_round(read(anonymous, f"/tournaments/{made}/by-round"))[0]
    play(service, made, 1000)

    assert len(rows_by_round(read(anonymous, f"/tournaments/{made}/by-round"))[0]) == 1 + 2
    assert len(rows_by_round(read(anonymous, f"/tournaments/{made}/by-round?rounds=1"))[0]) == 1 + 10
    for wrong in ("rounds=3", "rounds=0", "page=2", "rounds=x"):
        read(anonymous, f"/tournaments/{made}/by-round?{wrong}", 422)
    read(anonymous, f"/tournaments/{started(service, organiser, 2)}/by-round", 404)


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
    pages = []
    for _ in range(6):  # in one of them, the better seed loses
        tournament_id, _ = tournaments.begun(world, 4, format="knockout", rated=False)
        for _ in range(3):
            for claim in world.claim(4):
                world.finish(claim)
            tournaments.go_on(world.database, tournament_id)
        pages.append(read(anonymous, f"/tournaments/{tournament_id}"))

    assert all("watch the final" in page for page in pages)
    upsets = [words(page.partition("Biggest upset</dt>")[2].partition("</dd>")[0]) for page in pages]
    assert any(upsets)
    assert all(re.search(r"\(seed \d\) beat .* \(seed \d\)", upset) for upset in upsets if upset)


@pytest.mark.parametrize(
    ("share", "level"),
    [(0, "l3"), (0.16, "l3"), (0.17, "l2"), (0.4, "l1"), (0.5, "even"), (0.6, "w1"), (0.8, "w2"), (1, "w3")],
)
def test_colours_of_the_crosstable_are_by_sixths_of_the_points(share: float, level: str) -> None:
    assert score_level(share) == level
