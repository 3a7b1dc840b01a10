"""What happens to the hosts of a site, one scenario after the other. ``campaign`` starts the site and judges it."""

import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psycopg

from tools.hosts.site import DATABASE, Site
from tools.hosts.versions import NoOtherVersion, unpack_oldest
from tools.hosts.workload import Workload

WARM_UP_S, CALM_S, AFTER_S = 4.0, 15.0, 20.0
CUT_S = 60.0
ATTEMPTS = 400  # to stop a host inside a transaction
SIDE_BY_SIDE_S = 40.0
_HOLDING = """
    SELECT coalesce(string_agg(DISTINCT lock.locktype, ', '), '') FROM pg_stat_activity AS session
    JOIN pg_locks AS lock ON lock.pid = session.pid AND lock.granted
    WHERE session.client_addr = %s AND session.state LIKE 'idle in transaction%%'
      AND (session.backend_xid IS NOT NULL OR lock.locktype = 'advisory')
      AND lock.locktype IN ('advisory', 'transactionid')
"""


class NotTested(Exception):
    """Raised by a scenario that could not be made to happen; the message says why."""


@dataclass(slots=True)
class Stage:
    """Give a scenario what it acts on. ``cut_s`` is for how long hosts are cut off or frozen."""

    site: Site
    workload: Workload
    cut_s: float = CUT_S
    notes: list[str] = field(default_factory=list)

    @property
    def workers(self) -> list[str]:
        return self.site.names_of("worker")

    @property
    def apis(self) -> list[str]:
        return self.site.names_of("api")

    def restart(self, name: str) -> None:
        """Stop a host and start it again; go on when it is at work."""
        self.site.stop_host(name)
        self.start(name)

    def start(self, name: str) -> None:
        began = time.monotonic()
        self.site.start_host(name)
        self.workload.play_until(lambda: is_at_work(self, name, began), f"work of {name}")


def is_at_work(stage: Stage, name: str, since: float) -> bool:
    """Return whether a host has asked a bot or answers over HTTP."""
    if name in stage.apis:
        return stage.site.answers(name)
    address = stage.site.lan[name].address
    return any(ask.host == address and ask.at > since for ask in stage.workload.bots.notebook.asks[-200:])


def calm(stage: Stage) -> None:
    """Nothing happens."""
    stage.workload.play(CALM_S)


def cut_off_worker(stage: Stage) -> None:
    """A worker host is cut off from everything, and comes back."""
    _cut(stage, stage.workers[0])


def cut_off_from_database(stage: Stage) -> None:
    """A worker host hears nothing from the database, but reaches the bots."""
    site, name = stage.site, stage.workers[-1]
    site.lan[DATABASE].drop_to(site.lan[name])
    try:
        stage.workload.play(stage.cut_s)
    finally:
        site.lan[DATABASE].reach(site.lan[name])
    stage.workload.play(AFTER_S)


def cut_off_api(stage: Stage) -> None:
    """An API host, which also has a scheduler, is cut off from everything, and comes back."""
    _cut(stage, stage.apis[0])


def _cut(stage: Stage, name: str) -> None:
    host = stage.site.lan[name]
    host.cut()
    try:
        stage.workload.play(stage.cut_s)
    finally:
        host.mend()
    stage.workload.play(AFTER_S)


def freeze_in_transaction(stage: Stage) -> None:
    """All processes of a worker host stop while one of its transactions holds locks, and go on later."""
    name = stage.workers[-1]
    try:
        locks = _stop_in_transaction(stage, name)
        stage.notes.append(f"locks held: {locks}")
        stage.workload.play(stage.cut_s)
    finally:
        stage.site.signal_host(name, signal.SIGCONT)
    stage.workload.play(AFTER_S)


def _stop_in_transaction(stage: Stage, name: str) -> str:
    """Stop the host, and look whether it holds locks; otherwise let it go on, and try again."""
    address = stage.site.lan[name].address
    with psycopg.connect(stage.site.server.url("postgres"), autocommit=True) as connection:
        for attempt in range(ATTEMPTS):
            stage.site.signal_host(name, signal.SIGSTOP)
            time.sleep(0.02)  # for statements that the database is executing
            (locks,) = connection.execute(_HOLDING, [address]).fetchone() or ("",)
            if locks:
                stage.notes.append(f"attempt {attempt + 1}")
                return str(locks)
            stage.site.signal_host(name, signal.SIGCONT)
            stage.workload.play(stage.workload.rng.uniform(0.01, 0.1))
    raise NotTested(f"{name} held no locks in {ATTEMPTS} random moments")


def lose_power(stage: Stage) -> None:
    """A worker host loses its power, and is started again later."""
    name = stage.workers[0]
    stage.site.kill_host(name)
    stage.workload.play(stage.cut_s / 2)
    stage.site.lan[name].mend()
    stage.start(name)


def restart_in_turn(stage: Stage) -> None:
    """Every host is stopped and started, one after the other."""
    for name in [*stage.workers, *stage.apis]:
        stage.restart(name)


def run_two_versions(stage: Stage) -> None:
    """One host of each kind runs an older version, then all run the current one again."""
    try:
        other = unpack_oldest(stage.site.folder / "other-version")
    except NoOtherVersion as error:
        raise NotTested(str(error)) from error
    stage.notes.append(other.title)
    for name in (stage.workers[0], stage.apis[0]):
        own = stage.site.hosts[name].checkout
        _run_version(stage, name, other.checkout)
        stage.workload.play(SIDE_BY_SIDE_S / 2)
        _run_version(stage, name, own)


def _run_version(stage: Stage, name: str, checkout: Path) -> None:
    stage.site.use_version(name, checkout)
    stage.restart(name)


SCENARIOS: Final[Mapping[str, Callable[[Stage], None]]] = {
    "calm": calm,
    "worker cut off": cut_off_worker,
    "worker cut off from the database": cut_off_from_database,
    "API cut off": cut_off_api,
    "worker frozen in a transaction": freeze_in_transaction,
    "worker loses power": lose_power,
    "rolling restart": restart_in_turn,
    "two versions": run_two_versions,
}
