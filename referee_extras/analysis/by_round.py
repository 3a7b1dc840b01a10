"""Arrange results by tournament round: what each entrant played and scored, and its points after the round."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from referee.pairing.kinds import TournamentFormat
from referee.standings.results import MatchOutcome, points
from referee.standings.tournament import RoundBye, scored_byes


@dataclass(slots=True)
class RoundScore:
    """Hold the result of an entrant in one round.

    ``opponents`` are those of its matches, without repetition; a bye has none. ``points`` are those of its ``matches``,
    or of the matches that the bye replaces; ``total`` are its points after the round, with those of byes.
    """

    opponents: list[Hashable]
    points: Fraction
    matches: int
    total: Fraction = Fraction(0)

    @property
    def is_bye(self) -> bool:
        return not self.opponents


def scores_by_round(
    seats: int, entrants: Iterable[Hashable], outcomes: Sequence[MatchOutcome], byes: Sequence[RoundBye]
) -> Mapping[Hashable, Mapping[int, RoundScore]]:
    """Return the results of a Swiss tournament, keyed by entrant and by number of the round, in order of rounds.

    Omit rounds in which an entrant did not play: it was absent, a substitute played for it, or no match counts.
    """
    found: dict[Hashable, dict[int, RoundScore]] = {entrant: {} for entrant in entrants}
    for outcome in outcomes:
        gained = points(outcome.placements)
        for seat in outcome.seats_of(found):
            entrant = outcome.entrants[seat]
            score = found[entrant].setdefault(outcome.tournament_round or 0, RoundScore([], Fraction(0), 0))
            others = [other for other in outcome.entrants if other != entrant and other not in score.opponents]
            score.opponents += others
            score.points += gained[seat]
            score.matches += 1
    for (number, entrant, _), bye in zip(byes, scored_byes(TournamentFormat.SWISS, seats, byes, outcomes), strict=True):
        if entrant in found:
            found[entrant][number] = RoundScore([], bye.points, bye.matches)
    return {entrant: _with_totals(scores) for entrant, scores in found.items()}


def _with_totals(scores: dict[int, RoundScore]) -> dict[int, RoundScore]:
    total = Fraction(0)
    ordered = dict(sorted(scores.items()))
    for score in ordered.values():
        score.total = total = total + score.points
    return ordered
