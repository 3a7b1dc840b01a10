"""Collect the history for Swiss pairing: scores, meetings, seats, byes and floats of the active entrants."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from referee.pairing.model import Leg, PairingInput, PlayedRound
from referee.pairing.seeded_random import shuffle


def bye_points(seats: int) -> Fraction:
    """Return the value of an "odd" bye in standings points: 1 at tables of two, otherwise 1/2.

    At tables of two a bye counts as a win (FIDE C.04.1). At larger tables it counts as the mean score of a table: with
    up to ``seats`` − 1 byes per round, a win for each would rank entrants with byes above those who play.
    """
    return Fraction(1) if seats == 2 else Fraction(1, 2)


@dataclass(slots=True)
class PairingHistory:
    """Hold the history of the entrants who can play the next round, numbered from 0 by pairing number.

    ``score`` is in units of 1 / (2 × ``unit``) points; ``unit`` is a multiple of the number of opponents at tables of
    any size. For each entrant, ``family`` has the owner, or "" without siblings or if all entrants have the same owner.
    ``met`` has the number of tables shared with each opponent, ``seat_counts`` the number of matches in each seat, and
    ``recent_seats`` the seats in order of play. ``small`` counts the tables that were smaller than others of their
    round; late entrants begin with the smallest count of the others. ``floats`` covers the last two rounds, latest
    first: +1 for an upfloat, −1 for a downfloat or a bye, 0 otherwise.
    """

    ids: list[str]
    family: list[str]
    score: list[int]
    met: list[dict[int, int]]
    seat_counts: list[list[int]]
    recent_seats: list[list[int]]
    byes: list[int]
    floats: tuple[list[int], list[int]]
    small: list[int]
    unit: int

    def are_siblings(self, player: int, other: int) -> bool:
        return self.family[player] == self.family[other] != ""


def pairing_order(tournament: PairingInput) -> list[int]:
    """Return the indexes of the entrants who may play the next round, by pairing number.

    Entrants with manual seeds come first, then the others by rating; ties are broken at random.
    """
    number, entrants = len(tournament.played) + 1, tournament.entrants
    eligible = [index for index, entrant in enumerate(entrants) if entrant.active and entrant.first_round <= number]
    drawn = shuffle(range(len(entrants)), tournament.draw_key, "pairing numbers")
    tie_break = {index: position for position, index in enumerate(drawn)}

    def strength(index: int) -> tuple[bool, int, int, int]:
        entrant = entrants[index]
        return entrant.seed is None, entrant.seed or 0, -entrant.rating, tie_break[index]

    return sorted(eligible, key=strength)


def read_history(tournament: PairingInput) -> PairingHistory:
    """Return the history of a tournament. Ignore tables without a match that counts."""
    people = [tournament.entrants[index] for index in pairing_order(tournament)]
    number = {entrant.id: player for player, entrant in enumerate(people)}
    count, seats, bots = len(people), tournament.seats, Counter(entrant.owner for entrant in people)
    history = PairingHistory(
        ids=[entrant.id for entrant in people],
        family=[entrant.owner if 1 < bots[entrant.owner] < count else "" for entrant in people],
        score=[0] * count,
        met=[{} for _ in people],
        seat_counts=[[0] * seats for _ in people],
        recent_seats=[[] for _ in people],
        byes=[0] * count,
        floats=([0] * count, [0] * count),
        small=[0] * count,
        unit=lcm(*(size - 1 for size in range(tournament.least_seats, seats + 1))),
    )
    first_rounds = [entrant.first_round for entrant in people]
    idle = _find_idle(tournament)
    for age, played in zip(range(len(tournament.played) - 1, -1, -1), tournament.played, strict=True):
        _add_round(history, number, played, seats, history.floats[age] if age < 2 else None, idle)
        _add_small_tables(history, number, played)
        _raise_small_of_late(history, first_rounds, len(tournament.played) - age + 1)
    return history


def _find_idle(tournament: PairingInput) -> set[str]:
    """Return the absent entrants that have not played a match themselves: their byes bring no points."""
    absent = {entrant.id for entrant in tournament.entrants if entrant.absent}
    if not absent:
        return absent
    legs = (leg for played in tournament.played for at_table in played.legs for leg in at_table)
    return absent - {
        entrant
        for leg in legs
        for seat, entrant in enumerate(leg.entrants)
        if entrant in absent and (not leg.scored or leg.scored[seat])
    }


def _add_small_tables(history: PairingHistory, number: dict[str, int], played: PlayedRound) -> None:
    largest = max((len(table.entrants) for table in played.round.tables), default=0)
    for legs in played.legs:
        for entrant in legs[0].entrants if legs and len(legs[0].entrants) < largest else ():
            if entrant in number:
                history.small[number[entrant]] += 1


def _raise_small_of_late(history: PairingHistory, first_rounds: Sequence[int], following: int) -> None:
    """Let those who join in the following round count as many smaller tables as the entrant with the fewest."""
    earlier = [small for small, first in zip(history.small, first_rounds, strict=True) if first < following]
    for player, first in enumerate(first_rounds):
        if first == following and earlier:
            history.small[player] = min(earlier)


def _add_round(
    history: PairingHistory,
    number: dict[str, int],
    played: PlayedRound,
    seats: int,
    floats: list[int] | None,
    idle: Collection[str],
) -> None:
    gains: list[tuple[int, int]] = []
    legs_per_table = 1
    for legs in played.legs:
        if not legs:
            continue
        legs_per_table = max(legs_per_table, len(legs))
        at_table = [number.get(entrant, -1) for entrant in legs[0].entrants]
        _add_meetings(history, at_table)
        if floats is not None and seats == 2:
            _add_floats(history, at_table, floats)
        for leg in legs:
            _add_leg(history, number, leg, gains)
    bye_gain = int(bye_points(seats) * 2 * history.unit) * legs_per_table
    for bye in played.round.byes:
        if (player := number.get(bye.entrant, -1)) >= 0:
            history.byes[player] += 1
            gains.append((player, 0 if bye.entrant in idle else bye_gain))
            if floats is not None:
                floats[player] = -1
    for player, gain in gains:
        history.score[player] += gain


def _add_meetings(history: PairingHistory, at_table: Sequence[int]) -> None:
    present = [player for player in at_table if player >= 0]  # without entrants who have left the tournament
    for player in present:
        met = history.met[player]
        for other in present:
            if other != player:
                met[other] = met.get(other, 0) + 1


def _add_leg(history: PairingHistory, number: dict[str, int], leg: Leg, gains: list[tuple[int, int]]) -> None:
    worth = history.unit // (len(leg.entrants) - 1)  # of half an opponent
    for seat, (entrant, beaten) in enumerate(zip(leg.entrants, half_points(leg.placements), strict=True)):
        player = number.get(entrant)
        if player is not None:
            history.seat_counts[player][seat] += 1
            history.recent_seats[player].append(seat)
            if not leg.scored or leg.scored[seat]:
                gains.append((player, beaten * worth))


def half_points(placements: Sequence[int]) -> list[int]:
    """Return each seat's half points: 2 for every opponent placed behind it and 1 for every opponent tied with it."""
    if len(placements) == 2:  # by far the most frequent case; this is four times as fast
        first, second = placements
        return [2, 0] if first < second else [0, 2] if second < first else [1, 1]
    return [2 * sum(other > own for other in placements) + placements.count(own) - 1 for own in placements]


def _add_floats(history: PairingHistory, at_table: Sequence[int], floats: list[int]) -> None:
    player, other = at_table
    if player < 0 or other < 0 or history.score[player] == history.score[other]:
        return  # floats against entrants who have left the tournament are ignored
    floats[player], floats[other] = (-1, 1) if history.score[player] > history.score[other] else (1, -1)
