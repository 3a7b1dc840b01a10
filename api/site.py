"""Register the web pages, their static files, and the documentation of the API. Nothing is loaded from other sites.

The ``pages`` modules of the areas and extras have the views. Pages contain only public data. Their scripts use the API
for everything that requires a token.
"""

from flask import Flask, Response, current_app, json

from api.accounts import pages as account
from api.bots import directory_pages
from api.bots import pages as bots
from api.chain import pages as chain
from api.games import pages as games
from api.ladders import pages as ladders
from api.matches import pages as matches
from api.overview import pages as overview
from api.pages import guides, page, page_places, static_files
from api.requests import DOCS_POLICY
from api.tournaments import organiser_pages as organise
from api.tournaments import pages as tournaments
from referee import plugs

GROUPS = (*(overview, games, guides, ladders, bots, directory_pages, chain, matches, account, tournaments, organise),)


def install(app: Flask) -> None:
    """Register the pages in ``app``."""
    static_files.install(app)
    page.install(app)
    page_places.install(app)
    for group in list_groups():
        app.register_blueprint(group, name=f"pages of {group.name}")  # unlike the name of a resource

    @app.get("/docs")
    def docs() -> Response:
        response = page.page("docs.html")
        response.headers["Content-Security-Policy"] = DOCS_POLICY
        return response

    @app.get("/api/v1/openapi.json")
    def openapi() -> Response:
        document = json.dumps(current_app.extensions["referee.document"](), sort_keys=False)
        return Response(document, mimetype="application/json")


def list_groups() -> list[page.Pages]:
    """Return the groups of pages of the service and of its extras."""
    of_extras = [plugs.load(group) for extra in plugs.extras() for group in extra.pages]
    return [*(module.pages for module in GROUPS), *of_extras]
