"""Divide entrants among tables of nearly equal sizes, so that as few as possible are left over."""

from collections.abc import Sequence

MIN_SEATS = 2  # of a table
MAX_SEATS = 10


def split_tables(entrants: int, seats: int, min_seats: int = 0) -> tuple[int, ...]:
    """Return the sizes of the tables of a round, the largest first. What they do not hold is left over.

    Tables have ``seats`` seats. If this leaves entrants over, the same number of tables and one more share all entrants
    as evenly as possible, so that sizes differ by at most 1, provided that none has fewer than ``min_seats``. 0 stands
    for ``seats``: then, or if smaller tables do not help, all tables are full.
    """
    least = max(MIN_SEATS, min_seats or seats)
    tables = -(-entrants // seats)
    if entrants < tables * least or entrants < least:
        return (seats,) * (entrants // seats)
    each, more = divmod(entrants, tables)
    return (each + 1,) * more + (each,) * (tables - more)


def are_mixed(sizes: Sequence[int]) -> bool:
    """Return whether tables have different sizes."""
    return len({*sizes}) > 1
