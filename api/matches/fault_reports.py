"""Prepare fault reports for owners, and the response statistics of a bot."""

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from api.auth import viewer_id
from api.caching import Cache
from api.extended import Extended
from api.matches.fault_schemas import is_cut
from api.views import current_session
from referee.botclient import curl
from referee.conformance.report import percentiles
from referee.matches.lists import fault_reports, response_stats
from referee.matches.lists.fault_reports import ReportedFault

Json = dict[str, Any]
Timed = Sequence[response_stats.TimedMatch]

MAX_CACHED_ANSWERS: Final = 1_000_000  # answers, which take about 100 MB
EDGES_MS: Final = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)  # lower edges of histogram bins
TIMED_MATCHES: Final = Cache[Timed](MAX_CACHED_ANSWERS, lambda timed: 1 + sum(len(match.answers) for match in timed))


def attach_remedy(reported: ReportedFault) -> Extended:
    """Return a fault with the action played instead and, for the bot's owner, a command that repeats the question."""
    curl = _curl_command(reported) if reported.owner_id == viewer_id() else None
    played = fault_reports.find_replacement_action(current_session(), reported.fault)
    return Extended(reported, played=played, curl=curl)


def response_statistics(bot_id: str) -> Json:
    """Return the response statistics of a bot from its last matches, by version."""

    def make(before: Timed | None, *, patient: bool) -> Timed:
        if patient and before is not None:
            return before
        return response_stats.load_last_matches(current_session(), bot_id, before or ())

    played = TIMED_MATCHES.get(bot_id, make).made
    stretches = response_stats.group_by_version(played)
    return {"bot": bot_id, "matches": len(played), "items": [_summarise(stretch) for stretch in stretches]}


def histogram(times_ms: Sequence[int]) -> list[Json]:
    """Return how many of ``times_ms`` are in each bin. Leave out the empty bins at both ends."""
    counted = Counter(bisect_right(EDGES_MS, ms) - 1 for ms in times_ms)
    if not counted:
        return []
    return [{"from_ms": EDGES_MS[bin], "decisions": counted[bin]} for bin in range(min(counted), max(counted) + 1)]


def _summarise(period: response_stats.ResponsePeriod) -> Extended:
    figures = percentiles(period.ms)
    counted = dict(sorted(period.faults.items()))
    return Extended(period, decisions=figures["calls"], ms=figures, histogram=histogram(period.ms), faults=counted)


def _curl_command(reported: ReportedFault) -> str | None:
    """Return a command that sends the question to the bot again, or None if the question was not stored whole."""
    request = reported.fault.request
    if not request or is_cut(request) or not reported.url:
        return None
    id = json.loads(request)["decision"]["id"]
    return curl.signing_curl_command(f"{reported.url.rstrip('/')}/decide", id, request)
