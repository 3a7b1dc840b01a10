"""Preview pictures over HTTP: never drawn in a request, cached, and named in the pages."""

import re

import pytest
from sqlalchemy import func, select

from referee.db.engine import Database
from referee_extras.pictures import EXTRA, drawing, store
from referee_extras.pictures.drawer import PictureDrawer
from referee_extras.pictures.tables import Picture, PictureKind
from tests.api.conftest import Person, Service
from tests.api.tournaments import started
from tests.extras.conftest import statements_of

KINDS = {kind: (EXTRA.folder / f"static/pictures/preview-{kind}.png").read_bytes() for kind in PictureKind}


@pytest.fixture
def paths(service: Service, owner: Person, organiser: Person) -> dict[PictureKind, str]:
    """Return the path of a page of each kind."""
    result = service.played(owner, service.person())
    return {
        PictureKind.MATCH: f"/matches/{result.match_id}",
        PictureKind.BOT: f"/bots/{result.bots[0]}",
        PictureKind.LADDER: f"/ladders/{result.ladder_id}",
        PictureKind.TOURNAMENT: f"/tournaments/{started(service, organiser, 2)}",
    }


def draw_all(database: Database) -> None:
    drawer = PictureDrawer(database)
    for _ in range(6):
        drawer.step()


def test_a_picture_that_is_not_drawn_yet_is_the_standard_one_and_is_drawn_afterwards(
    service: Service, paths: dict[PictureKind, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, path = service.anonymous(), f"{paths[PictureKind.BOT]}/picture.png"
    with monkeypatch.context() as patched:
        patched.setattr(drawing, "rasterize", lambda *_, **__: pytest.fail("drawn in a request"))
        before = {kind: client.get(f"{path}/picture.png") for kind, path in paths.items()}
    draw_all(service.database)
    after = {kind: client.get(f"{path}/picture.png") for kind, path in paths.items()}
    answer = after[PictureKind.BOT]
    again, head = client.get(path, headers={"If-None-Match": answer.headers["ETag"]}), client.head(path)

    for kind in PictureKind:
        assert (before[kind].status_code, before[kind].data) == (200, KINDS[kind])
        assert before[kind].headers["Cache-Control"] == "public, max-age=30"
        assert after[kind].data[:4] == b"\x89PNG"
        assert after[kind].data != before[kind].data
    assert after[PictureKind.MATCH].headers["Cache-Control"] == "public, max-age=3600"
    assert answer.headers["Cache-Control"] == "public, max-age=300"
    assert re.fullmatch('"[0-9a-f]+"', answer.headers["ETag"])
    assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", answer.headers["ETag"])
    assert (head.status_code, head.data, head.headers["ETag"]) == (200, b"", answer.headers["ETag"])
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert answer.mimetype == "image/png"


def test_a_drawn_picture_costs_one_statement_and_a_flood_writes_no_more_than_the_queue_holds(
    service: Service, paths: dict[PictureKind, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, bot = service.anonymous(), f"{paths[PictureKind.BOT]}/picture.png"
    client.get(bot)
    PictureDrawer(service.database).step()
    assert statements_of(lambda: client.get(bot)) == ["SELECT"]

    monkeypatch.setattr(store, "MAX_WAITING", 1)
    first, second = (f"{paths[kind]}/picture.png" for kind in (PictureKind.MATCH, PictureKind.LADDER))
    client.get(first)
    seen = statements_of(lambda: [client.get(path) for path in (first, second) for _ in range(10)])

    assert set(seen) == {"SELECT"}
    with service.database.read() as session:
        assert session.scalar(select(func.count()).select_from(Picture).where(Picture.png.is_(None))) == 1


def test_what_does_not_exist_has_no_picture(service: Service) -> None:
    for folder in ("matches/mat", "bots/bot", "tournaments/trn", "ladders/lad"):
        assert service.anonymous().get(f"/{folder}_{'0' * 26}/picture.png").status_code == 404
    with service.database.read() as session:
        assert session.scalar(select(func.count()).select_from(Picture)) == 0


def test_pages_name_their_picture_with_its_size_and_a_text(service: Service, paths: dict[PictureKind, str]) -> None:
    client = service.anonymous()
    for path in (*paths.values(), f"{paths[PictureKind.TOURNAMENT]}/standings"):
        text = client.get(path).text
        said = dict(re.findall(r'<meta (?:property|name)="((?:og|twitter):[\w:]+)" content="([^"]*)">', text))
        assert said["og:image"] == f"{service.settings.public_url}{path.removesuffix('/standings')}/picture.png"
        assert (said["og:image:width"], said["og:image:height"]) == ("1200", "630")
        assert said["og:image:alt"] == said["og:title"]
        assert said["twitter:card"] == "summary_large_image"

    home = client.get("/").text
    assert "og:image" not in home
