"""The first page: what this is, what is going on, how to take part."""

from flask import Blueprint, Response

from api.site.page import page, shown

pages = Blueprint("home", __name__)


@pages.get("/")
@shown
def home() -> Response:
    return page("home.html")
