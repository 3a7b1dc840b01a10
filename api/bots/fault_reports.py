"""The evidence of faults as it goes out, and how a bot did over time."""

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from api.auth import viewer_id
from api.bots.fault_schemas import is_cut
from api.caching import Shelf
from api.presentation import Extended
from api.views import record
from referee.botclient import curl
from referee.conformance.report import percentiles
from referee.matches import fault_reports, response_stats
from referee.matches.fault_reports import ReportedFault

Json = dict[str, Any]

MOST_KEPT: Final = 1_000_000  # answers, some 100 MB
EDGES_MS: Final = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)  # of histograms
PACES: Final = Shelf[Sequence[response_stats.TimedMatch]](
    MOST_KEPT, lambda made: 1 + sum(len(one.answers) for one in made)
)


def attach_remedy(told: ReportedFault) -> Extended:
    """Return a fault with what was played instead and, for the owner of the bot, the command that asks it again."""
    curl = _curl_command(told) if told.owner_id == viewer_id() else None
    return Extended(told, played=fault_reports.played_instead(record(), told.fault), curl=curl)


def health(bot_id: str, *, by_day: bool) -> Json:
    """What the last matches of a bot say of its speed."""

    def make(
        before: Sequence[response_stats.TimedMatch] | None, *, patient: bool
    ) -> Sequence[response_stats.TimedMatch]:
        return before if patient and before is not None else response_stats.last_matches(record(), bot_id, before or ())

    played = PACES.get(bot_id, make).made
    stretches = response_stats.stretches(played, by_day=by_day)
    return {"bot": bot_id, "matches": len(played), "items": [_stretch(one) for one in stretches]}


def histogram(times_ms: Sequence[int]) -> list[Json]:
    """How many lie from each edge up to the next, from the first that has any to the last."""
    counted = Counter(bisect_right(EDGES_MS, ms) - 1 for ms in times_ms)
    if not counted:
        return []
    return [{"from_ms": EDGES_MS[at], "decisions": counted[at]} for at in range(min(counted), max(counted) + 1)]


def _stretch(one: response_stats.ResponsePeriod) -> Extended:
    figures = percentiles(one.ms)
    counted = dict(sorted(one.faults.items()))
    return Extended(one, decisions=figures["calls"], ms=figures, histogram=histogram(one.ms), faults=counted)


def _curl_command(told: ReportedFault) -> str | None:
    """The command that asks the bot the same again; None where not all of the question was kept."""
    request = told.fault.request
    if not request or is_cut(request) or not told.url:
        return None
    id = json.loads(request)["decision"]["id"]
    return curl.signing_line(f"{told.url.rstrip('/')}/decide", id, request)
