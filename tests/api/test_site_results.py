"""Pages begin with their result: scoreboards of matches, brackets, podiums, rounds."""

import itertools
import re

import pytest
from flask.testing import FlaskClient

from api.pages.formatting import format_signed
from referee.figures import count
from tests.api.conftest import Person, Service
from tests.api.test_site_ladders import counted_statements
from tests.api.test_site_tournaments import names_of, read, words
from tests.api.tournaments import play, started
from tests.database.world import World, manifest_of


def board_of(page: str) -> list[str]:
    """Return the text of each line of the scoreboard."""
    found = re.search('<ol class="scoreboard".*?</ol>', page, re.DOTALL)
    return [words(line) for line in re.split("<li[^>]*>", found[0])[1:]] if found else []


# -- the scoreboard of a match --


@pytest.mark.parametrize(("game", "seats"), [("saint-poker", 4), ("prisoners", 10)])
def test_a_match_begins_with_its_seats(anonymous: FlaskClient, world: World, game: str, seats: int) -> None:
    result = world.play([world.bot(manifest=manifest_of(games=[game])) for _ in range(seats)], game=game)

    page = read(anonymous, f"/matches/{result.match_id}")

    match = anonymous.get(f"/api/v1/matches/{result.match_id}").get_json()
    placed = sorted(match["seats"], key=lambda seat: (seat["placement"], seat["seat"]))
    for line, seat in zip(board_of(page), placed, strict=True):
        assert f"{seat['placement']}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(seat['placement'], 'th') } " in line
        assert seat["name"] in line
        assert f" {count(result.scores[seat['seat']])} " in line
        assert f"rating {format_signed(seat['rating']['change'], 1)}" in line
    assert page.index('class="scoreboard"') < page.index('id="viewer"')
    first = [seat["name"] for seat in placed if seat["placement"] == 1]
    assert words(page).count(f"{first[0]} wins with") == (len(first) == 1)


def test_those_who_share_the_first_place_are_all_named(anonymous: FlaskClient, world: World) -> None:
    bots = world.bots(2)
    matches = (world.play(bots, game="saint-poker", options={"rounds": 1}, choice=at) for at in itertools.count())
    tied = next(result for result in matches if result.placements == [1, 1])

    page = words(read(anonymous, f"/matches/{tied.match_id}"))

    assert re.search(r"Bot \d+ x and Bot \d+ x are tied with -?\d+ points? each\.", page.replace("\N{MINUS SIGN}", "-"))


def test_only_a_match_with_a_result_has_a_scoreboard(
    service: Service, admin: Person, anonymous: FlaskClient, world: World
) -> None:
    bots = world.bots(2)
    void, match_id = world.play(bots).match_id, world.match(bots)
    assert admin.post(f"/matches/{void}/void", {"reason": "wrong cards"}).status_code == 200

    kept, due = (read(anonymous, f"/matches/{id}") for id in (void, match_id))
    assert admin.post(f"/matches/{match_id}/cancel").status_code == 200
    cancelled = read(anonymous, f"/matches/{match_id}")

    assert len(board_of(kept)) == 2
    assert "but the match does not count" in words(kept)
    assert "rating" not in "".join(board_of(kept))
    assert all(name in words(due) for name in names_of(service, bots))
    assert board_of(due) == board_of(cancelled) == []


def test_many_entrants_need_no_more_statements(service: Service, organiser: Person, anonymous: FlaskClient) -> None:
    counts = []
    for bots in (2, 3):
        made = started(service, organiser, bots, format="knockout")
        play(service, made)
        for path in ("", "/bracket"):
            read(anonymous, f"/tournaments/{made}{path}")
        with counted_statements() as statements:
            read(anonymous, f"/tournaments/{made}")
        counts.append(len(statements))

    assert counts[0] == counts[1]
