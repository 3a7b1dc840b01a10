"""Collect the data with which the scripts of pages show a match in the viewer."""

from typing import Any

from api.views import current_session
from referee import viewer
from referee.matches import matches
from referee.matches.lists import fault_reports
from referee.matches.logs import logs
from referee.matches.states import ENDED
from referee.matches.tables import StoredMatch
from referee.viewer.presentation import presentations

Json = dict[str, Any]


def viewer_data(match: StoredMatch, view: Json) -> Json:
    """Return the data with which scripts show a match. Name the players only if everyone may know them.

    ``view`` is the match as the API shows it.
    """
    named = all(seat["name"] is not None for seat in view["seats"])
    header = {
        "game": match.game,
        "options": match.options,
        "seats": len(view["seats"]),
        "players": [{name: seat[name] for name in ("bot", "name", "version")} for seat in view["seats"]]
        if named
        else [],
        "time": view["time"],
    }
    is_open = logs.is_log_public(current_session(), match)
    return {
        "id": match.id,
        "status": match.status,
        "rated": match.rated,
        "tournament": match.tournament_id,
        "open": is_open,
        "owners": [] if match.status in ENDED else sorted(matches.owners_of_friendly(current_session(), match)),
        "header": header,
        "faults": _advice_on(match) if is_open else None,
        "presentations": {match.game: presentations().get(match.game)},
    }


def _advice_on(match: StoredMatch) -> Json:
    """Return the advice on the faults in a match that is over."""
    codes = fault_reports.list_codes(current_session(), match.id)
    return {code: given for code, given in viewer.advice().items() if code in codes}
