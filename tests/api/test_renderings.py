"""Pages that renew themselves: 304 until something changes, and one rendering for many readers."""

import gzip

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api.pages import renderings
from tests.api.conftest import Service
from tests.database.world import World


@pytest.fixture
def ladder(world: World) -> str:
    """Return the ladder of a match that has ended."""
    return str(world.play(world.bots(2)).ladder_id)


def renew(client: FlaskClient, shown: TestResponse, path: str, encoding: str = "identity") -> TestResponse:
    """Request an open page again, as its script does."""
    headers = {"Accept": "text/html", "Accept-Encoding": encoding, "If-None-Match": shown.headers["ETag"]}
    return client.get(path, headers=headers)


@pytest.fixture(params=["/", "/ladders/{ladder}"])
def path(request: pytest.FixtureRequest, ladder: str) -> str:
    return str(request.param.format(ladder=ladder))


def test_an_open_page_is_unchanged_until_a_match_ends(
    service: Service, world: World, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(renderings, "REUSED_S", 0.0)
    client = service.anonymous()
    shown = client.get(path)

    unchanged = renew(client, shown, path)
    world.play(world.bots(2))
    changed = renew(client, shown, path)

    assert (unchanged.status_code, unchanged.data) == (304, b"")
    assert changed.status_code == 200
    assert changed.headers["Content-Security-Policy"] == shown.headers["Content-Security-Policy"]
    assert changed.data == client.get(path).data != shown.data


def test_open_pages_share_a_rendering_for_a_moment(
    service: Service, world: World, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(renderings, "REUSED_S", 1e6)
    client = service.anonymous()
    shown = client.get(path)
    renew(client, shown, path)

    world.play(world.bots(2))

    assert renew(client, shown, path).status_code == 304
    loaded = client.get(path)  # without If-None-Match
    assert loaded.data != shown.data
    assert renew(client, loaded, path).data == shown.data


def test_renderings_are_kept_apart_by_query_and_encoding(service: Service, ladder: str) -> None:
    client, path = service.anonymous(), f"/ladders/{ladder}"
    other = client.get("/")

    plain, packed, sorted_by_games = (
        renew(client, other, path),
        renew(client, other, path, "gzip"),
        renew(client, other, f"{path}?sort=games"),
    )

    assert gzip.decompress(packed.data) == plain.data
    assert (packed.headers["Content-Encoding"], plain.headers.get("Content-Encoding")) == ("gzip", None)
    assert plain.data == client.get(path).data
    assert sorted_by_games.data == client.get(f"{path}?sort=games").data != plain.data
