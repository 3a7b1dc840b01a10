"""Register the web pages, their static files, and the documentation of the API. Nothing is loaded from other sites.

The ``pages`` modules of the areas have the views. Pages contain only public data. Their scripts use the API for
everything that requires a token.
"""

from flask import Flask, Response, current_app, json

from api.accounts import operator_pages
from api.accounts import pages as account
from api.bots import directory_pages, register_page
from api.bots import pages as bots
from api.chain import pages as chain
from api.feeds import pages as feeds
from api.games import pages as games
from api.ladders import exchange_pages as exchanges
from api.ladders import pages as ladders
from api.matches import pages as matches
from api.matches import void_pages as voids
from api.openings import pages as openings
from api.overview import pages as overview
from api.pages import guides, page, static_files
from api.pictures import pages as pictures
from api.requests import DOCS_POLICY
from api.search import pages as search
from api.series import pages as series
from api.tournaments import detail_pages as tournament_details
from api.tournaments import hall_page as tournament_hall
from api.tournaments import organiser_pages as organise
from api.tournaments import pages as tournaments

GROUPS = (
    overview,
    games,
    guides,
    ladders,
    exchanges,
    bots,
    directory_pages,
    openings,
    chain,
    voids,
    search,
    matches,
    register_page,
    account,
    operator_pages,
    tournaments,
    tournament_details,
    tournament_hall,
    organise,
    series,
    pictures,
    feeds,
)


def install(app: Flask) -> None:
    """Register the pages in ``app``."""
    static_files.install(app)
    page.install(app)
    pictures.install(app)
    feeds.install(app)
    for group in GROUPS:
        app.register_blueprint(group.pages, name=f"pages of {group.pages.name}")  # unlike the name of a resource

    @app.get("/docs")
    def docs() -> Response:
        response = page.page("docs.html")
        response.headers["Content-Security-Policy"] = DOCS_POLICY
        return response

    @app.get("/api/v1/openapi.json")
    def openapi() -> Response:
        document = json.dumps(current_app.extensions["referee.spec"].to_dict(), sort_keys=False)
        return Response(document, mimetype="application/json")
