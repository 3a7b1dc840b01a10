"""One's account: the page itself knows nobody; its script asks the API with the token kept in the tab."""

from typing import Final

from flask import Blueprint, Response, current_app

from api.pages.page import page
from referee.webhooks.webhooks import CHOICE

pages = Blueprint("account", __name__)

TOLD: Final = 10  # bots whose matches are looked up


@pages.get("/account")
def account() -> Response:
    return page(
        "account/page.html",
        events=CHOICE,
        known={"told": TOLD},
        self_service=current_app.config["SETTINGS"].self_service,
    )
