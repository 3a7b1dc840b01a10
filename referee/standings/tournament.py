"""The table of an event: the tie-breaks and byes of its format."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Final

from referee.pairing import bye_points
from referee.standings.results import MatchOutcome
from referee.standings.table import TIE_BREAKS, RankedEntrant, table
from referee.standings.totals import ScoredBye

BYES_SCORE: Final = ("swiss",)  # elsewhere who has a bye rests, and all rest equally or are through

StageBye = tuple[int, Hashable, str]  # stage, entrant, reason


def event_table(
    format: str,
    seats: int,
    entrants: Iterable[Hashable],
    outcomes: Iterable[MatchOutcome],
    byes: Iterable[StageBye] = (),
    *,
    given: Mapping[str, Mapping[Hashable, int]] | None = None,
) -> list[RankedEntrant]:
    """The standings of an event of this format (one of ``TIE_BREAKS``), best first, as ``table`` gives them.

    ``given`` must have ``bracket`` for a knockout and ``rating`` for a ladder.
    """
    played = list(outcomes)
    rested = scored_byes(format, seats, byes, played)
    return table(entrants, played, rested, tie_breaks=TIE_BREAKS[format], given=given)


def scored_byes(format: str, seats: int, byes: Iterable[StageBye], outcomes: Iterable[MatchOutcome]) -> list[ScoredBye]:
    """The byes that bring points: ``bye_points`` for each match that tables of the same stage played.

    Tables that play the same deals with seats rotated have several; a bye then stands for as many.
    """
    if format not in BYES_SCORE:
        return []
    legs: dict[int | None, Counter[frozenset[Hashable]]] = {}
    for outcome in outcomes:
        legs.setdefault(outcome.stage, Counter())[frozenset(outcome.entrants)] += 1
    stood_for = {stage: max(tables.values()) for stage, tables in legs.items()}
    worth = bye_points(seats)
    return [ScoredBye(entrant, worth * stood_for.get(stage, 1), stood_for.get(stage, 1)) for stage, entrant, _ in byes]
