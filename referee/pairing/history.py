"""What a Swiss event remembers of its entrants: scores, meetings, seats, byes. Deciding is the pairing's."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

from referee.pairing.model import Leg, PlayedRound, TournamentState
from referee.pairing.seeded_random import shuffle


def bye_points(seats: int) -> Fraction:
    """What an odd bye is worth, in the points of the standings: a win where two play, half a point at larger tables.

    At a table of two a bye stands for a win (FIDE C.04.1). At more seats it is the mean of a table: with up to
    ``seats`` − 1 byes a stage, a win for each would put those who rest before those who play.
    """
    return Fraction(1) if seats == 2 else Fraction(1, 2)


@dataclass(slots=True)
class Past:
    """The past of those who can play the next stage. They are numbered from 0 by pairing number.

    ``score`` is in 1 / (2 × (seats − 1)) of a point. ``met`` tells how often one shared a table with whom,
    ``sat`` how often one took each seat, ``lately`` the seats in order of play. ``floats`` holds for each of the
    last two stages (the latest first) +1 who was paired upwards, −1 who was paired downwards or rested.
    """

    ids: list[str]
    owners: list[str]
    score: list[int]
    met: list[dict[int, int]]
    sat: list[list[int]]
    lately: list[list[int]]
    byes: list[int]
    floats: tuple[list[int], list[int]]
    siblings: dict[str, set[int]] = field(default_factory=dict)

    def kin(self, one: int) -> set[int] | None:
        """The entrants of one's owner, itself among them; None where it has no siblings, or nobody else is there."""
        return self.siblings.get(self.owners[one])


def pairing_order(event: TournamentState) -> list[int]:
    """Indexes of those who may play the next stage, by pairing number: seeds set by hand, then ratings, then lots."""
    stage = len(event.played) + 1
    able = [at for at, entrant in enumerate(event.entrants) if entrant.active and entrant.since <= stage]
    lot = {at: place for place, at in enumerate(shuffle(range(len(event.entrants)), event.draw, "pairing numbers"))}

    def strength(at: int) -> tuple[bool, int, int, int]:
        entrant = event.entrants[at]
        return entrant.seed is None, entrant.seed or 0, -entrant.rating, lot[at]

    return sorted(able, key=strength)


def read_history(event: TournamentState) -> Past:
    """Reads an event. Tables none of whose matches count are as if they had not been decided."""
    order = pairing_order(event)
    people = [event.entrants[at] for at in order]
    number = {entrant.id: at for at, entrant in enumerate(people)}
    count, seats = len(people), event.seats
    of = Past(
        ids=[entrant.id for entrant in people],
        owners=[entrant.owner for entrant in people],
        score=[0] * count,
        met=[{} for _ in people],
        sat=[[0] * seats for _ in people],
        lately=[[] for _ in people],
        byes=[0] * count,
        floats=([0] * count, [0] * count),
    )
    families: dict[str, set[int]] = {}
    for at, owner in enumerate(of.owners):
        if owner:
            families.setdefault(owner, set()).add(at)
    of.siblings = {owner: family for owner, family in families.items() if 1 < len(family) < count}
    for age, played in zip(range(len(event.played) - 1, -1, -1), event.played, strict=True):
        _remember(of, number, played, seats, of.floats[age] if age < 2 else None)
    return of


def _remember(of: Past, number: dict[str, int], played: PlayedRound, seats: int, floats: list[int] | None) -> None:
    gains: list[tuple[int, int]] = []
    legs_a_table = 1
    for legs in played.legs:
        if not legs:
            continue
        legs_a_table = max(legs_a_table, len(legs))
        at_table = [number.get(one, -1) for one in legs[0].entrants]
        _remember_table(of, at_table)
        if floats is not None and seats == 2:
            _note_floats(of, at_table, floats)
        for leg in legs:
            _remember_leg(of, number, leg, gains)
    worth = int(bye_points(seats) * 2 * (seats - 1)) * legs_a_table
    for bye in played.stage.byes:
        if (resting := number.get(bye.entrant, -1)) >= 0:
            of.byes[resting] += 1
            gains.append((resting, worth))
            if floats is not None:
                floats[resting] = -1
    for one, gain in gains:
        of.score[one] += gain


def _remember_table(of: Past, at_table: Sequence[int]) -> None:
    here = [one for one in at_table if one >= 0]  # who left the event is nobody's opponent any more
    for one in here:
        known = of.met[one]
        for other in here:
            if other != one:
                known[other] = known.get(other, 0) + 1


def _remember_leg(of: Past, number: dict[str, int], leg: Leg, gains: list[tuple[int, int]]) -> None:
    for seat, (entrant, gain) in enumerate(zip(leg.entrants, half_shares(tuple(leg.placements)), strict=True)):
        one = number.get(entrant)
        if one is not None:
            of.sat[one][seat] += 1
            of.lately[one].append(seat)
            if not leg.scored or leg.scored[seat]:
                gains.append((one, gain))


@lru_cache(maxsize=1_000)  # few orders come up, and these very often
def half_shares(placements: tuple[int, ...]) -> list[int]:
    """For each seat twice the opponents left behind, and one for each it ties with."""
    held = Counter(placements)
    return [2 * sum(many for place, many in held.items() if place > own) + held[own] - 1 for own in placements]


def _note_floats(of: Past, at_table: Sequence[int], floats: list[int]) -> None:
    one, other = at_table
    ours = of.score[one] if one >= 0 else None
    theirs = of.score[other] if other >= 0 else None
    if ours is None or theirs is None or ours == theirs:
        return  # against somebody who has left since, a float is not remembered
    floats[one], floats[other] = (-1, 1) if ours > theirs else (1, -1)
