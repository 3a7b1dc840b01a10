"""Find what made the result of a finished tournament: the match that decided it, and its biggest upset by seeds."""

from collections.abc import Hashable, Mapping, Sequence

from api.tournaments.podium import LAST_RANK
from referee.pairing.kinds import TournamentFormat
from referee.standings.results import MatchOutcome
from referee.standings.table import RankedEntrant


def deciding_match(
    format: str, standings: Sequence[RankedEntrant], outcomes: Sequence[MatchOutcome], final_round: int | None = None
) -> MatchOutcome | None:
    """Return the match that decided a tournament; ``outcomes`` are in order of ``seq``.

    In a knockout, it is the last match of the first-ranked entrant in ``final_round``, which is the final. In other
    formats, it is the last match in which an entrant with rank 1 met another entrant on the podium. Return None if
    there is no such match.
    """
    first = {row.entrant for row in standings if row.rank == 1}
    placed = {row.entrant for row in standings if row.rank <= LAST_RANK}
    leaders = first if format == TournamentFormat.KNOCKOUT else placed
    needed = 1 if format == TournamentFormat.KNOCKOUT else 2
    for outcome in reversed(outcomes):
        seated = set(outcome.entrants)
        in_final = format != TournamentFormat.KNOCKOUT or outcome.tournament_round == final_round
        if in_final and seated & first and len(seated & leaders) >= needed:
            return outcome
    return None


def biggest_seed_upset(
    seeds: Mapping[Hashable, int], outcomes: Sequence[MatchOutcome]
) -> tuple[MatchOutcome, Hashable, Hashable] | None:
    """Return the match with the biggest upset, who caused it and who suffered it; None if there was none.

    An upset is a match in which an entrant took the first place, alone or shared, ahead of an entrant with a better
    seed. The biggest one has the largest difference of the seeds; among equals, it is the earliest. Entrants without a
    seed, and seats in which a substitute played, are ignored.
    """
    largest, found = 0, None
    for outcome in outcomes:
        seats = outcome.seats_of(seeds)
        winners = [outcome.entrants[seat] for seat in seats if outcome.placements[seat] == 1]
        losers = [outcome.entrants[seat] for seat in seats if outcome.placements[seat] > 1]
        for winner in winners:
            for loser in losers:
                if seeds[winner] - seeds[loser] > largest:
                    largest, found = seeds[winner] - seeds[loser], (outcome, winner, loser)
    return found
