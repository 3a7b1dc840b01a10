"""Serve the page for registering, checking and practising with a bot. Its script calls the API."""

from typing import Final

from flask import Blueprint, Response, current_app

from api.pages.page import page
from api.queries import query_parameters
from referee.protocol.fault_advice import ADVICE, HANDSHAKE_ADVICE
from referee.settings import Settings

pages = Blueprint("register", __name__)

OWN_ADVICE: Final = {  # advice by code, for codes that occur only in handshakes
    **HANDSHAKE_ADVICE,
    "no_known_game": "Name at least one game of this service in the manifest.",
    "referee_failed": "The service failed; this is not your fault. Check the bot again.",
}


@pages.get("/register")
@query_parameters("bot")
def register() -> Response:
    settings: Settings = current_app.config["SETTINGS"]
    advice = {code: known.remedy for code, known in ADVICE.items()} | OWN_ADVICE
    return page(
        "register/form.html",
        known={"advice": advice, "selfService": settings.self_service},
        self_service=settings.self_service,
        plain_http=settings.allow_http or bool(settings.private_bots),
        private=bool(settings.egress_allow),
        private_bots=settings.private_bots.split(",") if settings.private_bots else [],
        url=settings.public_url,
    )
