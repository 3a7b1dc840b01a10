"""The pages people look at, their files, and the documentation of the API; nothing on them comes from elsewhere.

What a page shows stands in the file of its group. They are for reading: whatever needs a token is asked of the API by
the page's script.
"""

from flask import Flask, Response, current_app, json, send_from_directory

from api.requests import DOCS_POLICY
from api.site import (
    account,
    bots,
    games,
    guides,
    home,
    ladders,
    matches,
    organise,
    page,
    register,
    statics,
    tournament_parts,
    tournaments,
)

GROUPS = (home, games, guides, ladders, bots, matches, register, account, tournaments, tournament_parts, organise)


def install(app: Flask) -> None:
    """Adds the pages to ``app``."""
    statics.install(app)
    page.install(app)
    for group in GROUPS:
        app.register_blueprint(group.pages, name=f"pages of {group.pages.name}")  # resources bear the names themselves

    @app.get("/docs")
    def docs() -> Response:
        response = send_from_directory(statics.FOLDER, "docs.html", mimetype="text/html")
        response.headers["Content-Security-Policy"] = DOCS_POLICY
        return response

    @app.get("/api/v1/openapi.json")
    def openapi() -> Response:
        document = json.dumps(current_app.extensions["referee.spec"].to_dict(), sort_keys=False)
        return Response(document, mimetype="application/json")
