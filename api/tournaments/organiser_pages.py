"""Serve the pages on which organisers draft and run tournaments and void matches.

The pages contain only public data, except that of a draft. Their scripts call the API with the token of the signed-in
organiser.
"""

from typing import Any, Final

from flask import Response, request

from api import etags
from api.auth import anyone, authorize, viewer
from api.games.schemas import GameView
from api.matches.schemas import DEFAULTS, MAX_SEATS
from api.pages.page import Pages, page
from api.queries import query_parameters
from api.tournaments import terms
from api.tournaments.pages import TOURNAMENT, entry_page, tournament_context
from api.tournaments.presentation import editable_terms
from api.views import current_session
from referee.accounts.scopes import Scope
from referee.db.texts import MAX_LINK_LENGTH
from referee.games import catalogue
from referee.house.players import LEVELS
from referee.pairing.formats import formats
from referee.pairing.kinds import SeatOrders, TournamentFormat
from referee.tournaments import announcement, editing, tournaments
from referee.tournaments.announcement import ANNOUNCEMENT
from referee.tournaments.presets import PRESETS, preset_terms
from referee.tournaments.states import TournamentState
from referee.tournaments.terms import MAX_CYCLES, max_entries
from referee.workflows.voids.voiding import MAX_REASON_LENGTH

pages = Pages("organise", __name__)

Json = dict[str, Any]
DEFAULT_TERMS: Final[Json] = {  # values in the form for a new tournament
    "name": "",
    "game": "pool-nap",
    "seats": 4,
    "options": {},
    "format": TournamentFormat.ROUND_ROBIN,
    "format_options": {},
    "cycles": 1,
    "rated": True,
    "deal_sharing": None,
    "orders": SeatOrders.CYCLIC,
    "trusted": False,
    "anonymous": True,
    "late_entry": False,
    "frozen_version": False,
    "bots_per_owner": None,
    "min_seats": None,
    "substitute": None,
    "listed": True,
    "approval": False,
    "max_entries": None,
    "min_entries": None,
    "entries_close_at": None,
    "round_minutes": None,
    "round_times": None,
    "starts_at": None,
    **dict.fromkeys(ANNOUNCEMENT),
    "time": {"budget_ms": DEFAULTS.budget_ms, "bank_ms": DEFAULTS.bank_ms},
}


@pages.get("/organise")
def draft() -> Response:
    """Show the form for a new tournament."""
    presets = [{"name": name, "title": preset.title, "text": preset.text} for name, preset in PRESETS.items()]
    values = {name: preset_terms(name) for name in PRESETS}
    return page(
        "organise/new.html", **_choices(), values=DEFAULT_TERMS, fixed_game=None, presets=presets, preset_values=values
    )


@pages.view(f"{TOURNAMENT}/organise", "page")
def manage(tournament_id: str) -> Response:
    """Show the page for running a tournament, with its entries and seeds and its terms.

    A draft is shown to those who run it only. Browsers send no token when they open a page: they get a page that says
    nothing of the draft, and its script asks again with the token.
    """
    tournament = tournaments.get_tournament(current_session(), tournament_id)
    if tournament.status == TournamentState.DRAFT:
        authorize(anyone, Scope.READ)
        if not tournaments.is_visible(tournament, viewer()):
            return page("organise/draft.html")
    numbered, items = entry_page(tournament)
    return page(
        "organise/tournament.html",
        **tournament_context(tournament),
        **_choices(),
        values=editable_terms(tournament),
        fixed_game=tournament.game,
        etag=etags.edited_etag(editable_terms(tournament)),
        changeable=editing.changeable_terms(
            tournament, has_entries=editing.has_entries(current_session(), tournament.id)
        ),
        items=items,
        numbered=numbered,
    )


@pages.get("/organise/void")
@query_parameters("match")
def void() -> Response:
    """Show the page for voiding a match. Its script reads the match that ``?match=`` names."""
    return page("organise/void.html", match=request.args.get("match", "")[:100], most_reason=MAX_REASON_LENGTH)


def _choices() -> Json:
    """Return the choices of the form: games, formats, deal sharing, seedings, substitutes, limits."""
    return {
        "rules": GameView(many=True).dump(sorted(catalogue().values(), key=lambda rules: rules.name)),
        "formats": [
            {
                "name": name,
                "title": terms.FORMATS[name][0],
                "means": terms.FORMATS[name][1],
                "late": tournament_format.takes_late_entries,
                "most": max_entries(name),
            }
            for name, tournament_format in formats().items()
        ],
        "deal_kinds": [
            ("", "default: common if rated, otherwise separate for each match"),
            *((kind, label) for kind, (label, _) in terms.DEALS.items()),
        ],
        "seedings": list(terms.SEEDINGS.items()),
        "substitutes": [
            ("", "none: unreachable bots sit out"),
            *((level.address(), f"{level.address()}, {level.title}") for level in LEVELS),
        ],
        "longest": {
            "description": announcement.MAX_DESCRIPTION_LENGTH,
            "link": MAX_LINK_LENGTH,
            "contact": announcement.MAX_CONTACT_LENGTH,
            "prizes": announcement.MAX_PRIZES_LENGTH,
        },
        "most_seats": MAX_SEATS,
        "most_cycles": MAX_CYCLES,
        "most_reason": MAX_REASON_LENGTH,
    }
