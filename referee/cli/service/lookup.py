"""Find tournaments, bots and ladders by name or id, and answer an ambiguous name with a list of the matching ids."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import islice

from referee.cli.service.api_client import Api
from referee.errors import RefereeError
from referee.match.canonical import Json

ID = re.compile(r"(trn|bot|mat|lad)_[0-9a-z]{26}", re.ASCII)
MAX_MATCHES_SHOWN = 8


class NotFoundByName(RefereeError):
    """Signal that no tournament, bot or ladder has the given name, or that several have it."""


def tournament_id(api: Api, wanted: str) -> str:
    """Return the id of the tournament with this id or name.

    Raise ``NotFoundByName`` if the name is unknown or not unique.
    """
    if ID.fullmatch(wanted):
        return wanted
    listed = list(api.items("/tournaments?limit=100"))
    return _find_by_name(
        "tournament", wanted, listed, lambda item: f"{item['id']} ({item['status']}, {item['created_at'][:16]})"
    )


def bot_id(api: Api, wanted: str) -> str:
    """Return the id of the bot with this id or name. Raise ``NotFoundByName`` if the name is unknown or not unique."""
    if ID.fullmatch(wanted):
        return wanted
    return _find_by_name("bot", wanted, _list_bots(api), lambda item: f"{item['id']} ({item['status']})")


def own_bot(api: Api, wanted: str) -> Json:
    """Return the user's bot with this id or name, as its owner sees it. Retired bots are found by id alone.

    Raise ``NotFoundByName`` if the user has no bot with this name.
    """
    if ID.fullmatch(wanted):
        return dict(api.get(f"/bots/{wanted}"))
    own = [bot for bot in list_own_bots(api) if bot["status"] != "retired"]
    found = _find_by_name("bot", wanted, own, lambda item: f"{item['id']} ({item['status']})", whose="you have no bots")
    return dict(api.get(f"/bots/{found}"))


def list_own_bots(api: Api) -> list[Json]:
    """List the bots of the user's account, newest first, with retired ones."""
    me = api.get("/accounts/me")["id"]
    return list(api.items(f"/bots?owner={me}&limit=100"))


def ladder_id(api: Api, wanted: str) -> str:
    """Return the id of the ladder with this id or name. Raise ``NotFoundByName`` unless exactly one has the name."""
    if ID.fullmatch(wanted):
        return wanted
    listed = list(api.items("/ladders?limit=100"))
    return _find_by_name("ladder", wanted, listed, lambda item: f"{item['id']} ({item['game']})")


@lru_cache(maxsize=1)
def _list_bots(api: Api) -> list[Json]:
    """List the bots of the service. Cache the list, so that a command with several names requests it only once."""
    return list(api.items("/bots?limit=100"))


def _find_by_name(
    kind: str, wanted: str, listed: Sequence[Json], describe: Callable[[Json], str], *, whose: str = ""
) -> str:
    """Return the id of the item with this name, ignoring case.

    Raise ``NotFoundByName``, with suggestions, if no item or several items have it. ``whose`` replaces the sentence
    about an empty list.
    """
    found = [item for item in listed if item["name"].casefold() == wanted.casefold()]
    if len(found) == 1:
        return str(found[0]["id"])
    if found:
        raise NotFoundByName(
            f"{len(found)} {kind}s have the name {wanted!r}; pass one of these ids: {_join_names(map(describe, found))}"
        )
    near = [f"{item['name']!r}" for item in listed if wanted.casefold() in item["name"].casefold()]
    near = near or [f"{item['name']!r}" for item in listed]
    known = f"; available: {_join_names(near)}" if near else f"; {whose or f'this service has no {kind}s'} yet"
    raise NotFoundByName(f"Unknown {kind} {wanted!r}{known}")


def _join_names(names: Iterable[str]) -> str:
    first = list(islice(names, MAX_MATCHES_SHOWN + 1))
    return ", ".join(first[:MAX_MATCHES_SHOWN]) + (" …" if len(first) > MAX_MATCHES_SHOWN else "")
