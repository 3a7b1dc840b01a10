"""What happens to the hosts of a site, one scenario after the other. ``campaign`` starts the site and judges it."""

import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psycopg

from tools.hosts.service import DATABASE, DistributedService
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


class ScenarioNotTested(Exception):
    """Raised by a scenario that could not be made to happen; the message says why."""


@dataclass(slots=True)
class ScenarioContext:
    """Give a scenario what it acts on. ``cut_s`` is for how long hosts are cut off or frozen."""

    site: DistributedService
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


def is_at_work(context: ScenarioContext, name: str, since: float) -> bool:
    """Return whether a host has asked a bot or answers over HTTP."""
    if name in context.apis:
        return context.site.answers(name)
    address = context.site.lan[name].address
    return any(ask.host == address and ask.at > since for ask in context.workload.bots.notebook.asks[-200:])


def calm(context: ScenarioContext) -> None:
    """Let nothing happen."""
    context.workload.play(CALM_S)


def cut_off_worker(context: ScenarioContext) -> None:
    """Cut a worker host off from everything, and connect it again."""
    _cut(context, context.workers[0])


def cut_off_from_database(context: ScenarioContext) -> None:
    """Let a worker host hear nothing from the database, while it reaches the bots."""
    site, name = context.site, context.workers[-1]
    site.lan[DATABASE].drop_to(site.lan[name])
    try:
        context.workload.play(context.cut_s)
    finally:
        site.lan[DATABASE].reach(site.lan[name])
    context.workload.play(min(AFTER_S, context.cut_s / 3))


def cut_off_api(context: ScenarioContext) -> None:
    """Cut off an API host, which also has a scheduler, from everything, and connect it again."""
    _cut(context, context.apis[0])


def _cut(context: ScenarioContext, name: str) -> None:
    host = context.site.lan[name]
    host.cut()
    try:
        context.workload.play(context.cut_s)
    finally:
        host.mend()
    context.workload.play(min(AFTER_S, context.cut_s / 3))


def freeze_in_transaction(context: ScenarioContext) -> None:
    """Stop all processes of a worker host while one of its transactions holds locks; let them go on later."""
    name = context.workers[-1]
    try:
        locks = _stop_in_transaction(context, name)
        context.notes.append(f"locks held: {locks}")
        context.workload.play(context.cut_s)
    finally:
        context.site.signal_host(name, signal.SIGCONT)
    context.workload.play(min(AFTER_S, context.cut_s / 3))


def _stop_in_transaction(context: ScenarioContext, name: str) -> str:
    """Stop the host, and look whether it holds locks; otherwise let it go on, and try again."""
    address = context.site.lan[name].address
    with psycopg.connect(context.site.server.url("postgres"), autocommit=True) as connection:
        for attempt in range(ATTEMPTS):
            context.site.signal_host(name, signal.SIGSTOP)
            time.sleep(0.02)  # for statements that the database is executing
            (locks,) = connection.execute(_HOLDING, [address]).fetchone() or ("",)
            if locks:
                context.notes.append(f"attempt {attempt + 1}")
                return str(locks)
            context.site.signal_host(name, signal.SIGCONT)
            context.workload.play(context.workload.rng.uniform(0.01, 0.1))
    raise ScenarioNotTested(f"{name} held no locks in {ATTEMPTS} random moments")


def lose_power(context: ScenarioContext) -> None:
    """Let a worker host lose its power, and start it again later."""
    name = context.workers[0]
    context.site.kill_host(name)
    context.workload.play(context.cut_s / 2)
    context.site.lan[name].mend()
    context.start(name)


def restart_in_turn(context: ScenarioContext) -> None:
    """Stop and start every host with workers or an API, one after the other."""
    for name in [*context.workers, *context.apis]:
        context.restart(name)


def run_two_versions(context: ScenarioContext) -> None:
    """Run an older version on one host of each kind, then the current one on all again."""
    try:
        other = unpack_oldest(context.site.folder / "other-version")
    except NoOtherVersion as error:
        raise ScenarioNotTested(str(error)) from error
    context.notes.append(other.title)
    for name in (context.workers[0], context.apis[0]):
        own = context.site.hosts[name].checkout
        _run_version(context, name, other.checkout)
        context.workload.play(SIDE_BY_SIDE_S / 2)
        _run_version(context, name, own)


def _run_version(context: ScenarioContext, name: str, checkout: Path) -> None:
    context.site.use_version(name, checkout)
    context.restart(name)


SCENARIOS: Final[Mapping[str, Callable[[ScenarioContext], None]]] = {
    "calm": calm,
    "worker cut off": cut_off_worker,
    "worker cut off from the database": cut_off_from_database,
    "API cut off": cut_off_api,
    "worker frozen in a transaction": freeze_in_transaction,
    "worker loses power": lose_power,
    "rolling restart": restart_in_turn,
    "two versions": run_two_versions,
}
