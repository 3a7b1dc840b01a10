"""Write the updates of a runner's matches in batches: one transaction for all that arrived during the previous one."""

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
RETRY_S = 0.2  # pause between two attempts while the database is not available


class BatchWriter:
    """Run transactions in threads on behalf of a runner's event loop, so that they do not delay deadlines."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: list[tuple[MatchUpdate, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def write_durably(self, update: MatchUpdate) -> None:
        """Write an update and return when it has been committed. Raise ``StaleEpoch`` if the claim is no longer valid.

        Wait while the database is not available; no bot is asked anything meanwhile.
        """
        written = asyncio.get_running_loop().create_future()
        self._waiting.append((update, written))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_all())
        await written

    async def read(self, operation: Callable[Concatenate[Session, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call ``operation(session, …)`` in a read-only transaction."""

        def call() -> R:
            with self._database.read() as session:
                return operation(session, *args, **kwargs)

        return await asyncio.to_thread(call)

    async def write(self, operation: Callable[Concatenate[Session, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call ``operation(session, …)`` in a durable transaction."""

        def call() -> R:
            with self._database.write() as session:
                return operation(session, *args, **kwargs)

        return await asyncio.to_thread(call)

    async def write_soon(self, operation: Callable[Concatenate[Session, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call ``operation(session, …)`` in a transaction that a power cut may undo."""

        def call() -> R:
            with self._database.write(durable=False) as session:
                return operation(session, *args, **kwargs)

        return await asyncio.to_thread(call)

    async def _write_all(self) -> None:
        """Write batches until no update is waiting. Updates that arrive during one batch form the next."""
        while self._waiting:
            batch, self._waiting = self._waiting, []
            await self._write_and_resolve(batch)

    async def _write_and_resolve(self, batch: list[tuple[MatchUpdate, asyncio.Future[None]]]) -> None:
        try:
            stale = await self._write_batch([update for update, _ in batch])
        except Exception as error:  # noqa: BLE001  # passed on to the match that caused it
            if len(batch) == 1:
                _resolve(batch[0][1], error)
                return
            for item in batch:  # separately, so that an error of one match affects no other
                await self._write_and_resolve([item])
            return
        for update, written in batch:
            lost = StaleEpoch(f"match {update.match_id} was claimed by another runner")
            _resolve(written, lost if update.match_id in stale else None)

    async def _write_batch(self, updates: list[MatchUpdate]) -> set[str]:
        def call() -> set[str]:
            with self._database.write(durable=False) as session:
                return record_batch(session, updates)

        while True:
            try:
                return await asyncio.to_thread(call)
            except Unavailable as error:
                log.warning("batch_write_failed", extra={"reason": str(error)})
                await asyncio.sleep(RETRY_S)


def _resolve(written: asyncio.Future[None], error: Exception | None) -> None:
    if written.done():
        return
    if error is None:
        written.set_result(None)
    else:
        written.set_exception(error)
