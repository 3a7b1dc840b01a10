"""Serve the operator's page. It contains no data; its script reads them from the API with the operator's token."""

from typing import Final

from flask import Blueprint, Response

from api.pages.page import page

pages: Final = Blueprint("operator", __name__)


@pages.get("/operator")
def operator() -> Response:
    return page("operator/page.html")
