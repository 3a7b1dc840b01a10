"""Tournaments and bots by name as well as by id. A name that fits several is refused with all it may mean."""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from referee.cli.api_client import Api
from referee.errors import RefereeError
from referee.match.canonical import Json

ID = re.compile(r"(trn|bot|mat)_[0-9a-z]{26}", re.ASCII)
SHOWN = 8


class NotFoundByName(RefereeError):
    """Nothing bears the name, or more than one thing does."""


def tournament_id(api: Api, wanted: str) -> str:
    """The id of the tournament that is meant."""
    if ID.fullmatch(wanted):
        return wanted
    everyone = list(api.items("/tournaments?limit=100"))
    return _find_by_name(
        "tournament", wanted, everyone, lambda one: f"{one['id']} ({one['status']}, {one['created_at'][:16]})"
    )


def bot_id(api: Api, wanted: str) -> str:
    """The id of a registered bot."""
    return Bots(api).id(wanted)


class Bots:
    """The registered bots, listed once, when the first is asked for by name."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._there: list[Json] | None = None

    def id(self, wanted: str) -> str:
        if ID.fullmatch(wanted):
            return wanted
        if self._there is None:
            self._there = list(self._api.items("/bots?limit=100"))
        return _find_by_name("bot", wanted, self._there, lambda one: f"{one['id']} ({one['status']})")


def _find_by_name(kind: str, wanted: str, there: Sequence[Json], told: Callable[[Json], str]) -> str:
    """Upper and lower case are alike."""
    found = [one for one in there if one["name"].casefold() == wanted.casefold()]
    if len(found) == 1:
        return str(found[0]["id"])
    if found:
        raise NotFoundByName(
            f"{len(found)} {kind}s have the name {wanted!r}; pass one of these ids: {_join_names(map(told, found))}"
        )
    near = [f"{one['name']!r}" for one in there if wanted.casefold() in one["name"].casefold()]
    near = near or [f"{one['name']!r}" for one in there]
    known = f"; available: {_join_names(near)}" if near else f"; there are no {kind}s yet"
    raise NotFoundByName(f"unknown {kind} {wanted!r}{known}")


def _join_names(words: Iterable[str]) -> str:
    first = list(islice(words, SHOWN + 1))
    return ", ".join(first[:SHOWN]) + (" …" if len(first) > SHOWN else "")
