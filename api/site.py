"""The documentation page and the OpenAPI document, served from here alone: no file comes from elsewhere."""

from pathlib import Path

from flask import Flask, Response, current_app, json, redirect, send_from_directory
from werkzeug.wrappers import Response as ReturnedResponse

from api.errors import not_found
from api.requests import DOCS_POLICY

FOLDER = Path(__file__).parent / "static"
FILES = {
    "docs.js",
    "swagger-ui/swagger-ui-bundle.js",
    "swagger-ui/swagger-ui.css",
}


def install(app: Flask) -> None:
    """Adds the pages to ``app``."""

    @app.get("/")
    def home() -> ReturnedResponse:
        return redirect("/docs")

    @app.get("/docs")
    def docs() -> Response:
        response = send_from_directory(FOLDER, "docs.html", mimetype="text/html")
        response.headers["Content-Security-Policy"] = DOCS_POLICY
        return response

    @app.get("/static/<path:name>")
    def file(name: str) -> Response:
        if name not in FILES:
            raise not_found()
        response = send_from_directory(FOLDER, name, max_age=3600)
        response.headers["Content-Security-Policy"] = DOCS_POLICY
        return response

    @app.get("/api/v1/openapi.json")
    def openapi() -> Response:
        document = json.dumps(current_app.extensions["referee.spec"].to_dict(), sort_keys=False)
        return Response(document, mimetype="application/json")
