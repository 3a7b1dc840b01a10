"""The pages people look at, their files, and the documentation of the API; nothing on them comes from elsewhere.

What a page shows stands in the file of its group. They are for reading: whatever needs a token is asked of the API by
the page's script.
"""

from flask import Flask, Response, current_app, json, send_from_directory

from api.accounts import pages as account
from api.bots import pages as bots
from api.bots import register_page
from api.games import pages as games
from api.ladders import pages as ladders
from api.matches import pages as matches
from api.pages import guides, home, page, static_files
from api.requests import DOCS_POLICY
from api.tournaments import organiser_pages as organise
from api.tournaments import pages as tournaments
from api.tournaments import part_pages as tournament_parts

GROUPS = (home, games, guides, ladders, bots, matches, register_page, account, tournaments, tournament_parts, organise)


def install(app: Flask) -> None:
    """Adds the pages to ``app``."""
    static_files.install(app)
    page.install(app)
    for group in GROUPS:
        app.register_blueprint(group.pages, name=f"pages of {group.pages.name}")  # resources bear the names themselves

    @app.get("/docs")
    def docs() -> Response:
        response = send_from_directory(static_files.FOLDER, "docs.html", mimetype="text/html")
        response.headers["Content-Security-Policy"] = DOCS_POLICY
        return response

    @app.get("/api/v1/openapi.json")
    def openapi() -> Response:
        document = json.dumps(current_app.extensions["referee.spec"].to_dict(), sort_keys=False)
        return Response(document, mimetype="application/json")
