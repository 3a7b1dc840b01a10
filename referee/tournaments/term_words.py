"""Describe the terms of a tournament in words, for its page and for ``referee tournament show``."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from referee.matches.states import DealSharing
from referee.pairing.kinds import Seeding, TournamentFormat
from referee.tournaments.round_times import read_time
from referee.tournaments.terms import ABOUT, FORMATS, GAME, NO_LIMIT, TERMS, Term

Json = Mapping[str, Any]
Row = tuple[str, str | Sequence[datetime], str]

SEEDINGS: Final[Mapping[str, str]] = {Seeding.RATING: "by rating", Seeding.HAND: "manually", Seeding.DRAW: "at random"}
DUPLICATE_ONLY: Final = ("orders", "trusted")  # terms that concern duplicate deals
TOLD_TOGETHER: Final = ("seats", "min_seats", "format", "cycles")  # in the first rows


def describe_terms(values: Json) -> Iterator[Row]:
    """Yield the terms that are not the default, and those that are choices: label, value, explanation.

    ``values`` are those of the API for one tournament. The value is a text, or a list of times.
    """
    name, means = FORMATS[values["format"]]
    yield "Format", ", ".join([name, *_format_options(values)]), means
    sizes = " and ".join(map(str, values["table_sizes"]))
    yield "Tables", f"{sizes} seats", TERMS["min_seats"].view_text if values["min_seats"] < values["seats"] else ""
    budget, bank = (f"{values['time'][name] / 1000:g} s" for name in ("budget_ms", "bank_ms"))
    yield "Time", f"{budget} per decision", f"plus a bank of {bank} per match"
    for name, term in TERMS.items():
        if name not in TOLD_TOGETHER and _is_worth_telling(term, values):
            yield term.label, _describe_value(term, values[name]), term.text.replace("`", "")
    if values["requires_code"]:
        yield "Join code", "required", "Ask the organiser for the code."


def _is_worth_telling(term: Term, values: Json) -> bool:
    if term.type is dict or term.section in (GAME, ABOUT):
        return False
    if term.name in DUPLICATE_ONLY and values["deal_sharing"] != DealSharing.DUPLICATE:
        return False
    return term.default is True or term.choices is not None or values[term.name] not in (None, term.default)


def _describe_value(term: Term, value: Any) -> str | Sequence[datetime]:
    if term.type is bool:
        return "yes" if value else "no"
    if term.type in (datetime, list):
        return [read_time(time) for time in ([value] if term.type is datetime else value)]
    if value is None:
        return "none"
    if term.name == "bots_per_owner" and value >= NO_LIMIT:
        return "any number"
    return str(term.choices[value] if term.choices else value)


def _format_options(values: Json) -> Iterator[str]:
    if values["cycles"] > 1:
        yield f"{values['cycles']} cycles"
    options = values["format_options"]
    match values["format"]:
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
