"""Names of tournament formats and of the orders of seats in duplicate deals."""

from enum import StrEnum


class TournamentFormat(StrEnum):
    ROUND_ROBIN = "round_robin"
    DOUBLE_ROUND_ROBIN = "double_round_robin"
    SWISS = "swiss"
    KNOCKOUT = "knockout"
    GAUNTLET = "gauntlet"
    LADDER = "ladder"


class SeatOrders(StrEnum):
    """The orders of seats in which a set of entrants plays the same cards."""

    CYCLIC = "cyclic"  # each entrant once in every seat
    ALL = "all"


class Seeding(StrEnum):
    """How a knockout seeds its entrants."""

    RATING = "rating"
    HAND = "hand"  # by the seeds of the entries, then by rating
    DRAW = "draw"  # at random
