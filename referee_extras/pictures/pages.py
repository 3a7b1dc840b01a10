"""Serve the preview pictures of matches, bots, tournaments and ladders, and name them in pages.

A request sends the stored picture, or the standard one of its kind while there is none, and never draws.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from flask import Response, current_app, request
from markupsafe import Markup
from sqlalchemy.orm import Session

from api.pages.page import Pages
from api.pages.static_files import send_static_file
from api.views import database
from referee.bots import bots
from referee.errors import Unavailable
from referee.ladders import ratings
from referee.matches import matches
from referee.tournaments import tournaments
from referee_extras.pictures import store
from referee_extras.pictures.contents import HEIGHT, WIDTH
from referee_extras.pictures.tables import PictureKind

pages = Pages("pictures", __name__)

CACHED: Final = "public, max-age=300"
CACHED_SETTLED: Final = "public, max-age=3600"  # of a match or tournament that is over
CACHED_STANDARD: Final = "public, max-age=30"  # until the picture has been drawn
SUBJECTS: Final[dict[PictureKind, tuple[str, str, Callable[[Session, str], object]]]] = {
    # The beginning of the path of a page, the prefix of ids, and a function that raises ``NotFound`` for an unknown id.
    PictureKind.MATCH: ("matches", "mat", matches.get_match),
    PictureKind.TOURNAMENT: ("tournaments", "trn", tournaments.get_visible_tournament),
    PictureKind.LADDER: ("ladders", "lad", ratings.get_ladder),
    PictureKind.BOT: ("bots", "bot", bots.get_bot),
}


def name_in_head(*, title: str) -> Markup | None:
    """Return the elements that name the picture of the page that is shown, or None if it has none."""
    url = picture_of_page()
    if url is None:
        return None
    named = {"og:image": url, "og:image:width": WIDTH, "og:image:height": HEIGHT, "og:image:alt": title}
    element = Markup('<meta property="{}" content="{}">')
    card = Markup('<meta name="twitter:card" content="summary_large_image">')
    return Markup("\n  ").join([*(element.format(*pair) for pair in named.items()), card])


def picture_of_page() -> str | None:
    """Return the public URL of the picture of this page, or None if it has none."""
    arguments: dict[str, Any] = request.view_args or {}
    for kind, (folder, _, _) in SUBJECTS.items():
        if (subject_id := arguments.get(f"{kind}_id")) is not None:
            return f"{current_app.config['SETTINGS'].public_url}/{folder}/{subject_id}/picture.png"
    return None


def _serve(kind: PictureKind, find: Callable[[Session, str], object]) -> Callable[..., Response]:
    def send(**arguments: str) -> Response:
        subject_id = arguments[f"{kind}_id"]
        with database().read() as session:
            found = store.find_picture(session, kind, subject_id)
            if found.png is None:
                find(session, subject_id)
        if found.is_due:
            with suppress(Unavailable), database().write(durable=False) as session:  # a later request asks again
                store.request_check(session, kind, subject_id)
        if found.png is None:
            return send_static_file(f"pictures/preview-{kind}.png", CACHED_STANDARD)
        response = Response(found.png, mimetype="image/png")
        response.headers["Cache-Control"] = CACHED_SETTLED if found.is_settled else CACHED
        return response

    send.__name__ = str(kind)
    return send


for _kind, (_folder, _prefix, _find) in SUBJECTS.items():
    pages.get(f'/{_folder}/<id("{_prefix}"):{_kind}_id>/picture.png')(_serve(_kind, _find))
