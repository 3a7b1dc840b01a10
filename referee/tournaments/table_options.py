"""Tell the sizes of a tournament's tables, and the options of the game at those that have fewer seats than usual."""

from collections.abc import Mapping
from typing import Any

from referee.errors import BadOption
from referee.games import game as rules_of
from referee.pairing.table_sizes import MIN_SEATS, split_tables
from referee.tournaments.tables import Tournament

Json = dict[str, Any]


def options_at(game: str, seats: int, options: Mapping[str, Any], table_seats: int) -> Json:
    """Return the options of a match at a table of ``table_seats``, given the complete ones of tables of ``seats``.

    Options that have the default value of the larger tables take that of the smaller ones: an equal number of deals for
    everyone, for example. Raise ``BadOption`` if the game cannot be played with so few seats or with these options.
    """
    if table_seats == seats:
        return dict(options)
    rules = rules_of(game)
    standard = rules.complete_options(seats, {})
    chosen = {name: value for name, value in options.items() if value != standard[name]}
    return rules.start(table_seats, chosen).options


def table_sizes(tournament: Tournament, entrants: int) -> list[int]:
    """Return the different sizes of the tables of a round with this number of entrants, the largest first.

    If they do not fill any table, return the number of seats of a full one.
    """
    sizes = split_tables(entrants, tournament.seats, tournament.min_seats)
    return sorted({*sizes} or {tournament.seats}, reverse=True)


def fewest_seats(game: str, seats: int, options: Mapping[str, Any]) -> int:
    """Return the smallest number of seats such that tables of this and every larger number up to ``seats`` can play."""
    least = seats
    while least > MIN_SEATS:
        try:
            options_at(game, seats, options, least - 1)
        except BadOption:
            break
        least -= 1
    return least
