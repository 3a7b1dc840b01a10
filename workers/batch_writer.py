"""Writes down what happens in the matches of a runner: one transaction for all that came since the last.

What is written, and that only the claimer of a match may write, is the record's business.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy.orm import Session

from referee.db.engine import Database
from referee.errors import StaleEpoch, Unavailable
from referee.matches.recording import MatchUpdate, record_batch

log = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")
RETRY_S = 0.2  # between two attempts while the record cannot be written


class Recorder:
    """The record as a runner's event loop sees it: transactions run in threads, so that no deadline waits for one."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: list[tuple[MatchUpdate, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def write_durably(self, record: MatchUpdate) -> None:
        """Returns when the record is committed; raises ``StaleEpoch`` when the match is no longer ours.

        While the record cannot be written this waits: no bot is asked anything meanwhile.
        """
        written = asyncio.get_running_loop().create_future()
        self._waiting.append((record, written))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_all())
        await written

    async def read(self, what: Callable[Concatenate[Session, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Calls ``what(session, …)`` in a transaction that reads."""

        def call() -> R:
            with self._database.read() as session:
                return what(session, *args, **kwargs)

        return await asyncio.to_thread(call)

    async def write(self, what: Callable[Concatenate[Session, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Calls ``what(session, …)`` in a durable transaction."""

        def call() -> R:
            with self._database.write() as session:
                return what(session, *args, **kwargs)

        return await asyncio.to_thread(call)

    async def write_soon(self, what: Callable[Concatenate[Session, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """The same in a transaction that a power cut may undo."""

        def call() -> R:
            with self._database.write(durable=False) as session:
                return what(session, *args, **kwargs)

        return await asyncio.to_thread(call)

    async def _write_all(self) -> None:
        """Whatever gathered while the last batch was written makes up the next."""
        while self._waiting:
            batch, self._waiting = self._waiting, []
            await self._write_and_tell(batch)

    async def _write_and_tell(self, batch: list[tuple[MatchUpdate, asyncio.Future[None]]]) -> None:
        try:
            stale = await self._write_batch([record for record, _ in batch])
        except Exception as error:  # noqa: BLE001  # handed to the match whose record it is
            if len(batch) == 1:
                _settle(batch[0][1], error)
                return
            for one in batch:  # one by one: what is wrong with one match must reach no other
                await self._write_and_tell([one])
            return
        for record, written in batch:
            lost = StaleEpoch(f"match {record.match_id} was claimed by another runner")
            _settle(written, lost if record.match_id in stale else None)

    async def _write_batch(self, records: list[MatchUpdate]) -> set[str]:
        def call() -> set[str]:
            with self._database.write(durable=False) as session:
                return record_batch(session, records)

        while True:
            try:
                return await asyncio.to_thread(call)
            except Unavailable as error:
                log.warning("the record cannot be written, trying again", extra={"reason": str(error)})
                await asyncio.sleep(RETRY_S)


def _settle(written: asyncio.Future[None], error: Exception | None) -> None:
    if written.done():
        return
    if error is None:
        written.set_result(None)
    else:
        written.set_exception(error)
