"""Which of two seats an entrant is due, how strongly, and who of a pair gets it (FIDE C.04.3, A.6 and E)."""

from dataclasses import dataclass

from referee.pairing.history import Past

MILD, STRONG, ABSOLUTE = 1, 2, 3


@dataclass(frozen=True, slots=True)
class Preferences:
    """By entrant: the seat it is due (None before its first match), how strongly (0: not at all), and its surplus of
    first seats over second ones."""

    seat: list[int | None]
    strength: list[int]
    surplus: list[int]

    def clash(self, one: int, other: int) -> bool:
        """Whether both are due the same seat so strongly that one would have it three times in a row, or three times
        more than the other seat."""
        return (
            self.strength[one] == ABSOLUTE == self.strength[other] and self.seat[one] == self.seat[other]
        )  # fmt: skip


def preferences(past: Past) -> Preferences:
    seats: list[int | None] = []
    strengths: list[int] = []
    surpluses: list[int] = []
    for sat, lately in zip(past.sat, past.lately, strict=True):
        surplus = sat[0] - sat[1]
        twice = len(lately) > 1 and lately[-1] == lately[-2]
        if not lately:
            seat, strength = None, 0
        elif abs(surplus) > 1:
            seat, strength = int(surplus > 0), ABSOLUTE
        elif twice:
            seat, strength = 1 - lately[-1], ABSOLUTE
        elif surplus:
            seat, strength = int(surplus > 0), STRONG
        else:
            seat, strength = 1 - lately[-1], MILD
        seats.append(seat)
        strengths.append(strength)
        surpluses.append(surplus)
    return Preferences(seats, strengths, surpluses)


def seated_pair(past: Past, due: Preferences, higher: int, lower: int, first: int) -> tuple[int, int]:
    """The two by seat. ``higher`` is the one ranked before the other; ``first`` is the seat drawn for the first
    pairing number, which decides between two who are due nothing."""
    mine, theirs = due.seat[higher], due.seat[lower]
    if mine is None and theirs is None:
        seat = first if higher % 2 == 0 else 1 - first
    elif mine is None or theirs is None or mine != theirs:
        seat = mine if mine is not None else 1 - (theirs or 0)
    else:
        seat = _resolve_seat_conflict(past, due, higher, lower, mine)
    return (higher, lower) if seat == 0 else (lower, higher)


def _resolve_seat_conflict(past: Past, due: Preferences, higher: int, lower: int, seat: int) -> int:
    """The seat of ``higher`` where both are due the same one: the stronger claim, then the wider surplus, then
    turned from the last time they sat differently, then the higher rank."""
    mine, theirs = due.strength[higher], due.strength[lower]
    if mine == theirs == ABSOLUTE:
        mine, theirs = abs(due.surplus[higher]), abs(due.surplus[lower])
    if mine != theirs:
        return seat if mine > theirs else 1 - seat
    for one, other in zip(reversed(past.lately[higher]), reversed(past.lately[lower]), strict=False):
        if one != other:
            return 1 - one
    return seat
