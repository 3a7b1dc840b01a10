"""Compute the standings of a tournament with the tie-breaks and byes of its format."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Final

from referee.pairing import bye_points
from referee.pairing.kinds import TournamentFormat
from referee.standings.results import MatchOutcome
from referee.standings.table import TIE_BREAKS, RankedEntrant, compute_standings
from referee.standings.totals import ScoredBye

BYES_SCORE: Final = (TournamentFormat.SWISS,)  # in other formats, all have equally many byes, or a bye lets one advance

RoundBye = tuple[int, Hashable, str]  # tournament round, entrant, reason


def compute_tournament_standings(
    format: str,
    seats: int,
    entrants: Iterable[Hashable],
    outcomes: Iterable[MatchOutcome],
    byes: Iterable[RoundBye] = (),
    *,
    given: Mapping[str, Mapping[Hashable, int]] | None = None,
) -> list[RankedEntrant]:
    """Return the standings of a tournament of this format (a key of ``TIE_BREAKS``), best first.

    ``given`` must have ``bracket`` for a knockout, as in ``compute_standings``.
    """
    played = list(outcomes)
    scored = scored_byes(format, seats, byes, played)
    return compute_standings(entrants, played, scored, tie_breaks=TIE_BREAKS[format], given=given)


def scored_byes(format: str, seats: int, byes: Iterable[RoundBye], outcomes: Iterable[MatchOutcome]) -> list[ScoredBye]:
    """Return the byes that count. Each is worth ``bye_points`` per match of a table of its round.

    With duplicate deals, each table has several matches, and a bye replaces all of them.
    """
    if format not in BYES_SCORE:
        return []
    legs: dict[int | None, Counter[frozenset[Hashable]]] = {}
    for outcome in outcomes:
        legs.setdefault(outcome.tournament_round, Counter())[frozenset(outcome.entrants)] += 1
    replaced = {number: max(tables.values()) for number, tables in legs.items()}
    points = bye_points(seats)
    return [
        ScoredBye(entrant, points * replaced.get(number, 1), replaced.get(number, 1)) for number, entrant, _ in byes
    ]
