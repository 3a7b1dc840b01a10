"""Judge tables of three or more: seats, repeat meetings and siblings, against the best of all possible tables."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import combinations

from referee.pairing import PairingInput, PairingRound
from referee.pairing.history import PairingHistory, read_history
from referee.pairing.kinds import TournamentFormat
from referee.pairing.table_search import sum_costs
from tools.simulate.simulation import History

JUDGED = 12  # entrants up to whom all possible tables are compared


def fewest_meetings(history: PairingHistory, people: Sequence[int], seats: int) -> tuple[int, int]:
    """Return the fewest repeat meetings, and with these the fewest pairs of siblings, of all possible tables."""
    bit = {player: 1 << index for index, player in enumerate(people)}
    costs = {
        sum(bit[player] for player in table): sum_costs(history, [table])[:2] for table in combinations(people, seats)
    }
    by_first = {first: [mask for mask in costs if mask & -mask == bit[first]] for first in people}

    @cache
    def fewest(left: int) -> tuple[int, int]:
        if not left:
            return 0, 0
        first = people[(left & -left).bit_length() - 1]
        choices = []
        for mask in by_first[first]:
            if mask & left == mask:
                met, siblings = fewest(left ^ mask)
                choices.append((met + costs[mask][0], siblings + costs[mask][1]))
        return min(choices)

    return fewest((1 << len(people)) - 1)


def judge_tables(history: History, seat_spread: int) -> Counter[str]:
    """Return counts of a simulated tournament. Raise ``AssertionError`` if a judged Swiss round is not the best one.

    ``max …`` is a maximum; all other counts are sums.
    """
    counts = Counter({"tournaments": 1, "tables": 0})
    if history.scenario.mishaps.calm:
        counts["max seat spread"] = seat_spread
    for tournament, pairing_round in history.decided:
        counts["tables"] += len(pairing_round.tables)
        counts["sibling meetings"] += _count_siblings(tournament, pairing_round)
        if history.scenario.format.name == TournamentFormat.SWISS and tournament.seats > 2 and pairing_round.tables:
            counts.update(_judge_swiss(tournament, pairing_round))
    return counts


def merge(total: Counter[str], further: Counter[str]) -> None:
    """Add the counts of a further tournament to ``total``."""
    for name, count in further.items():
        total[name] = max(total[name], count) if name.startswith("max ") else total[name] + count


def _count_siblings(tournament: PairingInput, pairing_round: PairingRound) -> int:
    owner = {entrant.id: entrant.owner for entrant in tournament.entrants}
    pairs = (pair for table in pairing_round.tables for pair in combinations(table.entrants, 2))
    return sum(owner[player] == owner[other] != "" for player, other in pairs)


def _judge_swiss(tournament: PairingInput, pairing_round: PairingRound) -> Counter[str]:
    history = read_history(tournament)
    number = {entrant: player for player, entrant in enumerate(history.ids)}
    tables = [[number[entrant] for entrant in table.entrants] for table in pairing_round.tables]
    people = sorted(player for table in tables for player in table)
    met, siblings, _ = sum_costs(history, tables)
    counts = Counter({"rematches": met})
    if len(people) <= JUDGED:
        least = fewest_meetings(history, people, tournament.seats)
        counts.update({"judged rounds": 1, "avoidable rematches": met - least[0]})
        assert (met, siblings) == least, f"{met} rematches and {siblings} siblings, possible are {least}"
    return counts
