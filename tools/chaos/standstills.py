"""Measure for how long matches stood still after each kind of injury."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from tools.chaos.bots import Ask, Notebook

NO_INJURY = "(no injury in the 2 s before)"
BEFORE_S = 2.0  # an injury this long before a standstill may be its cause


class Injury(NamedTuple):
    """Record an injury and when it happened."""

    kind: str
    at: float


class Standstill(NamedTuple):
    """Describe a time without a question in a match that was being played."""

    seconds: float
    match_id: str


def find_longest_standstills(notebook: Notebook, injuries: Sequence[Injury]) -> dict[str, Standstill]:
    """Return the longest standstill by kind of injury: the last one up to 2 s before it or, if none, within it.

    Several injuries follow each other within seconds, so a long standstill may be the work of more than one.
    """
    longest: dict[str, Standstill] = {}
    for match_id, asks in notebook.by_match.items():
        for start, end in pairwise(_moments(asks, notebook.ended.get(match_id))):
            kind = _cause(injuries, start, end)
            longest[kind] = max(longest.get(kind, Standstill(0.0, "")), Standstill(end - start, match_id))
    return longest


def render_standstills(longest: Mapping[str, Standstill], injuries: Iterable[Injury]) -> str:
    counts: dict[str, int] = {}
    for injury in injuries:
        counts[injury.kind] = counts.get(injury.kind, 0) + 1
    width = max(map(len, [*counts, NO_INJURY]))
    lines = [f"{'injury':{width}}  times  longest standstill"]
    for kind in [*sorted(counts), NO_INJURY]:
        stood = longest.get(kind)
        lines.append(
            f"{kind:{width}}  {counts.get(kind, 0):5}  "
            + (f"{stood.seconds:6.1f} s  {stood.match_id}" if stood else "")
        )
    return "\n".join(lines)


def _moments(asks: Sequence[Ask], ended: float | None) -> list[float]:
    return [*(ask.at for ask in asks), *([] if ended is None else [ended])]


def _cause(injuries: Sequence[Injury], start: float, end: float) -> str:
    before = [injury.kind for injury in injuries if start - BEFORE_S <= injury.at <= start]
    within = [injury.kind for injury in injuries if start < injury.at < end]
    return within[0] if within else before[-1] if before else NO_INJURY
