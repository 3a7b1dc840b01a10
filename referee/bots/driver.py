"""Plays a match: asks what it wants to know, all seats of a question at once, and hands every answer back.

Whom it asks and where it is recorded are arguments, so that a local game and the runner share this loop.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from referee.canonical import Json
from referee.match import Answer, Match, Request

Ask = Callable[[Request], Awaitable[Answer]]
Record = Callable[[Match, list[Json], Answer], Awaitable[None]]


async def drive(match: Match, ask: Ask, record: Record) -> None:
    """Plays from where the match stands to its end; ``match.begin`` (or ``resume``) comes before.

    After each answer ``record`` gets the rows that followed, ``[]`` while others still choose, and nothing more
    is asked or received before it is done. What it or ``ask`` raises ends the match's play, with no call left open.
    """
    while not match.over:
        requests = match.requests()
        if len(requests) == 1:
            answer = await ask(requests[0])
            await record(match, match.receive(answer), answer)
        else:
            await _ask_together(match, requests, ask, record)


async def _ask_together(match: Match, requests: Sequence[Request], ask: Ask, record: Record) -> None:
    """Receives the answers in the order they arrive."""
    asked = [asyncio.ensure_future(ask(request)) for request in requests]
    try:
        for arriving in asyncio.as_completed(asked):
            answer = await arriving
            await record(match, match.receive(answer), answer)
    finally:
        for task in asked:
            task.cancel()
        await asyncio.gather(*asked, return_exceptions=True)
