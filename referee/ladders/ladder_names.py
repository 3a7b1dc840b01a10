"""Name variant ladders by what distinguishes them from the standard options and the standard number of seats."""

from collections.abc import Collection, Mapping
from typing import Any

from referee.errors import RefereeError
from referee.games import game as rules_of
from referee.games import game_title
from referee.ladders.tables import MAX_LADDER_NAME

Standard = tuple[Mapping[str, Any], int]  # options and seats of the official ladder of a game


def variant_name(game: str, options: Mapping[str, Any], seats: int, standard: Standard | None) -> str:
    """Return the name of a variant ladder, such as ``Pool Nap, 5 seats, no bid cover``.

    ``standard`` is None if the game has no official ladder. Different ladders of a game get different names as long as
    ``standard`` is the same.
    """
    expected = _standard_options(game, seats, standard)
    differing = [name for name, value in options.items() if name not in expected or expected[name] != value]
    return ", ".join([game_title(game), f"{seats} seats", *(_describe(name, options[name]) for name in differing)])


def make_unique(name: str, ladder_id: str, taken: Collection[str]) -> str:
    """Return the name, shortened if necessary, with the end of the id if another ladder has the name."""
    if len(name) <= MAX_LADDER_NAME and name not in taken:
        return name
    ending = f" ({ladder_id})"
    return name[: MAX_LADDER_NAME - len(ending)] + ending


def _standard_options(game: str, seats: int, standard: Standard | None) -> Mapping[str, Any]:
    """Return the options that a ladder has with this number of seats if nothing but the seats is changed.

    The defaults of some options depend on the number of seats.
    """
    try:
        rules = rules_of(game)
        chosen: dict[str, Any] = {}
        if standard is not None:
            defaults = rules.start(standard[1], {}).options
            chosen = {name: value for name, value in standard[0].items() if defaults.get(name) != value}
        expected: Mapping[str, Any] = rules.start(seats, chosen).options
    except RefereeError:  # the rules no longer have these options or this number of seats: name all of them
        return {}
    return expected


def _describe(name: str, value: Any) -> str:
    words = name.replace("_", " ")
    match value:
        case True:
            return words
        case False | []:
            return f"no {words}"
        case list():
            return f"{words} {' and '.join(str(part).replace('_', ' ') for part in value)}"
        case _:
            return f"{words} {str(value).replace('_', ' ')}"
