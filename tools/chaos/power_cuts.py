"""Simulate power cuts on SQLite: what was not flushed to the disk is lost or torn, and the matches are played on.

``python -m tools.chaos.power_cuts [--cuts N] [--seed S]`` plays matches with a runner, copies the files between two
transactions, damages in each copy the part of the write-ahead log that was not flushed, and checks and resumes it.
"""

import argparse
import asyncio
import sqlite3
import struct
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random, SystemRandom
from typing import Final

from sqlalchemy import event

from referee.db.engine import Database
from tests.surroundings import settings_for
from tools.chaos.bots import RandomBots
from tools.chaos.invariants import Invariant, check_invariants, collect_evidence
from tools.chaos.service import Installation
from workers.runner import Runner

MATCHES, BOTS, ROUNDS = 8, 4, 2
HEADER, FRAME_HEADER = 32, 24  # bytes in the write-ahead log of SQLite
SECTOR = 512
# A cut may undo decisions that were asked, so these two do not hold for the questions before and after it together.
JUDGED: Final = set(Invariant) - {Invariant.ONE_BODY, Invariant.NO_REWIND, Invariant.NONE_LOST, Invariant.ONE_RUNNER}


@dataclass(frozen=True, slots=True)
class Cut:
    """Hold the files at the moment of a power cut, and what had to be on the disk by then."""

    database: bytes
    log: bytes
    flushed: int  # bytes of the log
    announced: frozenset[str]  # matches whose results bots had learned
    rows: dict[str, list[bytes]]  # recorded rows by match, flushed or not

    def damage_log(self, rng: Random) -> bytes:
        """Return the log as the disk may have it: each sector not flushed may be missing, from the end or anywhere."""
        end = rng.randint(self.flushed, len(self.log))
        log = bytearray(self.log[:end])
        if rng.random() < 0.5:
            for start in range(self.flushed, end, SECTOR):
                if rng.random() < 0.1:
                    log[start : min(start + SECTOR, end)] = bytes(min(SECTOR, end - start))
        return bytes(log)


class WatchedDatabase(Database):
    """Note how much of the write-ahead log is flushed: at the start, and after each durable commit, all of it."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._is_durable = threading.local()
        log = self.read_log()  # written by durable commits until now
        self.flushed = log[16:24], count_bytes(log)
        self._lock_writers = self._gate
        self._gate = self._note_flushes

        @event.listens_for(self._engine, "commit")
        def note_access(connection: object) -> None:
            access = connection.get_execution_options().get("referee_access")  # type: ignore[attr-defined]
            self._is_durable.now = access == "durable"

    @contextmanager
    def _note_flushes(self) -> Iterator[None]:
        with self._lock_writers():
            self._is_durable.now = False
            yield
            if self._is_durable.now:
                log = self.read_log()
                self.flushed = log[16:24], count_bytes(log)

    def read_log(self) -> bytes:
        path = Path(f"{self.url.database}-wal")
        return path.read_bytes() if path.exists() else b""

    def cut_power(self, announced: Callable[[], frozenset[str]], rows: Callable[[], dict[str, list[bytes]]]) -> Cut:
        """Return the files as they are between two transactions."""
        known = announced()
        lock: AbstractContextManager[None] = self._lock_writers()
        with lock:
            log = self.read_log()
            salts, flushed = self.flushed
            # After a checkpoint the log begins again with other salts. All before is flushed, of the new part nothing.
            flushed = flushed if log[16:24] == salts else min(HEADER, len(log))
            database = Path(str(self.url.database)).read_bytes()
            return Cut(database, log[: count_bytes(log)], flushed, known, rows())


def count_bytes(log: bytes) -> int:
    """Return how many bytes of a write-ahead log belong to its current generation."""
    if len(log) < HEADER:
        return len(log)
    (page_size,) = struct.unpack(">I", log[8:12])
    size, salts = FRAME_HEADER + page_size, log[16:24]
    end = HEADER
    while end + size <= len(log) and log[end + 8 : end + 16] == salts:
        end += size
    return end


@dataclass(slots=True)
class Rehearsal:
    """Hold the bots and all matches of a run, and the cuts."""

    bots: RandomBots
    rng: Random
    match_ids: list[str]
    cuts: list[Cut]

    def play_and_cut(self, folder: Path, count: int) -> None:
        """Play matches with a runner and cut the power ``count`` times meanwhile."""
        with Installation(folder) as service:
            for _ in range(BOTS):
                service.enlist(self.bots.serve_random())
            while len(self.cuts) < count:
                self._play_some(service, count)

    def _play_some(self, service: Installation, count: int) -> None:
        for _ in range(MATCHES):
            seats = self.rng.sample(service.bot_ids, self.rng.randint(2, BOTS))
            self.match_ids.append(service.arrange("pool-nap", seats, options={"rounds": ROUNDS}, rated=True))
        database = WatchedDatabase(f"sqlite:///{service.folder / 'referee.db'}")
        runner = threading.Thread(target=run_runner, args=[service.folder, database])
        runner.start()
        while runner.is_alive() and len(self.cuts) < count:
            runner.join(self.rng.uniform(0.002, 0.1))
            self.cuts.append(database.cut_power(self._list_announced, lambda: self._rows(service)))
        runner.join()
        database.dispose()

    def _list_announced(self) -> frozenset[str]:
        return frozenset(self.bots.notebook.ended)

    def _rows(self, service: Installation) -> dict[str, list[bytes]]:
        return {match_id: service.lines(match_id) for match_id in self.match_ids}

    def resume(self, folder: Path, cut: Cut) -> list[str]:
        """Start the service with the files of a cut, and play on. Return what is wrong."""
        folder.mkdir()
        (folder / "referee.db").write_bytes(cut.database)
        (folder / "referee.db-wal").write_bytes(cut.damage_log(self.rng))
        with closing(sqlite3.connect(folder / "referee.db")) as opened:
            damage = [line for (line,) in opened.execute("PRAGMA integrity_check") if line != "ok"]
            if damage:
                return damage
        with Installation(folder) as service:
            problems = _compare(service, cut)
            service.expire_leases()
            database = Database(str(service.database.url))
            run_runner(folder, database)
            database.dispose()
            asks = self.bots.notebook.all_asks()
            evidence = collect_evidence(service, asks, list(cut.rows), {})
            findings = check_invariants(evidence)
        broken = {invariant: finding for invariant, finding in findings.items() if invariant in JUDGED}
        return problems + [f"{invariant}: {example}" for invariant, found in broken.items() for example in found.broken]


def run_runner(folder: Path, database: Database) -> None:
    """Run a runner until nothing is due."""
    asyncio.run(Runner(settings_for(folder), database).run())


def _compare(service: Installation, cut: Cut) -> list[str]:
    """Return results that are missing although they were announced, and rows that were not recorded so."""
    results = service.results()
    problems = [f"the result of {match_id} is lost" for match_id in sorted(cut.announced - results.keys())]
    for match_id, rows in cut.rows.items():
        left = service.lines(match_id)
        if rows[: len(left)] != left:
            problems.append(f"{match_id} has rows that it did not have before the cut")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.chaos.power_cuts", description=__doc__)
    parser.add_argument("--cuts", type=int, default=100, help="Number of power cuts; 100 by default.")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**6), help="Seed of all random choices.")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="power") as folder, RandomBots(options.seed) as bots:
        broken = run_power_cuts(Rehearsal(bots, Random(options.seed), [], []), Path(folder), options.cuts)
    return 1 if broken else 0


def run_power_cuts(rehearsal: Rehearsal, folder: Path, count: int) -> dict[int, list[str]]:
    """Cut the power ``count`` times, resume from each cut, and return what is wrong by number of the cut."""
    rehearsal.play_and_cut(folder, count)
    broken = {}
    for number, cut in enumerate(rehearsal.cuts):
        if problems := rehearsal.resume(folder / f"cut-{number}", cut):
            broken[number] = problems
            print(f"cut {number}:", *problems[:5], sep="\n    ")
    unflushed = [len(cut.log) - cut.flushed for cut in rehearsal.cuts]
    unfinished = sum(len(cut.rows) - len(cut.announced) for cut in rehearsal.cuts)
    print(
        f"{len(rehearsal.cuts)} power cuts, {sum(map(bool, unflushed))} with up to {max(unflushed)} bytes not flushed; "
        f"{sum(len(cut.announced) for cut in rehearsal.cuts)} results announced before, "
        f"{unfinished} matches not over; {len(broken)} cuts broke something"
    )
    return broken


if __name__ == "__main__":
    sys.exit(main())
