"""Play matches between Python functions, house players, programs and URLs."""

import asyncio
import secrets
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from referee.errors import BadOption, RefereeError
from referee.local import matches as local
from referee.local.bot_files import run_bots
from referee.local.matches import LocalEntrant, LocalMatchPlan, LocalResult
from referee.match.time_limits import Limits
from referee_extras.notebook.function_seat import Choose, FunctionSeat
from referee_extras.notebook.series import MatchSeries

Player = Choose | str | Path
Value = TypeVar("Value")


class CannotPlay(RefereeError, ValueError):
    """Signal that the arguments of ``play`` name no match that can be played."""


def play(
    game: str,
    players: Sequence[Player],
    *,
    matches: int = 1,
    seed: str | int | None = None,
    options: Mapping[str, Any] | None = None,
    budget_ms: int = Limits().budget_ms,
    bank_ms: int = Limits().bank_ms,
) -> MatchSeries:
    """Play matches of ``game`` between these players, and return them with their statistics.

    A player is a function, which takes a question as bots get it (a dictionary with ``observation``, ``legal_actions``,
    …) and returns an action; or a house player like ``"house:3"``, the file of a bot, or the URL of one. As many
    successive matches as there are players have the same cards, with the players moved on by one seat each time, so a
    multiple of that number is best. The same ``seed`` gives the same cards and the same choices of house players. Time
    limits apply to files and URLs only.

    An exception of a function is counted as an error and does not end the match; the default action is played. Raise
    ``CannotPlay`` if the game, a player or an option does not exist, or the number of players does not fit.
    """
    if matches < 1:
        raise CannotPlay(f"matches must be at least 1, not {matches}")
    seed = secrets.token_hex(8) if seed is None else str(seed)
    functions = dict(_named_functions(players))
    sources = [str(player) for player in players if not callable(player)]
    with _wrong_arguments():
        named = iter(local.parse_entrants(sources))
        names = iter(functions)
        entrants = [_entrant(next(names)) if callable(player) else next(named) for player in players]
        limits = Limits(budget_ms, bank_ms)
        plan = local.make_plan(game, entrants, dict(options or {}), seed, limits, seats=len(entrants))
    plan = replace(plan, local_seats={name: partial(FunctionSeat, choose) for name, choose in functions.items()})
    stop = threading.Event()
    return _run_anywhere(lambda: _play_all(plan, matches, stop), stop)


async def _play_all(plan: LocalMatchPlan, matches: int, stop: threading.Event) -> MatchSeries:
    played: list[LocalResult] = []
    with run_bots(plan.entrants, plan.secrets) as running:
        placed = replace(plan, entrants=running.entrants, secrets=running.secrets)
        for number in range(matches):
            if stop.is_set():
                break
            played.append(await local.play_numbered_match(placed, number))
    names = [entrant.name for entrant in plan.entrants]
    return MatchSeries(plan.game, plan.options, plan.seed, names, played)


def _named_functions(players: Sequence[Player]) -> Iterator[tuple[str, Choose]]:
    """Yield the functions with unique names: equal names are numbered."""
    functions = [player for player in players if callable(player)]
    names = [getattr(function, "__name__", type(function).__name__) for function in functions]
    for index, (name, function) in enumerate(zip(names, functions, strict=True)):
        yield (name if names.count(name) == 1 else f"{name} {names[: index + 1].count(name)}"), function


def _entrant(name: str) -> LocalEntrant:
    return LocalEntrant(name, f"function:{name}")


@contextmanager
def _wrong_arguments() -> Iterator[None]:
    try:
        yield
    except BadOption as error:
        raise CannotPlay(error.reason if error.field == "players" else str(error)) from error
    except RefereeError as error:  # an unknown game or player, an address that may not be called
        raise CannotPlay(str(error)) from error


def _run_anywhere(begin: Callable[[], Coroutine[Any, Any, Value]], stop: threading.Event) -> Value:
    """Run a coroutine, in a thread of its own if this thread already runs an event loop, as in a notebook.

    After Ctrl-C, set ``stop`` and wait for the end of the thread.
    """
    if not _has_running_loop():
        return asyncio.run(begin())
    with ThreadPoolExecutor(1, "play") as thread:
        try:
            return thread.submit(lambda: asyncio.run(begin())).result()
        except KeyboardInterrupt:
            stop.set()
            raise


def _has_running_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
