"""Describe the terms of a tournament in words: formats, deal sharing, tie-breaks, options."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from api.pages.formatting import milliseconds
from referee.matches.states import DealSharing
from referee.pairing.kinds import SeatOrders, Seeding, TournamentFormat
from referee.standings import TIE_BREAKS
from referee.tournaments.table_options import table_sizes
from referee.tournaments.tables import NO_LIMIT, Tournament

Json = dict[str, Any]

FORMATS: Final[Mapping[str, tuple[str, str]]] = {  # name, description
    TournamentFormat.ROUND_ROBIN: ("Round robin", "Every bot plays every other bot."),
    TournamentFormat.DOUBLE_ROUND_ROBIN: (
        "Double round robin",
        "Every bot plays every other bot twice, in reversed seats.",
    ),
    TournamentFormat.SWISS: (
        "Swiss",
        "Each round pairs bots with similar scores, avoiding repeated pairings as far as possible.",
    ),
    TournamentFormat.KNOCKOUT: ("Knockout", "Losers are eliminated."),
    TournamentFormat.GAUNTLET: ("Gauntlet", "Every bot plays one champion."),
}
DEALS: Final[Mapping[str, tuple[str, str]]] = {
    "own": ("separate for each match", "No two matches share their cards."),
    DealSharing.COMMON: ("common to a round", "All tables of a round play the same cards. No bot plays a deal twice."),
    DealSharing.DUPLICATE: ("duplicate", "The same bots play the same cards again in other seats."),
}
COLUMNS: Final[Mapping[str, tuple[str, str]]] = {  # columns of the standings: heading, meaning
    "points": ("Points", "for each match, the share of opponents beaten; a tied opponent counts half"),
    "points_per_match": ("Points per match", "points divided by the number of matches played"),
    "buchholz": ("Buchholz", "strength of the opponents: the sum of their points"),
    "head_to_head": ("Head to head", "points against the entrants who are tied so far"),
    "sonneborn_berger": ("Sonneborn-Berger", "points of the opponents beaten, and half those of tied ones"),
    "wins": ("Wins", "matches won outright"),
    "bracket": ("Bracket", "the rank reached in the bracket"),
}
SHOWN_ELSEWHERE: Final = ("wins", "bracket")  # by won–drawn–lost, and by the ranks
WHOLE: Final = ("wins", "bracket")  # columns of whole numbers
ROUNDS: Final[Mapping[str, str]] = {
    "final": "Final",
    "semi_final": "Semi-finals",
    "quarter_final": "Quarter-finals",
    "third_place": "Third place",
}
PREFLIGHTS: Final[Mapping[str, str]] = {
    "none": "not called yet",
    "asked": "being called",
    "ready": "ready",
    "absent": "absent",
}
SEEDINGS: Final[Mapping[str, str]] = {Seeding.RATING: "by rating", Seeding.HAND: "manually", Seeding.DRAW: "at random"}
ONE_OWNER_TWICE: Final = "A match with two bots of one owner counts in the standings, but is not rated."


def round_name(number: int, label: str) -> str:
    """Return the name of a tournament round, such as ``Round 3``, ``Last 16`` or ``Semi-finals``."""
    if label.startswith("last_"):
        return f"Last {label.removeprefix('last_')}"
    return ROUNDS.get(label, label.replace("_", " ").capitalize()) if label else f"Round {number}"


def table_name(number: int | None, label: str = "") -> str:
    return ROUNDS[label] if label in ("final", "third_place") else f"Table {number}"


def describe_sizes(tournament: Tournament, entered: int) -> str:
    """Return the sizes of the tables of a round of all entered bots: "4", or "4 and 3"."""
    return " and ".join(map(str, table_sizes(tournament, entered)))


def describe_terms(tournament: Tournament, entered: int) -> Iterator[tuple[str, str, str]]:
    """Yield the terms, each with its name, its value and an explanation, which may be empty."""
    name, means = FORMATS[tournament.format]
    yield "Format", ", ".join([name, *_format_options(tournament)]), means
    yield "Tables", f"{describe_sizes(tournament, entered)} seats", _smaller_tables(tournament)
    deals, means = DEALS[tournament.deal_sharing]
    if tournament.deal_sharing == DealSharing.DUPLICATE:
        deals += ", every order of seats" if tournament.orders == SeatOrders.ALL else ", each bot once in every seat"
    yield "Deals", deals, means
    bank = milliseconds(tournament.bank_ms)
    yield "Time", f"{milliseconds(tournament.budget_ms)} per decision", f"plus a bank of {bank} per match"
    if tournament.round_minutes is not None:
        yield "Pace", describe_pace(tournament.round_minutes), "A round also waits until the one before is over."
    if tournament.round_times is not None:
        times = "Matches of a round that is paired wait for its time. A round also waits until the one before is over."
        yield "Pace", "rounds at given times", times
    yield from _conditions(tournament)


def _smaller_tables(tournament: Tournament) -> str:
    if not 0 < tournament.min_seats < tournament.seats:
        return ""
    return (
        f"Bots that do not fill tables of {tournament.seats} share tables of nearly equal sizes, "
        f"of at least {tournament.min_seats} seats."
    )


def _format_options(tournament: Tournament) -> Iterator[str]:
    if tournament.cycles > 1:
        yield f"{tournament.cycles} cycles"
    options = tournament.format_options
    match tournament.format:
        case TournamentFormat.SWISS:
            yield f"{options['rounds']} rounds" if options.get("rounds") else "as many rounds as leave one undefeated"
        case TournamentFormat.KNOCKOUT:
            yield from _knockout_options(options)


def _knockout_options(options: Json) -> Iterator[str]:
    yield f"seeded {SEEDINGS[options['seeding']]}"
    if options["best_of"] > 1:
        yield f"best of {options['best_of']}"
    if options["advance"] > 1:
        yield f"{options['advance']} of each table advance"
    if options["tie_breaks"]:
        yield f"up to {options['tie_breaks']} extra matches to break a tie"
    if options["third_place"]:
        yield "with a match for third place"


def _conditions(tournament: Tournament) -> Iterator[tuple[str, str, str]]:
    """Yield the terms about rating, visibility, substitutes, late entries and versions."""
    shown = "immediately" if not tournament.anonymous or not tournament.rated else "when a table is over"
    counts = f"Results count on the ladder of the game. {ONE_OWNER_TWICE}" if tournament.rated else ""
    yield "Rated", "yes" if tournament.rated else "no", counts
    if tournament.trusted and tournament.deal_sharing == DealSharing.DUPLICATE:
        yield "Trusted", "yes", "Duplicate deals are rated, although a bot with a memory could recognise the cards."
    yield "Pairings", f"shown {shown}", ""
    if tournament.substitute:
        yield "Substitute", tournament.substitute, "This house player plays, unrated, for bots that cannot be reached."
    else:
        yield "Substitute", "none", "A bot that cannot be reached sits out."
    yield from _entry_conditions(tournament)
    limit = tournament.bots_per_owner
    yield "Bots per owner", "any number" if limit >= NO_LIMIT else f"{limit}", ""
    if tournament.late_entry:
        yield "Late entries", "yes", "Bots may enter during the tournament and play from the next round on."
    if tournament.frozen_version:
        yield "Versions", "frozen", "A bot that changes its version loses its seats until it returns to the old one."


def describe_pace(minutes: int) -> str:
    """Return the pace of rounds: "a round every 30 min", or "a round every 2 h"."""
    return f"a round every {minutes // 60} h" if minutes % 60 == 0 else f"a round every {minutes} min"


def _entry_conditions(tournament: Tournament) -> Iterator[tuple[str, str, str]]:
    """Yield the terms about who may enter."""
    if tournament.max_entries is not None:
        yield "Most entries", f"{tournament.max_entries}", ""
    if tournament.min_entries is not None:
        yield "Least entries", f"{tournament.min_entries}", "With fewer at its start time, the tournament is cancelled."
    if tournament.approval:
        yield "Approval", "yes", "Owners ask the organiser to enter their bots."
    if tournament.join_code is not None:
        yield "Join code", "required", "Ask the organiser for the code."
    if not tournament.listed:
        yield "Unlisted", "yes", "This page is in no list and not in the search; only its address leads here."


def deciding_columns(tournament: Tournament) -> list[Json]:
    """Return the columns of the standings that decide ranks, in order."""
    return [
        {
            "name": name,
            "heading": COLUMNS[name][0],
            "means": COLUMNS[name][1],
            "digits": digits(name, tournament.seats),
        }
        for name in TIE_BREAKS[tournament.format]
    ]


def standings_columns(tournament: Tournament, *, all_columns: bool = False) -> list[Json]:
    """Return the deciding columns that a page shows: the first one, or ``all_columns``.

    Leave out those that other columns of every page show.
    """
    found = deciding_columns(tournament)
    return [column for column in found[: None if all_columns else 1] if column["name"] not in SHOWN_ELSEWHERE]


def digits(column: str, seats: int) -> int:
    """Return the number of decimals of a column. With two seats, points are always whole or half."""
    if column in WHOLE:
        return 0
    if column == "points_per_match":
        return 3
    return 1 if seats == 2 and column != "sonneborn_berger" else 2
