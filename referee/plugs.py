"""Define the points at which extras plug into the service, and load the extras that are installed.

The package ``referee_extras`` lists them; without it, the service has none. An extra names its modules and functions as
"module:attribute", and ``load`` imports them when they are first used. The failure of an extra at a place or in a
reaction is logged, counted and left out; an extra that cannot be imported is an error of the installation.
"""

import logging
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from referee.errors import RefereeError

PACKAGE: Final = "referee_extras"

log = logging.getLogger(__name__)

_failures: Counter[tuple[str, str]] = Counter()  # by extra and point
_counting = threading.Lock()


class BrokenExtra(RefereeError):
    """Report an extra that is listed and cannot be imported. The message names it and says what to do."""


class PagePlace(StrEnum):
    """Name the places on pages of the service to which extras can add something."""

    HEAD = "head"  # elements of the head of every page
    PAGE_LINKS = "page_links"  # links about the subject of a page
    TOURNAMENT_TERMS = "tournament_terms"  # rows in the terms of a tournament
    TOURNAMENTS_TOP = "tournaments_top"  # paragraphs above the list of tournaments


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """Say what an extra plugs in. ``folder`` has its templates and static files, each in a subfolder ``name``."""

    name: str
    folder: Path
    pages: Sequence[str] = ()  # groups of pages, ``api.pages.page.Pages``
    places: Mapping[PagePlace, str] = field(default_factory=dict)  # functions that return HTML, or None for nothing


@cache
def extras() -> tuple[Extra, ...]:
    """Return the installed extras in the order of their list. Raise ``BrokenExtra`` if one cannot be imported."""
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:  # no folder, or one without a module
        return ()
    names: Sequence[str] = import_module(PACKAGE).EXTRAS
    return tuple(load(f"{PACKAGE}.{name}:EXTRA") for name in names)


def load(reference: str) -> Any:
    """Return what "module:attribute" of an extra names. Raise ``BrokenExtra`` if it cannot be imported."""
    module, _, attribute = reference.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except Exception as error:  # whatever the code of an extra raises
        name = module.removeprefix(f"{PACKAGE}.").partition(".")[0]
        raise BrokenExtra(
            f"The extra {name!r} cannot be used: {reference} cannot be imported ({type(error).__name__}: {error}). "
            f"Repair the extra, or take its name out of the list in {PACKAGE}/__init__.py."
        ) from error


def call_at(place: PagePlace, **context: Any) -> list[Any]:
    """Return what the extras add to a place, in the order of their list. Leave out those that fail or add nothing."""
    found = []
    for extra in extras():
        if place in extra.places:
            try:
                found.append(load(extra.places[place])(**context))
            except Exception:
                log.exception("extra_failed", extra={"extra": extra.name, "point": place})
                _count_failure(extra, place)
    return [added for added in found if added is not None]


def _count_failure(extra: Extra, point: str) -> None:
    with _counting:
        _failures[extra.name, point] += 1


def take_failures() -> Mapping[tuple[str, str], int]:
    """Return the numbers of failures since the last call, keyed by extra and point."""
    with _counting:
        taken = dict(_failures)
        _failures.clear()
    return taken
