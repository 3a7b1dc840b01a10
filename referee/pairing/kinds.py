"""Define the names of tournament formats, of seat orders in duplicate deals, and of seedings."""

from enum import StrEnum


class TournamentFormat(StrEnum):
    ROUND_ROBIN = "round_robin"
    DOUBLE_ROUND_ROBIN = "double_round_robin"
    SWISS = "swiss"
    KNOCKOUT = "knockout"
    GAUNTLET = "gauntlet"


class SeatOrders(StrEnum):
    """List the sets of seat orders in which the entrants of a table can play the same cards."""

    CYCLIC = "cyclic"  # each entrant once in every seat
    ALL = "all"


class Seeding(StrEnum):
    """Name the ways in which a knockout seeds its entrants."""

    RATING = "rating"
    HAND = "hand"  # by the seeds of the entries, then by rating
    DRAW = "draw"  # at random
