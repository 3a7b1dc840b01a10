"""Drive a match to its end: ask its seats, concurrently if several must decide, and pass the answers to the match.

Callers pass functions that ask and that record, so local matches and the runner share this loop.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from referee.match.canonical import Json
from referee.match.match import Answer, Match, Request

Ask = Callable[[Request], Awaitable[Answer]]
Record = Callable[[Match, list[Json], Answer], Awaitable[None]]


async def drive(match: Match, ask: Ask, record: Record) -> None:
    """Play a match from its current position to its end; call ``match.begin`` or ``resume`` first.

    Call ``record`` after each answer, immediately and in order of arrival, with the rows that followed (``[]`` while
    other seats still choose). Await every ``record`` before the next request. An exception of ``record`` or ``ask``
    stops the loop and cancels all open calls.
    """
    while not match.over:
        requests = match.requests()
        if len(requests) == 1:
            answer = await ask(requests[0])
            await record(match, match.receive(answer), answer)
        else:
            await _ask_together(match, requests, ask, record)


async def _ask_together(match: Match, requests: Sequence[Request], ask: Ask, record: Record) -> None:
    """Ask several seats concurrently and pass on the answers in the order in which they arrive."""
    asked = [asyncio.ensure_future(ask(request)) for request in requests]
    calls: set[asyncio.Future[Any]] = set(asked)
    records: set[asyncio.Future[Any]] = set()
    try:
        while calls or records:
            done, _ = await asyncio.wait(calls | records, return_when=asyncio.FIRST_COMPLETED)
            for record_made in done & records:
                record_made.result()  # raises if recording failed, even if seats are still being asked
            for answered in (call for call in asked if call in done & calls):
                answer = answered.result()
                records.add(asyncio.ensure_future(record(match, match.receive(answer), answer)))
            calls -= done
            records -= done
    finally:
        for task in calls | records:
            task.cancel()
        await asyncio.gather(*calls, *records, return_exceptions=True)
