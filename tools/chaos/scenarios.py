"""Short scenarios with one injury at a chosen moment, each of which shows a planted fault quickly and surely."""

import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from sqlalchemy import text

from referee.db.engine import Database
from referee.errors import Unavailable
from tests.database import postgres
from tests.end_to_end.processes import Process, send
from tools.chaos import planted
from tools.chaos.bots import Ask, RandomBots, hold_from
from tools.chaos.invariants import (
    Invariant,
    InvariantReport,
    check_invariants,
    check_kept_runners,
    collect_evidence,
)
from tools.chaos.service import Installation

HELD_QUESTION = 5
LOCKED_S = 12.0  # longer than two writers wait: the second confirms the claim before the next question
LOOKS = 3  # of an idle runner for work, after which it would have claimed what it can


@dataclass(slots=True)
class Scene:
    """Hold what a scenario acts on: a service without processes, and two bots."""

    service: Installation
    bots: RandomBots
    match_ids: list[str] = field(default_factory=list)
    rows: dict[str, list[bytes]] = field(default_factory=dict)
    findings: dict[Invariant, InvariantReport] = field(default_factory=dict)

    def start_match(self, *, held_question: int = HELD_QUESTION) -> tuple[str, Process, Ask]:
        """Arrange a match, start a runner, and return when a bot holds the question with this number."""
        self.bots.holds = hold_from(self.bots.notebook, held_question)
        match_id = self.service.arrange(rated=True)
        self.match_ids.append(match_id)
        runner = self.service.runner()
        ask = self.wait_for_held(match_id)
        self.rows[match_id] = self.service.lines(match_id)
        return match_id, runner, ask

    def wait_for_held(self, match_id: str, count: int = 1) -> Ask:
        found: list[Ask] = self.service.until(
            lambda: len(asks := self.bots.held_asks(match_id)) >= count and asks, "a question that is held"
        )
        return found[-1]

    def replace_runner(self, runner: Process) -> Process:
        """Kill a runner, let its leases expire, and start another."""
        runner.kill()
        self.service.until(self._expire_leases, "a database that can be written")
        return self.service.runner()

    def _expire_leases(self) -> bool:
        with suppress(Unavailable):
            self.service.expire_leases()
            return True
        return False

    def play_on(self) -> None:
        """Release all questions and wait until all matches have ended or nothing happens any more."""
        self.bots.release()
        with suppress(AssertionError):  # matches that do not end break an invariant
            self.service.until_finished(self.match_ids)

    def check(self) -> dict[Invariant, InvariantReport]:
        evidence = collect_evidence(self.service, self.bots.notebook.all_asks(), self.match_ids, self.rows)
        return check_invariants(evidence) | self.findings


def kill_runner(scene: Scene) -> None:
    """Kill a runner in the middle of a match."""
    _, runner, _ = scene.start_match()
    scene.replace_runner(runner)
    scene.play_on()


def freeze_runner(scene: Scene) -> None:
    """Stop a runner until another has taken over its match, then let it continue with an answer in its hands."""
    match_id, first, ask = scene.start_match()
    scene.service.until(lambda: _stop(scene, first), "a stop that leaves the database to others")
    scene.service.expire_leases()
    second = scene.service.runner()
    scene.wait_for_held(match_id, 2)
    asked = len(scene.bots.notebook.asks_of(match_id))
    scene.bots.release_asks(ask)
    send(first.pid, signal.SIGCONT)
    scene.service.until(
        lambda: b"claim_lost" in first.log.read_bytes() or len(scene.bots.notebook.asks_of(match_id)) > asked,
        "the next step of the runner that was stopped",
    )
    assert second.alive
    scene.play_on()


def _stop(scene: Scene, runner: Process) -> bool:
    """Stop the runner, unless it is in a transaction. Return whether it is stopped."""
    send(runner.pid, signal.SIGSTOP)
    try:
        with scene.service.database.write() as session:
            session.execute(text("UPDATE matches SET lost_claims = lost_claims"))
    except Unavailable:
        send(runner.pid, signal.SIGCONT)
        return False
    return True


def play(scene: Scene) -> None:
    """Play a match without any injury."""
    scene.start_match()
    scene.play_on()


def kill_after_result(scene: Scene) -> None:
    """Kill a runner as soon as a match has its result."""
    _, runner, _ = scene.start_match()
    scene.play_on()
    runner.kill()


def jump_clock(scene: Scene) -> None:
    """Set the wall clock ahead by an hour in the middle of a match, while another runner has nothing to do.

    The runner of the match is stopped meanwhile, much shorter than its lease lasts: otherwise it could renew its lease
    by the new time before the other runner looks.
    """
    match_id, runner, _ = scene.start_match()
    idle = scene.service.runner()
    _wait_for_looks(scene, idle)
    scene.service.until(lambda: _stop(scene, runner), "a stop that leaves the database to others")
    scene.service.jump_clock(3600.0)
    _wait_for_looks(scene, idle)
    send(runner.pid, signal.SIGCONT)
    scene.play_on()
    evidence = collect_evidence(scene.service, [], [match_id], {})
    scene.findings[Invariant.KEPT_RUNNER] = check_kept_runners(evidence)


def _wait_for_looks(scene: Scene, idle: Process) -> None:
    """Wait until an idle runner has looked for work some more times, or has found some."""

    def looks() -> int:
        return idle.log.read_bytes().count(b"runner_finished")

    before, asked = looks(), len(scene.bots.notebook.asks)
    scene.service.until(
        lambda: looks() >= before + LOOKS or len(scene.bots.notebook.asks) > asked, "looks of an idle runner for work"
    )


def lock_and_kill(scene: Scene) -> None:
    """Let an outside writer lock the database when an answer must be recorded, then kill the runner."""
    match_id, runner, ask = scene.start_match()
    asked = scene.bots.notebook.count_different(match_id)
    with scene.service.writing_by_hand():
        scene.bots.release_asks(ask)
        end = time.monotonic() + LOCKED_S
        with suppress(AssertionError):
            scene.service.until(
                lambda: time.monotonic() > end or scene.bots.notebook.count_different(match_id) > asked, "the end"
            )
        runner.kill()
    scene.replace_runner(runner)
    scene.play_on()


def kill_backend(scene: Scene) -> None:
    """Kill a process of PostgreSQL twice in the middle of a match, as the kernel does when memory runs out."""
    server = scene.service.server
    assert server is not None
    match_id, runner, _ = scene.start_match()
    server.crash()
    scene.bots.holds = hold_from(scene.bots.notebook, 2 * HELD_QUESTION)
    runner = scene.replace_runner(runner)
    scene.bots.release_asks()
    scene.wait_for_held(match_id)
    server.crash()
    scene.replace_runner(runner)
    scene.play_on()


def think_long(scene: Scene) -> None:
    """Write to the row of a match while one of its bots thinks."""
    match_id, _, _ = scene.start_match()
    stranger = Database(scene.service.database.url.render_as_string(hide_password=False), write_wait_s=1.0)
    finding = scene.findings[Invariant.NO_LOCK] = InvariantReport(1)
    try:
        with stranger.write() as session:
            session.execute(text("UPDATE matches SET lost_claims = lost_claims WHERE id = :id"), {"id": match_id})
    except Unavailable as error:
        finding.broken.append(f"{match_id}: {error}")
    finally:
        stranger.dispose()
    scene.play_on()


class Exposure(NamedTuple):
    """Name the scenario that shows a planted fault, and an invariant that it breaks.

    ``example`` is part of the description of a case, where any crash would break the same invariant. ``database`` is
    "any", or the only one on which the fault acts.
    """

    scenario: Callable[[Scene], None]
    breaks: Invariant
    example: str = ""
    database: str = "any"


EXPOSURES: Final[Mapping[str, Exposure]] = {
    "no epoch check": Exposure(freeze_runner, Invariant.ONE_RUNNER),
    "no unique result": Exposure(play, Invariant.FINISHED_ONCE, "finished, 2 results"),
    "rating outside the transaction": Exposure(kill_after_result, Invariant.AUDIT, "expected an entry for result"),
    "wall-clock lease": Exposure(jump_clock, Invariant.KEPT_RUNNER, database="sqlite"),
    "commit not flushed": Exposure(kill_backend, Invariant.NO_REWIND, database="postgresql"),
    "asked before the commit": Exposure(lock_and_kill, Invariant.NO_REWIND),
    "swallowed timeout": Exposure(lock_and_kill, Invariant.NO_REWIND),
    "replay from scratch": Exposure(kill_runner, Invariant.NO_REWIND),
    "lock held across a question": Exposure(think_long, Invariant.NO_LOCK),
}
SCENARIOS: Final = tuple(dict.fromkeys(exposure.scenario for exposure in EXPOSURES.values()))
# With these settings nothing is flushed by chance within the seconds of a scenario.
LAZY_FLUSH: Final = {"wal_writer_delay": "10s", "wal_writer_flush_after": "100MB"}


def run_scenario(
    scenario: Callable[[Scene], None], folder: Path, *, fault: str = "", server: postgres.Server | None = None
) -> dict[Invariant, InvariantReport]:
    """Run a scenario with a new service in ``folder``, with a planted fault if one is named. Return the findings.

    Raise ``AssertionError`` if the planted fault was never reached.
    """
    with RandomBots() as bots, Installation(folder, server, fault=fault) as service:
        if fault == "no unique result":
            planted.allow_two_results(service.database)
        for _ in range(2):
            service.enlist(bots.serve_random())
        scene = Scene(service, bots)
        try:
            scenario(scene)
        finally:
            bots.release()
        if fault and not service.has_fault_acted():
            raise AssertionError(f"No process reached the planted fault {fault!r}: it does not meet the code any more.")
        return scene.check()
