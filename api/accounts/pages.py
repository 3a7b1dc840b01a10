"""Serve the account page. It contains no personal data; its script reads such data from the API with a token."""

from typing import Final

from flask import Blueprint, Response, current_app

from api.pages.page import page
from referee.webhooks.webhooks import SUBSCRIBABLE_TYPES

pages = Blueprint("account", __name__)

LISTED_BOTS: Final = 10  # most bots whose matches the script looks up


@pages.get("/account")
def account() -> Response:
    return page(
        "account/page.html",
        events=SUBSCRIBABLE_TYPES,
        known={"listedBots": LISTED_BOTS},
        self_service=current_app.config["SETTINGS"].self_service,
    )
