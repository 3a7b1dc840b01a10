"""Read the official ladders of a service from a TOML file: the one of the package, or the operator's.

``ladder_sync`` creates and updates the ladders in the database.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from referee.errors import BadOption, NoSuchGame
from referee.games import catalogue, game_title
from referee.games import game as rules_of
from referee.settings import BadSettings

PACKAGED: Final = Path(__file__).with_name("official.toml")
MAX_DAILY_MATCHES: Final = 100_000
MAX_NAME_LENGTH: Final = 60
KEYS: Final = ("game", "name", "seats", "options", "daily_matches", "unlisted")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class OfficialLadder:
    """Describe an official ladder. ``options`` are complete; ``daily_matches`` is the pace of each bot.

    A game has one listed ladder, and any number of unlisted ones.
    """

    game: str
    name: str
    seats: int
    options: Json
    daily_matches: int
    unlisted: bool = False


def load_official_ladders(file: Path | None = None) -> tuple[OfficialLadder, ...]:
    """Return the official ladders in ``file``, or by default those of the package.

    Raise ``BadSettings`` with the file, the ladder and what was expected when the file is missing or invalid.
    """
    path = file or PACKAGED
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadSettings(f"REFEREE_LADDERS: {path} cannot be read: {error.strerror}.") from error
    except ValueError as error:  # not TOML or not UTF-8
        raise BadSettings(f"REFEREE_LADDERS: {path} is not valid TOML: {error}.") from error
    try:
        return _read_ladders(document)
    except _Invalid as error:
        raise BadSettings(f"REFEREE_LADDERS: {path}: {error}.") from error


class _Invalid(Exception):
    """Say what is wrong with the contents of the file, and where."""


def _read_ladders(document: Mapping[str, Any]) -> tuple[OfficialLadder, ...]:
    unknown = [key for key in document if key != "ladder"]
    if unknown:
        raise _Invalid(f"unknown key {unknown[0]!r}; the file contains [[ladder]] tables only")
    tables = document.get("ladder", [])
    if not isinstance(tables, list):
        raise _Invalid("ladders are written as [[ladder]], with two brackets")
    ladders = tuple(_read_ladder(table, f"ladder {number}") for number, table in enumerate(tables, 1))
    _refuse_repeated("listed ladders have the game", [ladder.game for ladder in ladders if not ladder.unlisted])
    _refuse_repeated("ladders have the name", [ladder.name for ladder in ladders])
    terms = [(ladder.game, ladder.seats, ladder.options) for ladder in ladders]
    _refuse_repeated("ladders have the game, seats and options", terms)
    return ladders


def _read_ladder(table: Mapping[str, Any], where: str) -> OfficialLadder:
    for key in table:
        if key not in KEYS:
            raise _Invalid(f"{where}: unknown key {key!r}; available: {', '.join(KEYS)}")
    game = table.get("game")
    try:
        rules = rules_of(game) if isinstance(game, str) else None
    except NoSuchGame:
        rules = None
    if rules is None or not isinstance(game, str):
        raise _Invalid(f"{where}: game must be one of {', '.join(catalogue())}, not {game!r}")
    where = f"{where} ({game})"
    seats = _read_int(table, "seats", rules.seats.start, rules.seats.stop - 1, where)
    options = table.get("options", {})
    if not isinstance(options, dict):
        raise _Invalid(f"{where}: options must be a table, such as {{ rounds = 4 }}")
    try:
        complete = rules.start(seats, options).options
    except BadOption as error:
        raise _Invalid(f"{where}: option {error}") from error
    daily_matches = _read_int(table, "daily_matches", 1, MAX_DAILY_MATCHES, where)
    unlisted = table.get("unlisted", False)
    if not isinstance(unlisted, bool):
        raise _Invalid(f"{where}: unlisted must be true or false, not {unlisted!r}")
    return OfficialLadder(game, _read_name(table, game, where), seats, dict(complete), daily_matches, unlisted)


def _read_int(table: Mapping[str, Any], key: str, low: int, high: int, where: str) -> int:
    value = table.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise _Invalid(f"{where}: {key} must be a whole number from {low} to {high}, not {value!r}")
    return value


def _read_name(table: Mapping[str, Any], game: str, where: str) -> str:
    name = table.get("name", game_title(game))
    if not isinstance(name, str) or name != name.strip() or not name.isprintable():
        raise _Invalid(f"{where}: name must be one line of text without spaces at its ends")
    if not 1 <= len(name) <= MAX_NAME_LENGTH:
        raise _Invalid(f"{where}: name must have 1 to {MAX_NAME_LENGTH} characters")
    return name


def _refuse_repeated(what: str, values: Sequence[object]) -> None:
    repeated = next((value for value in values if values.count(value) > 1), None)
    if repeated is not None:
        raise _Invalid(f"two {what} {repeated!r}; each needs its own")
