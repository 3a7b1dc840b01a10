"""K1 to K4: workers that die or stand still in mid-match, each with a match of its own, and one that goes on for all.

The faults are laid once, side by side, because a lease takes its time to run out; each test looks at one of them.
"""

import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from referee.db.engine import Database
from referee.errors import Unavailable
from referee.match.log import parse_row
from referee.match.verification import verify
from tests.end_to_end.bots import Bots, Desk
from tests.end_to_end.processes import Process, gone, send
from tests.end_to_end.service import Service

FAULTS = ("worker and horse killed", "worker killed", "horse killed", "worker and horse stopped")
FIRST_HOLD, SECOND_HOLD = 6, 9
TOLERATED_S = 40.0  # 20 s are promised, and a busy machine is given more


@dataclass
class Case:
    """A match and what was done to those who played it."""

    match_id: str
    worker: Process
    horse: int
    open_question: str
    rows: list[bytes]  # recorded at the fault
    answered: list[str]
    at: float = 0.0
    horse_outlived: bool = True


@dataclass
class Aftermath:
    """All that is left to look at."""

    service: Service
    desk: Desk
    cases: dict[str, Case] = field(default_factory=dict)
    rows_before_waking: list[bytes] = field(default_factory=list)
    rows_after_waking: list[bytes] = field(default_factory=list)


@pytest.fixture(scope="module")
def aftermath(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aftermath]:
    with Bots(holds=(FIRST_HOLD, SECOND_HOLD)) as bots, Service(tmp_path_factory.mktemp("lost")) as service:
        service.begin(bots)
        left = Aftermath(service, bots.desk)
        for fault in FAULTS:
            left.cases[fault] = _in_mid_match(service, bots)
        for fault, case in left.cases.items():
            _lay(service, fault, case)
        service.worker()
        for case in left.cases.values():
            _wait_for_resumption(left, case)
        _wake_the_sleeper(left, bots, left.cases[FAULTS[3]])
        bots.release()
        service.until_finished([case.match_id for case in left.cases.values()])
        yield left


def _in_mid_match(service: Service, bots: Bots) -> Case:
    """One more worker with one match, whose bot keeps it waiting."""
    match_id = service.arrange()
    worker = service.worker(REFEREE_RUNNER_SLOTS="1")
    (question,) = service.until(lambda: bots.desk.held_of(match_id), "a question that waits")
    horse = next(one.horse for one in service.workers if one is worker)
    assert horse, service.tell()
    return Case(match_id, worker, horse, question, service.lines(match_id), list(bots.desk.answered))


def _lay(service: Service, fault: str, case: Case) -> None:
    victims = [] if fault == "horse killed" else [case.worker.pid]
    victims += [] if fault == "worker killed" else [case.horse]
    if "stopped" in fault:
        service.until(lambda: _stopped(service, victims), "a stop that leaves the database to others")
    else:
        for pid in victims:
            send(pid, signal.SIGKILL)
    case.at = time.monotonic()


def _stopped(service: Service, pids: list[int]) -> bool:
    """Stop them, unless they hold the database at that moment, which is another fault; return whether it worked."""
    for pid in pids:
        send(pid, signal.SIGSTOP)
    record = Database(str(service.database.url), write_wait_s=1.0)
    try:
        with record.write():
            return True
    except Unavailable:
        for pid in pids:
            send(pid, signal.SIGCONT)
        return False
    finally:
        record.dispose()


def _wait_for_resumption(left: Aftermath, case: Case) -> None:
    left.service.until(lambda: left.desk.times(case.open_question)[1:], "the open question, asked again")
    case.horse_outlived = not gone(case.horse)


def _wake_the_sleeper(left: Aftermath, bots: Bots, case: Case) -> None:
    """The match is in other hands and in the middle of a question when its first runner comes round."""
    left.service.until(lambda: len(left.desk.held_of(case.match_id)) == 2, "a second question that waits")
    left.rows_before_waking = left.service.lines(case.match_id)
    bots.release(case.open_question)  # the answer is there when it wakes
    send(case.worker.pid, signal.SIGCONT)
    send(case.horse, signal.SIGCONT)
    left.service.until(lambda: gone(case.horse), "the end of the horse that woke too late")
    left.rows_after_waking = left.service.lines(case.match_id)


@pytest.mark.parametrize("fault", FAULTS)
def test_K1_to_K4_another_worker_goes_on_from_the_recorded_answers_and_blames_nobody(
    aftermath: Aftermath, fault: str
) -> None:
    case = aftermath.cases[fault]

    lines = aftermath.service.lines(case.match_id)

    assert lines[: len(case.rows)] == case.rows
    assert len(case.rows) > FIRST_HOLD
    assert aftermath.service.match(case.match_id).epoch == 2
    assert verify(lines).ok
    assert not [row for row in map(parse_row, lines) if "fault" in row]
    asked = [question.id for question in aftermath.desk.of(case.match_id)]
    again = {id for id in asked if asked.count(id) > 1}
    assert not again & set(case.answered)
    assert again == {case.open_question}
    first, second = aftermath.desk.times(case.open_question)
    assert first.body == second.body
    assert second.at - case.at < TOLERATED_S


def test_K1_to_K4_a_horse_dies_with_its_worker_alone_late_ones_write_nothing_and_the_audit_is_clean(
    aftermath: Aftermath,
) -> None:
    stopped = aftermath.cases["worker and horse stopped"]

    assert not aftermath.cases["worker killed"].horse_outlived
    assert aftermath.cases["horse killed"].worker.alive
    assert aftermath.rows_before_waking == aftermath.rows_after_waking
    assert (stopped.horse_outlived, stopped.worker.alive) == (True, True)
    aftermath.service.check_all()
    assert aftermath.desk.trouble == []
