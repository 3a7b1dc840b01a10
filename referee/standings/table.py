"""Tournament tables: who stands where, by the tie-breaks a format declares, then with shared places."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from referee.standings import totals as columns
from referee.standings.crosstable import Met, meetings_within
from referee.standings.results import MatchOutcome
from referee.standings.totals import Column, ScoredBye, tally

TIE_BREAKS: Final[Mapping[str, tuple[str, ...]]] = {  # what decides, in this order
    "round_robin": ("points", "head_to_head", "sonneborn_berger", "wins"),
    "double_round_robin": ("points", "head_to_head", "sonneborn_berger", "wins"),
    "swiss": ("points", "buchholz", "head_to_head", "sonneborn_berger", "wins"),
    "gauntlet": ("points_per_match", "head_to_head", "wins"),  # one plays all matches, the others few
    "knockout": ("bracket",),
    "ladder": ("rating", "points_per_match"),
}
GIVEN: Final = ("bracket", "rating")  # handed in, because they do not follow from sums over results
BEST_IS_LEAST: Final = ("bracket",)
COLUMNS: Final[Mapping[str, Callable[[columns.EntrantTotals], Column]]] = {
    "points": columns.total_points,
    "points_per_match": columns.points_per_match,
    "buchholz": columns.buchholz,
    "sonneborn_berger": columns.sonneborn_berger,
    "wins": columns.wins,
}
Groups = list[list[Hashable]]  # the tied together, best first


@dataclass(frozen=True, slots=True)
class RankedEntrant:
    """One entrant's line. ``points`` are the shares of opponents left behind (a tie counts half), 1 at most a
    match, and those of byes; ``matches`` and ``returns`` are of the seats it played itself, ``wins`` the matches
    it won alone.

    ``place`` is 1 + number of entrants that stand better; whom no tie-break parts share a place. ``tie_breaks``
    has the value of each that decides, by name, in order; None where it does not apply (``head_to_head``: tied
    with nobody, or not all of the tied have met equally often).
    """

    place: int
    entrant: Hashable
    matches: int
    byes: int
    points: Fraction
    wins: int
    returns: int
    tie_breaks: Mapping[str, Fraction | None]


def table(
    entrants: Iterable[Hashable],
    outcomes: Iterable[MatchOutcome],
    byes: Iterable[ScoredBye] = (),
    *,
    tie_breaks: Sequence[str] = TIE_BREAKS["round_robin"],
    given: Mapping[str, Mapping[Hashable, int]] | None = None,
) -> list[RankedEntrant]:
    """The standings, best first; those who share a place in the order of ``entrants``.

    An entrant without a match stands with no points. ``given`` has the columns of ``GIVEN`` that the tie-breaks
    name: ``bracket`` the places of a knockout, ``rating`` the values of a ladder; whoever is missing there
    stands last. The order of ``outcomes`` does not matter.
    """
    sums = tally(entrants, list(outcomes), byes)
    found: dict[str, Mapping[Hashable, Fraction | None]] = {}
    groups: Groups = [list(sums.points)] if sums.points else []
    for name in tie_breaks:
        if name == "head_to_head":
            groups, found[name] = _parted_by_meetings(groups, sums.outcomes)
        else:
            found[name] = (
                _to_fractions(sums.points, (given or {}).get(name, {})) if name in GIVEN else COLUMNS[name](sums)
            )
            groups = _split_ties(groups, found[name], least=name in BEST_IS_LEAST)
    rows: list[RankedEntrant] = []
    for group in groups:
        place = len(rows) + 1
        rows += [_row(place, entrant, sums, found) for entrant in group]
    return rows


def _row(
    place: int,
    entrant: Hashable,
    sums: columns.EntrantTotals,
    found: Mapping[str, Mapping[Hashable, Fraction | None]],
) -> RankedEntrant:
    return RankedEntrant(
        place=place,
        entrant=entrant,
        matches=sums.matches[entrant],
        byes=sums.byes_had[entrant],
        points=Fraction(sums.points[entrant], sums.unit),
        wins=sums.wins[entrant],
        returns=sums.returns[entrant],
        tie_breaks={name: column.get(entrant) for name, column in found.items()},
    )


def _to_fractions(entrants: Iterable[Hashable], values: Mapping[Hashable, int]) -> dict[Hashable, Fraction | None]:
    return {entrant: Fraction(values[entrant]) if entrant in values else None for entrant in entrants}


def _split_ties(groups: Groups, column: Mapping[Hashable, Fraction | None], *, least: bool = False) -> Groups:
    """Each group of the tied by this column, those without a value last."""
    parted: Groups = []
    for group in groups:
        level: dict[tuple[int, int] | None, list[Hashable]] = {}  # Fractions hash and compare slowly
        for entrant in group:
            value = column[entrant]
            level.setdefault(None if value is None else value.as_integer_ratio(), []).append(entrant)
        without = level.pop(None, None)
        order = sorted((key for key in level if key), key=lambda key: Fraction(*key), reverse=not least)
        parted += [level[key] for key in order] + ([without] if without else [])
    return parted


def _parted_by_meetings(
    groups: Groups, outcomes: Sequence[MatchOutcome]
) -> tuple[Groups, Mapping[Hashable, Fraction | None]]:
    """Each group of the tied by what they scored against each other, if every two of them met equally often; then
    again among those who are still tied, until nothing changes. The values are those of the first time."""
    met = meetings_within([group for group in groups if len(group) > 1], outcomes)
    first: dict[Hashable, Fraction | None] = {}
    parted: Groups = []
    for group in groups:
        scores = _scores_among(group, met) if len(group) > 1 else None
        first.update(scores or {})
        parted += _parted_again(group, met) if scores else [group]
    return parted, first


def _parted_again(group: list[Hashable], met: Mapping[Hashable, Mapping[Hashable, Met]]) -> Groups:
    scores = _scores_among(group, met) if len(group) > 1 else None
    if scores is None:
        return [group]
    parts = _split_ties([group], scores)
    return parts if len(parts) == 1 else [smaller for part in parts for smaller in _parted_again(part, met)]


def _scores_among(
    group: list[Hashable], met: Mapping[Hashable, Mapping[Hashable, Met]]
) -> dict[Hashable, Fraction | None] | None:
    """What each of the tied scored against the others; None unless every two of them met equally often."""
    scores: dict[Hashable, Fraction | None] = {}
    often = 0
    for entrant in group:
        rivals = met.get(entrant, {})
        if len(rivals) < len(group) - 1:
            return None
        against = [rivals.get(rival) for rival in group if rival != entrant]
        often = often or (against[0].matches if against[0] else 0)
        halves = [one.half_points for one in against if one and one.matches == often]
        if len(halves) < len(against):
            return None
        scores[entrant] = Fraction(sum(halves), 2)
    return scores
