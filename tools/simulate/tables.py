"""Judge tables of three or more: seats, repeat meetings and siblings, against the best of all possible tables."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations

from referee.pairing import PairingInput, PairingRound
from referee.pairing.history import PairingHistory, read_history
from referee.pairing.kinds import TournamentFormat
from referee.pairing.table_search import sum_costs
from referee.pairing.table_sizes import are_mixed
from tools.simulate.simulation import History

JUDGED = 12  # entrants up to whom all possible tables are compared


def fewest_meetings(
    history: PairingHistory, people: Sequence[int], sizes: Sequence[int], *, shared_out: bool = True
) -> tuple[int, int]:
    """Return the fewest repeat meetings, and with these the fewest pairs of siblings, of all possible tables.

    With ``shared_out``, those sit at smaller tables who sat there least often.
    """
    bit = {player: 1 << index for index, player in enumerate(people)}
    allowed = _masks_by_size(history, people, sizes, bit, shared_out=shared_out)
    costs = {
        size: {
            sum(bit[player] for player in table): sum_costs(history, [table])[:2]
            for table in combinations([player for player in people if bit[player] & allowed[size]], size)
        }
        for size in {*sizes}
    }
    by_first = {
        (size, first): [mask for mask in masks if mask & -mask == bit[first]]
        for size, masks in costs.items()
        for first in people
    }
    impossible = len(people) ** 2 * (1 + max(map(max, (row.values() or [0] for row in history.met)), default=0))

    @cache
    def fewest(left: int, unfilled: tuple[int, ...]) -> tuple[int, int]:
        if not left:
            return 0, 0
        first = people[(left & -left).bit_length() - 1]
        choices = [(impossible, 0)]
        for size in {*unfilled}:
            at = unfilled.index(size)
            following = unfilled[:at] + unfilled[at + 1 :]
            for mask in by_first[size, first]:
                if mask & left == mask:
                    met, siblings = fewest(left ^ mask, following)
                    choices.append((met + costs[size][mask][0], siblings + costs[size][mask][1]))
        return min(choices)

    return fewest((1 << len(people)) - 1, tuple(sizes))


def _masks_by_size(
    history: PairingHistory, people: Sequence[int], sizes: Sequence[int], bit: Mapping[int, int], *, shared_out: bool
) -> dict[int, int]:
    """Return a bit mask of the entrants who may sit at tables of each size."""
    everyone = sum(bit.values())
    smaller = sum(size for size in sizes if size < max(sizes))
    if not shared_out or not smaller:
        return dict.fromkeys(sizes, everyone)
    most = sorted(history.small[player] for player in people)[smaller - 1]
    seldom = sum(bit[player] for player in people if history.small[player] < most)
    often = sum(bit[player] for player in people if history.small[player] > most)
    return {size: everyone - (seldom if size == max(sizes) else often) for size in sizes}


def judge_tables(history: History, seat_spread: int, small_spread: int) -> Counter[str]:
    """Return counts of a simulated tournament. Raise ``AssertionError`` if a judged Swiss round is not the best one.

    ``max …`` is a maximum; all other counts are sums.
    """
    counts = Counter({"tournaments": 1, "tables": 0})
    if history.scenario.mishaps.calm:
        counts["max seat spread"] = seat_spread
        counts["max smaller tables spread"] = small_spread
    for tournament, pairing_round in history.decided:
        counts["tables"] += len(pairing_round.tables)
        counts["smaller tables"] += sum(len(table.entrants) < tournament.seats for table in pairing_round.tables)
        counts["byes"] += len(pairing_round.byes)
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
    sizes = sorted(map(len, tables))
    if len(people) <= JUDGED:
        least = fewest_meetings(history, people, sizes)
        counts.update({"judged rounds": 1, "avoidable rematches": met - least[0]})
        counts["avoidable sibling meetings"] += siblings - least[1]
        if are_mixed(sizes):
            free = fewest_meetings(history, people, sizes, shared_out=False)
            counts["rematches for even numbers of smaller tables"] += least[0] - free[0]
        assert (met, siblings) == least, f"{met} rematches and {siblings} siblings, possible are {least}"
    return counts
