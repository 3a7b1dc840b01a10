"""Plays a match: asks what it wants to know, all seats of a question at once, and hands every answer back.

Whom it asks and where it is recorded are arguments, so that a local game and the runner share this loop.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from referee.match.canonical import Json
from referee.match.match import Answer, Match, Request

Ask = Callable[[Request], Awaitable[Answer]]
Record = Callable[[Match, list[Json], Answer], Awaitable[None]]


async def drive(match: Match, ask: Ask, record: Record) -> None:
    """Plays from where the match stands to its end; ``match.begin`` (or ``resume``) comes before.

    After each answer ``record`` gets the rows that followed, ``[]`` while others still choose. It is called at once,
    in the order of arrival; nothing more is asked before what it gave has been awaited. What it or ``ask`` raises
    ends the match's play, with no call left open.
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
    calls: set[asyncio.Future[Any]] = set(asked)
    records: set[asyncio.Future[Any]] = set()
    try:
        while calls or records:
            done, _ = await asyncio.wait(calls | records, return_when=asyncio.FIRST_COMPLETED)
            for record_made in done & records:
                record_made.result()  # a record that failed ends it here, whoever is still being asked
            for answered in (call for call in asked if call in done & calls):
                answer = answered.result()
                records.add(asyncio.ensure_future(record(match, match.receive(answer), answer)))
            calls -= done
            records -= done
    finally:
        for task in calls | records:
            task.cancel()
        await asyncio.gather(*calls, *records, return_exceptions=True)
