"""Compute seat preferences at tables of two, and assign seats to pairs accordingly (FIDE C.04.3, A.6 and E)."""

from dataclasses import dataclass

from referee.pairing.history import PairingHistory

MILD, STRONG, ABSOLUTE = 1, 2, 3


@dataclass(frozen=True, slots=True)
class Preferences:
    """Hold the seat preference of each entrant.

    The lists have, for each entrant, the seat it is due (None before its first match), the strength of this preference
    (0 means none), and the surplus of first seats over second seats.
    """

    seat: list[int | None]
    strength: list[int]
    surplus: list[int]

    def clash(self, player: int, other: int) -> bool:
        """Return whether both have an absolute preference for the same seat.

        If they met, one of them would get the other seat three times in a row, or three times more often in total.
        """
        return (
            self.strength[player] == ABSOLUTE == self.strength[other] and self.seat[player] == self.seat[other]
        )  # fmt: skip


def preferences(history: PairingHistory) -> Preferences:
    seats: list[int | None] = []
    strengths: list[int] = []
    surpluses: list[int] = []
    for counts, recent in zip(history.seat_counts, history.recent_seats, strict=True):
        surplus = counts[0] - counts[1]
        twice = len(recent) > 1 and recent[-1] == recent[-2]
        if not recent:
            seat, strength = None, 0
        elif abs(surplus) > 1:
            seat, strength = int(surplus > 0), ABSOLUTE
        elif twice:
            seat, strength = 1 - recent[-1], ABSOLUTE
        elif surplus:
            seat, strength = int(surplus > 0), STRONG
        else:
            seat, strength = 1 - recent[-1], MILD
        seats.append(seat)
        strengths.append(strength)
        surpluses.append(surplus)
    return Preferences(seats, strengths, surpluses)


def seat_pair(history: PairingHistory, due: Preferences, higher: int, lower: int, first: int) -> tuple[int, int]:
    """Return the two players in seat order. ``higher`` is the player with the better rank.

    ``first`` is the seat drawn for the first pairing number. It decides if neither player has a preference.
    """
    mine, theirs = due.seat[higher], due.seat[lower]
    if mine is None and theirs is None:
        seat = first if higher % 2 == 0 else 1 - first
    elif mine is None or theirs is None or mine != theirs:
        seat = mine if mine is not None else 1 - (theirs or 0)
    else:
        seat = _resolve_seat_conflict(history, due, higher, lower, mine)
    return (higher, lower) if seat == 0 else (lower, higher)


def _resolve_seat_conflict(history: PairingHistory, due: Preferences, higher: int, lower: int, seat: int) -> int:
    """Return the seat that ``higher`` gets when both players are due ``seat``.

    The criteria are, in this order, the stronger preference, the wider surplus, the reverse of the last round in which
    they had different seats, and the better rank.
    """
    mine, theirs = due.strength[higher], due.strength[lower]
    if mine == theirs == ABSOLUTE:
        mine, theirs = abs(due.surplus[higher]), abs(due.surplus[lower])
    if mine != theirs:
        return seat if mine > theirs else 1 - seat
    recent = zip(reversed(history.recent_seats[higher]), reversed(history.recent_seats[lower]), strict=False)
    for own_seat, other_seat in recent:
        if own_seat != other_seat:
            return 1 - own_seat
    return seat
