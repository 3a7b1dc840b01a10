"""Drive a match to its end: ask its seats, concurrently if several must decide, and pass the answers to the match.

Callers pass functions that ask and that record, so local matches and the runner share this loop.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

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
    """Ask concurrently, and receive the answers in the order in which they arrive."""

    async def ask_and_record(request: Request) -> None:
        answer = await ask(request)
        await record(match, match.receive(answer), answer)

    try:
        async with asyncio.TaskGroup() as group:
            for request in requests:
                group.create_task(ask_and_record(request))
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
