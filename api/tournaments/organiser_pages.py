"""Pages of organisers: drafting an event, leading it, taking matches back. The pages ask the API, with the token of
whoever is at the keyboard; what is shown here anybody may know."""

from typing import Any, Final

from flask import Blueprint, Response, request

from api import etags
from api.games.schemas import GameView
from api.matches.schemas import DEFAULTS, MOST_SEATS
from api.pages.page import page, page_view
from api.presentation import attach_progress
from api.queries import takes
from api.tournaments import terms
from api.tournaments.pages import EVENT, entry_page, head
from api.tournaments.schemas import TournamentView, WholeTournamentView
from api.views import record
from referee.games import catalogue
from referee.house.strategies import players
from referee.pairing.formats import formats
from referee.tournaments import tournaments
from referee.tournaments.terms import MAX_CYCLES, most_entries
from referee.workflows.voiding import MOST_REASON

pages = Blueprint("organise", __name__)

Json = dict[str, Any]
USUAL: Final[Json] = {  # of a new event
    "name": "",
    "game": "pool-nap",
    "seats": 4,
    "options": {},
    "format": "round_robin",
    "format_options": {},
    "cycles": 1,
    "rated": True,
    "deal_sharing": None,
    "orders": "cyclic",
    "trusted": False,
    "anonymous": True,
    "late_entry": False,
    "frozen_version": False,
    "substitute": None,
    "starts_at": None,
    "time": {"budget_ms": DEFAULTS.budget_ms, "bank_ms": DEFAULTS.bank_ms},
}


@pages.get("/organise")
def draft() -> Response:
    """Drafting an event."""
    return page("organise/new.html", **_choices(), values=USUAL, fixed_game=None)


@pages.get(f"{EVENT}/organise")
@takes("page")
@page_view
def lead(tournament_id: str) -> Response:
    """Leading one: its terms while it is a draft, its entries and seeds."""
    event = tournaments.get_tournament(record(), tournament_id)
    numbered, items = entry_page(event)
    return page(
        "organise/event.html",
        **head(event),
        **_choices(),
        values=TournamentView().dump(event),
        fixed_game=event.game,
        etag=etags.validator(WholeTournamentView, attach_progress(event)) if event.status == "draft" else None,
        items=items,
        numbered=numbered,
    )


@pages.get("/organise/void")
@takes("match")
def void() -> Response:
    """Taking a match back; which one stands in ``match``, and the page's script reads about it."""
    return page("organise/void.html", match=request.args.get("match", "")[:100], most_reason=MOST_REASON)


def _choices() -> Json:
    """What an organiser may choose from."""
    return {
        "rules": GameView(many=True).dump(sorted(catalogue().values(), key=lambda rules: rules.name)),
        "formats": [
            {
                "name": name,
                "title": terms.FORMATS[name][0],
                "means": terms.FORMATS[name][1],
                "late": one.takes_late_entries,
                "most": most_entries(name),
            }
            for name, one in formats().items()
        ],
        "deal_kinds": [
            ("", "the usual: common where rated, else each match its own"),
            *((kind, words) for kind, (words, _) in terms.DEALS.items()),
        ],
        "seedings": list(terms.SEEDINGS.items()),
        "substitutes": [("", "nobody: they sit out"), *players()],
        "most_seats": MOST_SEATS,
        "most_cycles": MAX_CYCLES,
        "most_reason": MOST_REASON,
    }
