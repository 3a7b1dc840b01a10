"""Define the points at which extras plug into the service, and load the extras that are installed.

The package ``referee_extras`` lists them; without it, the service has none. An extra names its modules and functions as
"module:attribute", and ``load`` imports them when they are first used. The failure of an extra at a place or about an
event is logged, counted and left out; an extra that cannot be imported is an error of the installation.
"""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from referee.errors import RefereeError
from referee.events import Event

PACKAGE: Final = "referee_extras"

log = logging.getLogger(__name__)

_failures: Counter[tuple[str, str]] = Counter()  # by extra and point
_counting = threading.Lock()


class BrokenExtra(RefereeError):
    """Report an extra that is listed and cannot be imported. The message names it and says what to do."""


class PagePlace(StrEnum):
    """Name the places on pages of the service to which extras can add something."""

    ACCOUNT_END = "account_end"  # sections of the account page, after its own
    ACCOUNT_TOP = "account_top"  # sections of the account page, before its own; see ``account.js`` for their scripts
    BOT_END = "bot_end"  # sections at the end of the page of a bot; gets the bot and the ladders that rate it
    FOOTER = "footer"  # entries in the list of links below every page
    HEAD = "head"  # elements of the head of every page, which has this title
    HEADER = "header"  # elements beside the navigation of every page
    LADDER_LINKS = "ladder_links"  # links below the rows of a ladder; gets the ladder
    NAVIGATION = "navigation"  # entries of the navigation, after those of the service
    OPERATOR = "operator"  # sections of the operator's page; the module in their ``data-script`` exports ``show``
    PAGE_LINKS = "page_links"  # links about the subject of a page
    SIGNED_IN = "signed_in"  # URLs of modules that every page loads for somebody who is signed in
    TOURNAMENTS_TOP = "tournaments_top"  # paragraphs above the list of tournaments
    TOURNAMENT_DOCUMENTS = "tournament_documents"  # entries in the list of operations of the API; gets their path
    TOURNAMENT_FACTS = "tournament_facts"  # below the podium; gets the tournament and the bracket of a knockout
    TOURNAMENT_HEAD = "tournament_head"  # links beside the state of a tournament; gets its id
    TOURNAMENT_TABS = "tournament_tabs"  # tabs of its pages; gets it and the end of the path of the page
    TOURNAMENT_TERMS = "tournament_terms"  # rows in the terms of a tournament
    TWO_BOTS = "two_bots"  # a link about a bot and an opponent; gets their ids and its text


@dataclass(frozen=True, slots=True, kw_only=True)
class Organised:
    """Describe objects, beside tournaments, that accounts run together after they have accepted an invitation.

    ``kind`` names them in invitations and messages, and ``prefix`` begins their ids. Their pages are below ``path``.
    ``act_kind`` records that an account became an organiser. ``table`` and ``co_organisers`` are names for ``load``.
    """

    kind: str
    prefix: str
    path: str
    act_kind: str
    table: str
    co_organisers: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerWork:
    """Describe what runners do beside matches. ``has_due`` and ``is_unclaimed`` are functions of a session.

    ``start`` gets what ``workers.extra_work`` says. It returns an object with ``is_busy``, ``start_due`` and ``stop``.
    """

    name: str  # of what is due
    has_due: Callable[[Any], bool]
    is_unclaimed: Callable[[Any], bool]  # something is due and nothing under way: if that lasts, no runner works
    start: Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """Describe a command: its name and the first paragraph of its help, below a heading of a group of commands.

    ``group`` is the name of a ``LazyGroup``, as "admin". ``command`` is a name for ``load``.
    """

    group: str = "main"  # commands of `referee` itself
    heading: str
    name: str
    summary: str
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """Say what an extra plugs in."""

    name: str
    resources: Sequence[str] = ()  # operations of the API, ``api.views.Resource``
    pages: Sequence[str] = ()  # groups of pages, ``api.pages.page.Pages``
    places: Mapping[PagePlace, str] = field(default_factory=dict)  # functions that return HTML, or None for nothing
    metadata: str | None = None  # that of its tables, whose migrations are in the subfolder ``migrations``
    tasks: Mapping[str, str] = field(default_factory=dict)  # threads of the scheduler; see ``run_steps``
    settings: str | None = None  # a class with ``defaults()`` by name, and ``load(env)`` for an instance
    events: Mapping[type[Event], str] = field(default_factory=dict)  # functions of a session and such an event
    runner_work: str | None = None  # a ``RunnerWork``
    organised: Sequence[Organised] = ()
    commands: Sequence[Command] = ()
    act_kinds: Sequence[str] = ()  # of the acts that it records
    naming_act_kinds: Sequence[str] = ()  # those whose details have a name that the account gave
    disk_use: str | None = None  # parts of the use of the disk, as in ``disk_use``
    export: str | None = None  # sections of the export of an account, as in ``account_export``
    offers: Mapping[str, str] = field(default_factory=dict)  # to other extras, by the name of the extra

    @property
    def folder(self) -> Path:
        """Return the folder of the extra, which has its templates and static files, each in a subfolder ``name``."""
        return Path(import_module(PACKAGE).__path__[0]) / self.name


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
        return attrgetter(attribute)(import_module(module))
    except Exception as error:  # whatever the code of an extra raises
        name = module.removeprefix(f"{PACKAGE}.").partition(".")[0]
        raise BrokenExtra(
            f"The extra {name!r} cannot be used: {reference} cannot be imported ({type(error).__name__}: {error}). "
            f"Repair the extra, or take its name out of the list in {PACKAGE}/__init__.py."
        ) from error


def call_at(
    place: PagePlace, guard: Callable[[], AbstractContextManager[Any]] = nullcontext, **context: Any
) -> list[Any]:
    """Return what the extras add to a place, in the order of their list. Leave out those that fail or add nothing.

    Each is called inside a ``guard`` of its own.
    """
    found = []
    for extra in extras():
        if place in extra.places:
            try:
                with guard():
                    found.append(load(extra.places[place])(**context))
            except Exception:  # noqa: BLE001  # whatever the code of an extra raises; it is logged with its traceback
                report_failure(extra, place)
    return [added for added in found if added is not None]


def list_commands(group: str) -> list[Command]:
    """Return the commands that extras add to a group, in the order of the list."""
    return [command for extra in extras() for command in extra.commands if command.group == group]


def list_organised() -> list[Organised]:
    """Return what extras let accounts run together, in the order of the list."""
    return [organised for extra in extras() for organised in extra.organised]


def find_organised(kind: str) -> Organised | None:
    """Return the objects of this kind that accounts run together, or None if no installed extra has them."""
    return next((organised for organised in list_organised() if organised.kind == kind), None)


def report_failure(extra: Extra, point: str) -> None:
    """Log the exception being handled, and count that the work of an extra at a point was left out."""
    log.exception("extra_failed", extra={"extra": extra.name, "point": point})
    with _counting:
        _failures[extra.name, point] += 1


def take_failures() -> Mapping[tuple[str, str], int]:
    """Return the numbers of failures since the last call, keyed by extra and point."""
    with _counting:
        taken = dict(_failures)
        _failures.clear()
    return taken
