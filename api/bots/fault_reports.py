"""The evidence of faults as it goes out, and how a bot did over time."""

import base64
import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from api.auth import viewer_id
from api.caching import Shelf
from api.pagination import envelope
from api.views import record
from referee.botclient import curl
from referee.conformance.report import percentiles
from referee.db.paging import Page
from referee.matches import fault_reports, response_stats
from referee.matches.fault_reports import Told
from referee.matches.recording import MAX_KEPT_BYTES
from referee.protocol.fault_advice import ADVICE

Json = dict[str, Any]

MOST_KEPT: Final = 1_000_000  # answers, some 100 MB
EDGES_MS: Final = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)  # of histograms
PACES: Final = Shelf[Sequence[response_stats.Played]](MOST_KEPT, lambda made: 1 + sum(len(one.answers) for one in made))


def page(found: Page[Told], query: Json) -> Json:
    return envelope(Page([short(told) for told in found.items], found.next), query)


def short(told: Told) -> Json:
    fault = told.fault
    return {
        "id": fault.id,
        "match": fault.match_id,
        "n": fault.n,
        "seat": fault.seat,
        "bot": fault.bot_id,
        "version": told.version,
        "code": fault.code,
        "detail": fault.detail,
        "advice": ADVICE[fault.code].remedy,
        "timing": fault.timing,
        "created_at": fault.created_at,
    }


def whole(told: Told) -> Json:
    """All of it. What a bot sent is never interpreted: text where it is UTF-8, else base64."""
    fault = told.fault
    text = _text(fault.reply)
    raw = None if fault.reply is None or text is not None else base64.b64encode(fault.reply).decode()
    return {
        **short(told),
        "request": _text(fault.request),
        "request_cut": _is_cut(fault.request),
        "reply": text,
        "reply_base64": raw,
        "reply_cut": _is_cut(fault.reply),
        "played": fault_reports.played_instead(record(), fault),
        "curl": _again(told) if told.owner_id == viewer_id() else None,
    }


def health(bot_id: str, *, by_day: bool) -> Json:
    """What the last matches of a bot say of its speed."""

    def make(before: Sequence[response_stats.Played] | None, *, patient: bool) -> Sequence[response_stats.Played]:
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


def _stretch(one: response_stats.Stretch) -> Json:
    figures = percentiles(one.ms)
    return {
        "version": one.version,
        "day": one.day,
        "first_at": one.first_at,
        "last_at": one.last_at,
        "matches": one.matches,
        "decisions": figures.pop("calls"),
        "ms": figures,
        "histogram": histogram(one.ms),
        "faults": dict(sorted(one.faults.items())),
    }


def _again(told: Told) -> str | None:
    """The command that asks the bot the same again; None where not all of the question was kept."""
    request = told.fault.request
    if not request or _is_cut(request) or not told.url:
        return None
    id = json.loads(request)["decision"]["id"]
    return curl.signing_line(f"{told.url.rstrip('/')}/decide", id, request)


def _is_cut(body: bytes | None) -> bool:
    return body is not None and len(body) >= MAX_KEPT_BYTES


def _text(body: bytes | None) -> str | None:
    try:
        return None if body is None else body.decode()
    except UnicodeDecodeError:
        return None
