"""Look up host names in threads and in fair turns, so that the silent names of one owner delay nobody else's.

A look-up is a call of the system's resolver, which cannot be cancelled: its thread ends when the resolver gives up.
``address_guard`` vets the addresses that were found.
"""

import asyncio
import os
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, TypeVar
from weakref import WeakKeyDictionary

from referee.errors import Unavailable

T = TypeVar("T")
LookUp = Callable[[str], Sequence[str]]  # resolves a host name to numeric addresses; blocks; raises OSError

LOOK_UP_SECONDS = 2.0  # how long a caller waits for a turn, and then for the answer
MAX_TURNS: Final = 128  # look-ups under way for which somebody waits
MAX_THREADS: Final = 256  # with those that nobody waits for any more
MAX_THREADS_PER_OWNER: Final = 4
MAX_THREADS_PER_LATE_OWNER: Final = 2
RESERVED_PART: Final = 2  # half of the turns and threads are for first look-ups of owners without a late answer
LATE_FOR_S: Final = 600.0  # how long an owner whose look-up got no answer in time counts as late
CANARY_OWNER: Final = "canary"  # has turns of its own, like an owner of bots
# Answers of a resolver that works: such a name, or addresses of it, do not exist.
_NEGATIVE_ANSWERS: Final = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}


@dataclass(eq=False, slots=True)
class _NameLookup:
    """Hold one look-up, which all callers that ask for the same name at the same time share."""

    host: str
    look_up: LookUp
    callers: Counter[str] = field(default_factory=Counter)  # how many callers wait for it, by owner
    started: asyncio.Event = field(default_factory=asyncio.Event)
    answer: asyncio.Future[tuple[Sequence[str], Exception | None]] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    owner_id: str = ""  # whose thread it uses
    has_turn: bool = False


class LookUps:
    """Run the look-ups of one event loop. Owners take turns; each has a few threads, and a caller that gives up leaves.

    A look-up that all its callers gave up ends its turn immediately, and its use of a thread when the resolver returns.

    Half of the turns and threads are for owners who have no other look-up under way and lately got all answers in time.
    So silent names of many accounts keep the look-up of another waiting only if at least ``max_turns / 2`` accounts
    that were not late before ask at the same moment.
    """

    def __init__(
        self,
        *,
        max_turns: int = MAX_TURNS,
        max_threads_per_owner: int = MAX_THREADS_PER_OWNER,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds = seconds
        self._late: dict[str, float] = {}  # by owner: when a look-up got no answer in time, the earliest first
        self._max_turns = max_turns
        self._max_threads_per_owner = max_threads_per_owner
        self._jobs: dict[tuple[str, LookUp], _NameLookup] = {}
        self._waiting: dict[str, deque[_NameLookup]] = {}  # by owner, in the order of their turns
        self._threads: Counter[str] = Counter()  # by owner
        self._turns = 0

    async def find(self, host: str, look_up: LookUp, owner_id: str, *, until: float = float("inf")) -> Sequence[str]:
        """Return the answer of ``look_up`` to ``host``, or raise its error. ``until`` is a time on the loop's clock.

        Raise ``TimeoutError`` when the name, or other names of this owner, took too long. Raise ``Unavailable`` when
        the look-up could not be made for lack of a turn or a thread.
        """
        job = self._join(host, look_up, owner_id)
        try:
            self._start_waiting()
            try:
                await _wait_for(job.started.wait(), until)
            except TimeoutError:
                if self._threads[owner_id] >= self._thread_limit(owner_id):
                    raise
                raise Unavailable(f"{host} was not looked up: too many other look-ups are under way") from None
            try:
                answer, error = await _wait_for(asyncio.shield(job.answer), until)
            except TimeoutError:
                self._note_late(owner_id)
                raise
        finally:
            self._leave(job, owner_id)
        if error is not None:
            raise error
        return answer

    def _join(self, host: str, look_up: LookUp, owner_id: str) -> _NameLookup:
        job = self._jobs.get((host, look_up))
        if job is None:
            job = self._jobs[host, look_up] = _NameLookup(host, look_up)
        if not job.started.is_set() and not job.callers[owner_id]:
            self._waiting.setdefault(owner_id, deque()).append(job)
        job.callers[owner_id] += 1
        return job

    def _leave(self, job: _NameLookup, owner_id: str) -> None:
        job.callers[owner_id] -= 1
        if not job.started.is_set() and not job.callers[owner_id]:
            self._waiting[owner_id].remove(job)
            if not self._waiting[owner_id]:
                del self._waiting[owner_id]
        if job.callers.total() == 0:
            if not job.started.is_set():
                del self._jobs[job.host, job.look_up]
            self._end_turn(job)
            self._start_waiting()

    def _start_waiting(self) -> None:
        """Start look-ups in turn, as long as there is room: first those for which places are reserved."""
        while self._waiting:
            owner_id = self._next_owner()
            if owner_id is None:
                return
            jobs = self._waiting.pop(owner_id)
            job = jobs.popleft()
            if jobs:
                self._waiting[owner_id] = jobs  # behind all others
            if not job.started.is_set():  # by the turn of another owner who asked for the same name
                self._start(job, owner_id)

    def _next_owner(self) -> str | None:
        """Return the owner whose look-up is next, or None if there is no room for any."""
        if self._turns >= self._max_turns or self._threads.total() >= MAX_THREADS:
            return None
        if (first := next(filter(self._is_first, self._waiting), None)) is not None:
            return first
        shared_turns = max(1, self._max_turns - self._max_turns // RESERVED_PART)
        if self._turns >= shared_turns or self._threads.total() >= MAX_THREADS - MAX_THREADS // RESERVED_PART:
            return None
        others = (owner for owner in self._waiting if self._threads[owner] < self._thread_limit(owner))
        return min(others, key=lambda owner: self._threads[owner], default=None)

    def _is_first(self, owner_id: str) -> bool:
        """Return whether the reserved places are for the next look-up of this owner, too."""
        if owner_id == CANARY_OWNER:
            return self._threads[owner_id] < self._max_threads_per_owner
        return not self._threads[owner_id] and not self._is_late(owner_id)

    def _thread_limit(self, owner_id: str) -> int:
        late = min(MAX_THREADS_PER_LATE_OWNER, self._max_threads_per_owner)
        return late if self._is_late(owner_id) else self._max_threads_per_owner

    def _is_late(self, owner_id: str) -> bool:
        return self._seconds() - self._late.get(owner_id, float("-inf")) < LATE_FOR_S

    def _note_late(self, owner_id: str) -> None:
        """Note that a look-up of this owner got no answer in time. Forget what is no longer recent."""
        self._late.pop(owner_id, None)
        self._late[owner_id] = self._seconds()
        while not self._is_late(oldest := next(iter(self._late))):
            del self._late[oldest]

    def _start(self, job: _NameLookup, owner_id: str) -> None:
        job.owner_id, job.has_turn = owner_id, True
        job.started.set()
        self._turns += 1
        self._threads[owner_id] += 1
        run = threading.Thread(target=_run, args=(asyncio.get_running_loop(), job, self._end), name="look-up")
        run.daemon = True  # the end of the process need not wait for a resolver
        try:
            run.start()
        except RuntimeError as error:
            self._settle(job, (), Unavailable(f"{job.host} was not looked up: {error}"))

    def _end(self, job: _NameLookup, answer: Sequence[str], error: Exception | None) -> None:
        self._settle(job, answer, error)
        self._start_waiting()

    def _settle(self, job: _NameLookup, answer: Sequence[str], error: Exception | None) -> None:
        del self._jobs[job.host, job.look_up]
        self._end_turn(job)
        self._threads[job.owner_id] -= 1
        if not self._threads[job.owner_id]:
            del self._threads[job.owner_id]
        job.answer.set_result((answer, error))

    def _end_turn(self, job: _NameLookup) -> None:
        self._turns -= job.has_turn
        job.has_turn = False


Settle = Callable[[_NameLookup, Sequence[str], Exception | None], None]


def _run(loop: asyncio.AbstractEventLoop, job: _NameLookup, end: Settle) -> None:
    """Make the look-up, in its thread, and pass the answer on to the event loop."""
    answer: Sequence[str] = ()
    error: Exception | None = None
    try:
        answer = job.look_up(job.host)
    except Exception as failure:  # noqa: BLE001  # passed on to the callers
        error = failure
    with suppress(RuntimeError):  # the loop was closed meanwhile
        loop.call_soon_threadsafe(end, job, answer, error)


async def _wait_for(work: Awaitable[T], until: float) -> T:
    async with asyncio.timeout_at(min(asyncio.get_running_loop().time() + LOOK_UP_SECONDS, until)):
        return await work


_BY_LOOP: WeakKeyDictionary[asyncio.AbstractEventLoop, LookUps] = WeakKeyDictionary()


def look_ups() -> LookUps:
    """Return the look-ups of the running event loop. A forked process runs a loop of its own."""
    return _BY_LOOP.setdefault(asyncio.get_running_loop(), LookUps())


def system_look_up(host: str) -> list[str]:
    """Resolve a name with the resolver of the system. Block the thread.

    Raise ``OSError`` if the look-up fails, and ``Unavailable`` if that may be for lack of file descriptors.
    """
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    except OSError:
        _require_descriptors(host)
        raise
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _require_descriptors(host: str) -> None:
    """Raise ``Unavailable`` if this process can open no files. The resolver then says that a name does not exist."""
    try:
        with open(os.devnull), open(os.devnull):
            pass
    except OSError as error:
        raise Unavailable(f"{host} was not looked up: {error}") from None


async def is_resolver_working(canary: str, look_up: LookUp | None = None) -> bool:
    """Return whether the resolver answers for the name ``canary``, be it that the name does not exist."""
    try:
        await look_ups().find(canary, look_up or system_look_up, CANARY_OWNER)
    except socket.gaierror as error:
        return error.errno in _NEGATIVE_ANSWERS
    except (OSError, Unavailable):
        return False
    return True
