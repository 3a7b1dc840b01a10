"""Serve the pages on which organisers draft and run tournaments and void matches.

The pages contain only public data, except that of a draft. Their scripts call the API with the token of the signed-in
organiser.
"""

from collections.abc import Iterable
from typing import Any, Final

from flask import Response, request

from api import etags
from api.auth import anyone, authorize, viewer
from api.games.schemas import GameView
from api.matches.schemas import DEFAULTS
from api.pages.page import Pages, page
from api.queries import query_parameters
from api.tournaments.pages import TOURNAMENT, entry_page, tournament_context
from api.tournaments.presentation import editable_terms
from api.views import current_session
from referee.accounts.scopes import Scope
from referee.figures import count
from referee.games import catalogue
from referee.tournaments import editing, tournaments
from referee.tournaments.presets import PRESETS, RESET_BY_PRESETS
from referee.tournaments.states import IN_PROGRESS, TournamentState
from referee.tournaments.term_words import SEEDINGS
from referee.tournaments.terms import FORMATS, SECTIONS, TERMS, Term, max_entries
from referee.workflows.voids.voiding import MAX_REASON_LENGTH

pages = Pages("organise", __name__)

Json = dict[str, Any]
DEFAULT_TERMS: Final[Json] = {  # values in the form for a new tournament
    **{name: term.default for name, term in TERMS.items()},
    "name": "",
    "game": "pool-nap",
    "seats": 4,
    "options": {},
    "time": {"budget_ms": DEFAULTS.budget_ms, "bank_ms": DEFAULTS.bank_ms},
}


@pages.get("/organise")
def draft() -> Response:
    """Show the form for a new tournament."""
    presets = [{"name": name, "title": preset.title, "text": preset.text} for name, preset in PRESETS.items()]
    reset = {term: DEFAULT_TERMS[term] for term in RESET_BY_PRESETS}
    values = {name: reset | preset.terms for name, preset in PRESETS.items()}
    return page(
        "organise/new.html",
        **_choices(),
        sections=_sections(TERMS),
        values=DEFAULT_TERMS,
        fixed_game=None,
        presets=presets,
        preset_values=values,
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
    entered = editing.has_entries(current_session(), tournament.id)
    changeable = editing.changeable_terms(tournament, has_entries=entered)
    if tournament.status in IN_PROGRESS and not tournament.round_times:
        changeable.remove("round_times")
    return page(
        "organise/tournament.html",
        **tournament_context(tournament),
        **_choices(),
        values=editable_terms(tournament),
        fixed_game=tournament.game,
        etag=etags.edited_etag(editable_terms(tournament)),
        changeable=changeable,
        sections=_sections(changeable),
        items=items,
        numbered=numbered,
    )


@pages.get("/organise/void")
@query_parameters("match")
def void() -> Response:
    """Show the page for voiding a match. Its script reads the match that ``?match=`` names."""
    return page("organise/void.html", match=request.args.get("match", "")[:100], most_reason=MAX_REASON_LENGTH)


def _sections(names: Iterable[str]) -> dict[str, list[Term]]:
    """Return terms by the titles of the parts of the form."""
    shown = [TERMS[name] for name in names if name in TERMS]
    return {section: [term for term in shown if term.section == section] for section in SECTIONS}


def _choices() -> Json:
    """Return what the form offers: games, formats, seedings."""
    return {
        "rules": GameView(many=True).dump(sorted(catalogue().values(), key=lambda rules: rules.name)),
        "formats": {name: f"{means} At most {count(max_entries(name))} bots." for name, (_, means) in FORMATS.items()},
        "seedings": list(SEEDINGS.items()),
    }
