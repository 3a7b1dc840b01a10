"""Serve the pages of an account and of the operator. Their scripts read private data from the API with a token."""

from typing import Final

from flask import Blueprint, Response, current_app

from api.pages.page import page
from referee.accounts.scopes import MEANINGS

pages = Blueprint("account", __name__)

LISTED_BOTS: Final = 10  # most bots whose matches the script looks up
TOKEN_LIFETIMES: Final = (7, 30, 90, 365)  # the days that the page offers


@pages.get("/account")
def account() -> Response:
    return page(
        "account/page.html",
        scopes=MEANINGS,
        lifetimes=TOKEN_LIFETIMES,
        known={"listedBots": LISTED_BOTS},
        self_service=current_app.config["SETTINGS"].self_service,
    )


@pages.get("/operator")
def operator() -> Response:
    return page("operator/page.html")
