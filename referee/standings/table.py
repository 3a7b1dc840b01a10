"""Compute standings: rank entrants by the tie-breaks of a format. Entrants who are still tied share a rank."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from referee.pairing.kinds import TournamentFormat
from referee.standings import totals as columns
from referee.standings.crosstable import HeadToHead, meetings_within
from referee.standings.results import MatchOutcome
from referee.standings.totals import Column, ScoredBye, sum_results

TIE_BREAKS: Final[Mapping[str, tuple[str, ...]]] = {  # applied in this order
    TournamentFormat.ROUND_ROBIN: ("points", "head_to_head", "sonneborn_berger", "wins"),
    TournamentFormat.DOUBLE_ROUND_ROBIN: ("points", "head_to_head", "sonneborn_berger", "wins"),
    TournamentFormat.SWISS: ("points", "buchholz", "head_to_head", "sonneborn_berger", "wins"),
    # The champion plays all matches and the others few, so their total points cannot be compared.
    TournamentFormat.GAUNTLET: ("points_per_match", "head_to_head", "wins"),
    TournamentFormat.KNOCKOUT: ("bracket",),
}
EXTERNAL_COLUMNS: Final = ("bracket",)  # passed in by the caller, because sums over results do not give them
LOWER_IS_BETTER: Final = ("bracket",)
COLUMNS: Final[Mapping[str, Callable[[columns.EntrantTotals], Column]]] = {
    "points": columns.total_points,
    "points_per_match": columns.points_per_match,
    "buchholz": columns.buchholz,
    "sonneborn_berger": columns.sonneborn_berger,
    "wins": columns.wins,
}
Groups = list[list[Hashable]]  # groups of tied entrants, best first


@dataclass(frozen=True, slots=True)
class RankedEntrant:
    """Represent one row of the standings.

    ``points`` are the points of matches (per match the share of opponents placed behind, ties counting half) and of
    byes. ``matches`` and ``returns`` cover the seats that the entrant played itself; ``wins`` is the number of matches
    in which it alone was first, ``draws`` of those in which it shared the first place. ``rank`` is 1 + the number of
    entrants ranked better; entrants whom no tie-break separates share it. ``tie_breaks`` has the values in order, keyed
    by name, with None for a tie-break that does not apply (``head_to_head`` if the entrant is not tied, or if the tied
    entrants have not all met equally often).
    """

    rank: int
    entrant: Hashable
    matches: int
    byes: int
    points: Fraction
    wins: int
    draws: int
    returns: int
    tie_breaks: Mapping[str, Fraction | None]

    @property
    def losses(self) -> int:
        return self.matches - self.wins - self.draws


def compute_standings(
    entrants: Iterable[Hashable],
    outcomes: Iterable[MatchOutcome],
    byes: Iterable[ScoredBye] = (),
    *,
    tie_breaks: Sequence[str] = TIE_BREAKS[TournamentFormat.ROUND_ROBIN],
    given: Mapping[str, Mapping[Hashable, int]] | None = None,
) -> list[RankedEntrant]:
    """Return the standings, best first. Entrants who share a rank are in the order of ``entrants``.

    An entrant without a match has 0 points. ``given`` has the columns of ``EXTERNAL_COLUMNS`` that the tie-breaks name:
    ``bracket``, the ranks of a knockout. Entrants without a value come last.
    """
    totals = sum_results(entrants, list(outcomes), byes)
    found: dict[str, Mapping[Hashable, Fraction | None]] = {}
    groups: Groups = [list(totals.points)] if totals.points else []
    for name in tie_breaks:
        if name == "head_to_head":
            groups, found[name] = _split_by_meetings(groups, totals.outcomes)
        else:
            found[name] = (
                _to_fractions(totals.points, (given or {}).get(name, {}))
                if name in EXTERNAL_COLUMNS
                else COLUMNS[name](totals)
            )
            groups = _split_ties(groups, found[name], least=name in LOWER_IS_BETTER)
    rows: list[RankedEntrant] = []
    for group in groups:
        rank = len(rows) + 1
        rows += [_row(rank, entrant, totals, found) for entrant in group]
    return rows


def rank_last(rows: Sequence[RankedEntrant], last: Collection[Hashable]) -> list[RankedEntrant]:
    """Return the rows with the entrants of ``last`` after all others; those behind them move up. Ties stay."""
    kept = [row for row in rows if row.entrant not in last]
    ranked = _rank_again(kept, 0)
    return ranked + _rank_again([row for row in rows if row.entrant in last], len(ranked))


def _rank_again(rows: Sequence[RankedEntrant], before: int) -> list[RankedEntrant]:
    ranks: dict[int, int] = {}
    for index, row in enumerate(rows):
        ranks.setdefault(row.rank, before + index + 1)
    return [replace(row, rank=ranks[row.rank]) for row in rows]


def _row(
    rank: int, entrant: Hashable, totals: columns.EntrantTotals, found: Mapping[str, Mapping[Hashable, Fraction | None]]
) -> RankedEntrant:
    return RankedEntrant(
        rank=rank,
        entrant=entrant,
        matches=totals.matches[entrant],
        byes=totals.byes_had[entrant],
        points=Fraction(totals.points[entrant], totals.unit),
        wins=totals.wins[entrant],
        draws=totals.draws[entrant],
        returns=totals.returns[entrant],
        tie_breaks={name: column.get(entrant) for name, column in found.items()},
    )


def _to_fractions(entrants: Iterable[Hashable], values: Mapping[Hashable, int]) -> dict[Hashable, Fraction | None]:
    return {entrant: Fraction(values[entrant]) if entrant in values else None for entrant in entrants}


def _split_ties(groups: Groups, column: Mapping[Hashable, Fraction | None], *, least: bool = False) -> Groups:
    """Split each group of tied entrants by the values of a column. Entrants without a value come last."""
    split: Groups = []
    for group in groups:
        level: dict[tuple[int, int] | None, list[Hashable]] = {}  # by ratio, because fractions hash and compare slowly
        for entrant in group:
            value = column[entrant]
            level.setdefault(None if value is None else value.as_integer_ratio(), []).append(entrant)
        without = level.pop(None, None)
        order = sorted((key for key in level if key), key=lambda key: Fraction(*key), reverse=not least)
        split += [level[key] for key in order] + ([without] if without else [])
    return split


def _split_by_meetings(
    groups: Groups, outcomes: Sequence[MatchOutcome]
) -> tuple[Groups, Mapping[Hashable, Fraction | None]]:
    """Split each group of tied entrants by their scores against each other, if all pairs met equally often.

    Repeat this among those still tied until nothing changes. Return the new groups and the values of the first pass.
    """
    met = meetings_within([group for group in groups if len(group) > 1], outcomes)
    first: dict[Hashable, Fraction | None] = {}
    split: Groups = []
    for group in groups:
        scores = _scores_among(group, met) if len(group) > 1 else None
        first.update(scores or {})
        split += _split_repeatedly(group, met) if scores else [group]
    return split, first


def _split_repeatedly(group: list[Hashable], met: Mapping[Hashable, Mapping[Hashable, HeadToHead]]) -> Groups:
    scores = _scores_among(group, met) if len(group) > 1 else None
    if scores is None:
        return [group]
    parts = _split_ties([group], scores)
    return parts if len(parts) == 1 else [smaller for part in parts for smaller in _split_repeatedly(part, met)]


def _scores_among(
    group: list[Hashable], met: Mapping[Hashable, Mapping[Hashable, HeadToHead]]
) -> dict[Hashable, Fraction | None] | None:
    """Return the points of each tied entrant against the others, or None unless all pairs met equally often."""
    scores: dict[Hashable, Fraction | None] = {}
    times_met = 0
    for entrant in group:
        rivals = met.get(entrant, {})
        if len(rivals) < len(group) - 1:
            return None
        against = [rivals.get(rival) for rival in group if rival != entrant]
        times_met = times_met or (against[0].matches if against[0] else 0)
        halves = [result.half_points for result in against if result and result.matches == times_met]
        if len(halves) < len(against):
            return None
        scores[entrant] = Fraction(sum(halves), 2)
    return scores
