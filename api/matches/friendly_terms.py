"""Check the terms of a friendly that an owner arranges or asks for: own bot, time limits."""

from dataclasses import asdict
from typing import Any

from api.auth import current_account
from api.errors import invalid
from api.views import current_session
from referee.bots import bots
from referee.bots.tables import Bot
from referee.errors import Forbidden, NotFound
from referee.match.time_limits import Limits
from referee.matches.queue import quotas
from referee.matches.scheduling import MatchPlan


def check_own_friendly(terms: dict[str, Any]) -> list[Bot]:
    """Return the bots of a friendly. Raise ``Forbidden`` without a bot of the caller, a 422 for too much time."""
    seated = get_seated_bots(terms)
    if all(bot.owner_id != current_account().id for bot in seated):
        raise Forbidden("At least one of the bots must be your own.")
    check_time(terms["time"])
    return seated


def get_seated_bots(terms: dict[str, Any]) -> list[Bot]:
    """Return the bots in order of seats. Raise a 422 for an unknown id."""
    try:
        return [bots.get_bot(current_session(), bot_id) for bot_id in terms["bots"]]
    except NotFound as error:
        raise invalid([(f"bots[{terms['bots'].index(error.id)}]", "No bot has this id.")]) from None


def check_time(time: dict[str, int]) -> None:
    """Raise a 422 that names each time limit that is too long for a friendly."""
    most = asdict(quotas.MAX_TIME)
    if too_long := [name for name in most if time[name] > most[name]]:
        raise invalid(
            (f"time.{name}", f"Must be at most {most[name]} ms in a friendly. Organisers may set more.")
            for name in too_long
        )


def plan_match(terms: dict[str, Any], *, rated: bool) -> MatchPlan:
    """Return the plan of a match that the caller asks for."""
    wanted = {name: terms[name] for name in ("game", "bots", "options")}
    return MatchPlan(**wanted, limits=Limits(**terms["time"]), rated=rated, created_by=current_account().id)
