"""The terms of an event in words: formats, deals, tie-breaks, options; what decides who stands where."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from api.pages.formatting import milliseconds
from referee.tournaments.tables import Tournament

Json = dict[str, Any]

FORMATS: Final[Mapping[str, tuple[str, str]]] = {  # name, what it is
    "round_robin": ("Round robin", "Everybody meets everybody."),
    "double_round_robin": ("Double round robin", "Everybody meets everybody twice, the second time with turned seats."),
    "swiss": ("Swiss", "In each stage those meet who have done as well so far, nobody twice while it can be avoided."),
    "knockout": ("Knockout", "Who loses is out."),
    "gauntlet": ("Gauntlet", "Everybody meets one champion."),
    "ladder": ("Ladder", "Always on: whoever is near in rating meets, until the organiser ends it."),
}
DEALS: Final[Mapping[str, tuple[str, str]]] = {
    "own": ("each match its own", "No two matches share their cards."),
    "common": ("common in a stage", "The tables of a stage play the same cards, and nobody meets a deal twice."),
    "duplicate": ("duplicate", "The same bots play the same cards again on other seats."),
}
COLUMNS: Final[Mapping[str, tuple[str, str]]] = {  # of a table: its head, what it means
    "points": ("Points", "of each match the share of opponents left behind, a level one as half"),
    "points_per_match": ("A match", "points of the matches played, divided by their number"),
    "buchholz": ("Buchholz", "how strong the opponents were: the sum of their points"),
    "head_to_head": ("Head to head", "points among those who are level up to here"),
    "sonneborn_berger": ("Sonneborn-Berger", "points of the opponents left behind, half those of level ones"),
    "wins": ("Wins", "matches won alone"),
    "bracket": ("Reached", "the place that the knockout gave"),
    "rating": ("Rating", "on the ladder of the game"),
}
WHOLE: Final = ("wins", "bracket", "rating")  # columns of whole numbers
MICRO: Final = 1_000_000  # ratings are kept in millionths of a point
STAGES: Final[Mapping[str, str]] = {
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
SEEDINGS: Final[Mapping[str, str]] = {"rating": "by rating", "hand": "by hand", "draw": "by lot"}
ONE_OWNER_TWICE: Final = "A match with two bots of one owner counts in the standings, but is not rated."
EVENT_REASONS: Final[Mapping[str, str]] = {
    "tournament_cancelled": "the event was cancelled",
    "ladder_ended": "the ladder was ended",
    "bot_withdrawn": "a bot was withdrawn",
    "bot_paused": "a bot in it was paused",
}


def stage_name(number: int, label: str) -> str:
    """``Stage 3``, or ``Semi-finals``."""
    if label.startswith("last_"):
        return f"Last {label.removeprefix('last_')}"
    return STAGES.get(label, label.replace("_", " ").capitalize()) if label else f"Stage {number}"


def table_name(number: int | None, label: str = "") -> str:
    return STAGES[label] if label in ("final", "third_place") else f"Table {number}"


def lines(event: Tournament) -> Iterator[tuple[str, str, str]]:
    """What was announced: a word, what holds, and what that means."""
    name, means = FORMATS[event.format]
    yield "Format", ", ".join([name, *_of_format(event)]), means
    yield "Tables", f"{event.seats} seats each", ""
    deals, means = DEALS[event.deal_sharing]
    if event.deal_sharing == "duplicate":
        deals += ", every order of seats" if event.orders == "all" else ", each bot once on every seat"
    yield "Deals", deals, means
    bank = milliseconds(event.bank_ms)
    yield "Time", f"{milliseconds(event.budget_ms)} a decision", f"and {bank} a match for what exceeds it"
    yield from _rights(event)


def _of_format(event: Tournament) -> Iterator[str]:
    if event.cycles > 1:
        yield f"{event.cycles} times over"
    options = event.format_options
    match event.format:
        case "swiss":
            yield f"{options['stages']} stages" if options.get("stages") else "as many stages as leave one undefeated"
        case "knockout":
            yield from _of_knockout(options)
        case "ladder":
            yield f"{options['at_once']} matches at once, {options['per_bot']} a bot"
            yield f"rivals within {options['spread']} points"


def _of_knockout(options: Json) -> Iterator[str]:
    yield f"seeded {SEEDINGS[options['seeding']]}"
    if options["best_of"] > 1:
        yield f"best of {options['best_of']}"
    if options["advance"] > 1:
        yield f"{options['advance']} of a table go on"
    if options["tie_breaks"]:
        yield f"up to {options['tie_breaks']} more to break a tie"
    if options["third_place"]:
        yield "with a match for the third place"


def _rights(event: Tournament) -> Iterator[tuple[str, str, str]]:
    """Who may do what, and what is told when."""
    told = "at once" if not event.anonymous or not event.rated else "when a table is over"
    counts = f"Results count on the ladder of the game. {ONE_OWNER_TWICE}" if event.rated else ""
    yield "Rated", "yes" if event.rated else "no", counts
    if event.trusted and event.deal_sharing == "duplicate":
        yield "Trusted", "yes", "Duplicate deals are rated, though a bot that remembers would know the cards."
    yield "Who sits where", f"told {told}", ""
    if event.substitute:
        yield "Stand-in", f"house player {event.substitute}", "Takes the seats of bots that cannot be reached, unrated."
    else:
        yield "Stand-in", "none", "A bot that cannot be reached sits out."
    if event.late_entry:
        yield "Late entries", "yes", "Bots may still enter while it runs, from the next stage on."
    if event.frozen_version:
        yield "Versions", "frozen", "A bot that changes its version loses its seats until the old one is back."


def columns(tie_breaks: Sequence[str], seats: int) -> list[Json]:
    """The columns of a table that decide, in their order."""
    return [
        {
            "name": name,
            "head": COLUMNS[name][0],
            "means": COLUMNS[name][1],
            "digits": digits(name, seats),
            "unit": MICRO if name == "rating" else 1,
        }
        for name in tie_breaks
    ]


def digits(column: str, seats: int) -> int:
    """Decimals of a column: what is a share is whole and half points at tables of two only."""
    if column in WHOLE:
        return 0
    if column == "points_per_match":
        return 3
    return 1 if seats == 2 and column != "sonneborn_berger" else 2


def reason(text: str | None) -> str:
    """Why a match does not count: words for what the referee itself wrote, else what a person did."""
    return EVENT_REASONS.get(text, text) if text else ""
