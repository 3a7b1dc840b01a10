"""The steps of the test, in order: what an operator does, and what fails meanwhile. Each returns what it saw."""

import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

import httpx

from referee.db.revisions import required_revision
from tools.compose.engine import CommandFailed, run
from tools.compose.images import find_python_image
from tools.compose.stack import BOTS_NETWORK, BOTS_RANGE, LASTING, MAKE_ENV, PROJECT, ROOT, VERSION, Stack
from tools.hosts.versions import NoOtherVersion, unpack_previous_schema

BOTS, CYCLES, LATENCY_MS = 4, 5, 60
PREVIOUS, NEXT = "referee:previous", "referee:next"
NEXT_IMAGE = f"""\
FROM referee:{VERSION}
USER 0
COPY next.py /tmp/next.py
RUN python -c "import shutil; from referee.db.revisions import MIGRATIONS as folder; \\
    shutil.copy('/tmp/next.py', folder / 'versions/9999_next.py')"
USER 10001:10001
"""
NEXT_MIGRATION = f"""\
from alembic import op
from sqlalchemy import Column, Integer

revision, down_revision, branch_labels, depends_on = "9999", "{required_revision()}", None, None


def upgrade():
    op.add_column("installation", Column("next", Integer))
"""
END_S = RATED_S = 240.0
PROBES_S = 15.0
IN_TOURNAMENT = "tournament_id IS NOT NULL"
UNFINISHED = "status NOT IN ('finished', 'cancelled')"
BACKUP = "/backups/backup.tar"
MEMORY_MB = 2**20


class StepNotTested(Exception):
    """Raised by a step that cannot be done here; the message says why."""


def build_image(stack: Stack) -> str:
    stack.compose("build", "api", timeout_s=1800)
    said = stack.docker("run", "--rm", "--entrypoint", "referee", f"referee:{VERSION}", "--version").strip()
    assert said.replace("+", "-").endswith(f" {VERSION}"), said
    return said


def play_sample_bot(stack: Stack) -> str:
    """Use what `make env` writes, and wait until the sample bot has a rated match. Take everything down again."""
    stack.use_settings(MAKE_ENV["choose_values"](VERSION))
    stack.compose("up", "-d", timeout_s=600)
    stack.wait_until_up()
    rated_s = stack.until(lambda: stack.count("rating_changes") > 0, "a rated match of the sample bot", RATED_S)
    with stack.engine.enter_network():
        status = httpx.get("http://127.0.0.1:8080/ladders", timeout=15, trust_env=False).status_code
    assert status == 200, f"the page of the ladders was answered with {status}"
    take_down(stack)
    stack.write_settings()
    return f"the first rated match had ended {rated_s:.0f} s after the services were up"


def bring_up(stack: Stack) -> str:
    stack.compose("up", "-d", timeout_s=600)
    stack.wait_until_up()
    stack.until(stack.has_answer, "an answer through the proxy with TLS")
    refused = stack.request("/", host="elsewhere.test").status_code
    assert refused == 400, f"a request for another host was answered with {refused}"
    return f"all services are up; /readyz says {stack.request('/readyz').text.strip()[:100]}"


def create_organiser(stack: Stack) -> str:
    said = stack.compose("exec", "-T", "worker", "referee", "admin", "create", "Jane Doe", "--role", "organiser")
    stack.token = next(word for word in said.split() if word.startswith("ref_") or len(word) > 40)
    return "the account has a token"


def load_firewall(stack: Stack) -> str:
    """Load the rules for workers, and see that they keep a worker from its host but not from the bots."""
    with stack.engine.enter_network(), socket.create_server(("0.0.0.0", 0)) as listener:  # in the engine's network
        port = listener.getsockname()[1]
        assert _reaches_host(stack, port), "a worker cannot reach its host even without a firewall"
        run(["nft", "-f", str(ROOT / "deploy/egress.nft")], {})
        assert not _reaches_host(stack, port), "a worker reaches its host in spite of the firewall"
    return "deploy/egress.nft is loaded, and keeps workers from their host"


def _reaches_host(stack: Stack, port: int) -> bool:
    """Return whether a worker can connect to a port of the host."""
    worker = stack.containers("worker")[0]
    networks = stack.inspect(worker)["NetworkSettings"]["Networks"]
    gateway = networks[f"{PROJECT}_egress"]["Gateway"]
    program = f"import socket; socket.create_connection(({gateway!r}, {port}), 3)"
    try:
        stack.docker("exec", worker, "python", "-c", program)
    except CommandFailed:
        return False
    return True


def register_bots(stack: Stack) -> str:
    """Serve house players in containers, on a network with public addresses, and register them."""
    stack.docker(
        *("network", "create", "--subnet", f"{BOTS_RANGE}.0/24"),
        *("--opt", f"com.docker.network.bridge.name={BOTS_NETWORK}", BOTS_NETWORK),
    )
    # The engine keeps its networks apart, but workers must reach the bots as if they were on the internet.
    for source, target in ((BOTS_NETWORK, "ref-egress"), ("ref-egress", BOTS_NETWORK)):
        with stack.engine.enter_network():
            run(["iptables", "-I", "DOCKER-USER", "-i", source, "-o", target, "-j", "ACCEPT"], {})
    secrets = stack.folder / "secrets"
    secrets.mkdir()
    for number in range(1, BOTS + 1):
        _serve_bot(stack, number)
    for number in range(1, BOTS + 1):
        url = f"http://{BOTS_RANGE}.{10 + number}:9000"
        stack.referee("register", url, "--name", f"Bot {number}", "--secret-file", str(secrets / f"{number}"))
    return f"{BOTS} bots in containers are registered and certified"


def _serve_bot(stack: Stack, number: int) -> None:
    command = ["referee", "house", "serve", "house:2", "--host", "0.0.0.0", "--secret-file", f"/secrets/{number}"]
    stack.docker(
        *("run", "--detach", "--name", f"{PROJECT}-bot{number}", "--user", "0", "--network", BOTS_NETWORK),
        *(
            "--ip",
            f"{BOTS_RANGE}.{10 + number}",
            "--volume",
            f"{stack.folder}/secrets:/secrets",
            f"referee:{VERSION}",
        ),
        *(*command, "--latency-ms", str(LATENCY_MS), "--game", "pool-nap"),
    )


def play_tournament(stack: Stack) -> str:
    began = time.monotonic()
    start_tournament(stack, "First")
    matches = finish_tournaments(stack)
    return f"{matches} matches in {time.monotonic() - began:.1f} s"


def start_tournament(stack: Stack, name: str, *, cycles: int = CYCLES) -> None:
    form = ["--game", "pool-nap", "--seats", "2", "--unrated", "--option", "rounds=4", "--cycles", str(cycles)]
    stack.referee("tournament", "create", name, *form, "--open")
    stack.referee("tournament", "enter", name, *(f"Bot {number}" for number in range(1, BOTS + 1)))
    stack.referee("tournament", "start", name)


def finish_tournaments(stack: Stack) -> int:
    """Wait until all tournaments are over; return how many of their matches have a result. Raise if one lacks it."""
    stack.until(
        lambda: stack.count("tournaments", UNFINISHED) == 0,
        "the end of all tournaments",
        END_S,
    )
    lacking = stack.count("matches", "status = 'finished' AND id NOT IN (SELECT match_id FROM results)")
    assert not lacking, f"{lacking} finished matches have no result"
    unfinished = stack.count("matches", f"{IN_TOURNAMENT} AND {UNFINISHED}")
    assert not unfinished, f"{unfinished} matches have not ended"
    return count_results(stack)


def count_results(stack: Stack) -> int:
    """Return how many matches of tournaments have a result. The service also plays matches on official ladders."""
    return stack.count("results", f"match_id IN (SELECT id FROM matches WHERE {IN_TOURNAMENT})")


def scale_workers(stack: Stack) -> str:
    stack.compose("up", "-d", "--scale", "worker=3", "--no-recreate")
    stack.wait_until_up()
    found = len(stack.containers("worker"))
    assert found == 3, f"{found} containers of worker run"
    return "3 workers"


def kill_each_service(stack: Stack) -> str:
    """Kill a container's process of each service during a tournament; the engine restarts it."""
    start_tournament(stack, "Second")
    seconds = {service: _kill_service(stack, service) for service in LASTING}
    matches = finish_tournaments(stack)
    again = ", ".join(f"{service} {until_up:.1f} s" for service, until_up in seconds.items())
    return f"{matches} matches have results; up again after: {again}"


def _kill_service(stack: Stack, service: str) -> float:
    """Kill a container's first process; return how long it took until the service answered again."""
    container = stack.containers(service)[0]
    restarts = stack.inspect(container)["RestartCount"]
    stack.kill_process(container)
    stack.until(lambda: stack.inspect(container)["RestartCount"] > restarts, f"a restart of {service}")
    return stack.until(lambda: stack.is_up(service) and stack.has_answer(), f"{service} is up after a kill")


def restart_each_service(stack: Stack) -> str:
    start_tournament(stack, "Third")
    for service in LASTING:
        stack.compose("restart", service)
        stack.wait_until_up([service])
    stack.until(stack.has_answer, "an answer through the proxy")
    return f"{finish_tournaments(stack)} matches have results"


def kill_one_api(stack: Stack) -> str:
    """Kill one of two API containers for good, and ask the service meanwhile: the other one answers."""
    stack.compose("up", "-d", "--scale", "worker=3", "--scale", "api=2", "--no-recreate")
    stack.until(lambda: len(stack.containers("api")) == 2 and stack.is_up("api"), "two API containers")
    time.sleep(6)  # until the proxy has asked for their addresses again, which it does every 5 s
    statuses: Counter[int] = Counter()
    slowest = 0.0
    killer = threading.Timer(1.0, lambda: stack.docker("kill", stack.containers("api")[0]))
    killer.start()
    end = time.monotonic() + PROBES_S
    while time.monotonic() < end:
        began = time.monotonic()
        try:
            statuses[stack.request("/api/v1/tournaments").status_code] += 1
        except httpx.HTTPError as error:
            raise AssertionError(f"no answer after {time.monotonic() - began:.1f} s: {error!r}") from error
        slowest = max(slowest, time.monotonic() - began)
    killer.join()
    assert set(statuses) == {200}, f"answers by status: {dict(statuses)}"
    stack.compose("up", "-d", "--scale", "worker=3", "--scale", "api=1")
    stack.wait_until_up()
    return f"{statuses.total()} requests, all answered with 200, the slowest after {slowest:.1f} s"


def back_up_and_restore(stack: Stack) -> str:
    """Back up, play on, and restore: what came after the backup is gone, and the audit finds no difference."""
    mount = _back_up(stack)
    saved = count_results(stack)
    start_tournament(stack, "After the backup")
    finish_tournaments(stack)
    stack.compose("stop", *(service for service in LASTING if service != "postgres"))
    run_in = ["run", "--rm", "-T", "--volume", mount, "worker", "referee"]
    stack.compose(*run_in, "restore", "--replace", BACKUP)
    restored = count_results(stack)
    assert restored == saved, f"{restored} results instead of {saved}"
    stack.compose("up", "-d")
    stack.wait_until_up()
    stack.until(stack.has_answer, "an answer after the restore")
    stack.referee("tournament", "show", "First")
    return f"{saved} results restored; {audit(stack)}"


def _back_up(stack: Stack) -> str:
    folder = stack.folder / "backups"
    if not folder.exists():
        run(["install", "-d", "-m", "0700", "-o", "10001", "-g", "10001", str(folder)], {})
    for old in folder.iterdir():
        old.unlink()
    mount = f"{folder}:/backups"
    stack.compose("run", "--rm", "-T", "--volume", mount, "worker", "referee", "backup", BACKUP)
    stack.compose("run", "--rm", "-T", "--volume", mount, "worker", "referee", "backup", "--check", BACKUP)
    return mount


def audit(stack: Stack) -> str:
    return stack.compose("run", "--rm", "-T", "worker", "referee", "admin", "audit").strip().splitlines()[-1]


def show_memory(stack: Stack) -> str:
    """Show what each container uses of the memory that it may use. Raise if one has no limit."""
    seen = []
    for service in LASTING:
        container = stack.containers(service)[0]
        limit = stack.inspect(container)["HostConfig"]["Memory"]
        assert limit, f"{service} has no limit of memory"
        used = stack.docker("stats", "--no-stream", "--format", "{{.MemUsage}}", container).partition("/")[0].strip()
        seen.append(f"{service} {used} of {limit // MEMORY_MB} MiB")
    return ", ".join(seen)


def upgrade_to_next(stack: Stack) -> str:
    """Upgrade to an image with one more migration as operators do, with `up` alone, in the middle of a tournament."""
    folder = stack.folder / "next"
    folder.mkdir()
    (folder / "next.py").write_text(NEXT_MIGRATION)
    (folder / "Dockerfile").write_text(NEXT_IMAGE)
    stack.docker("build", "--quiet", "--tag", NEXT, str(folder))
    start_tournament(stack, "Across an upgrade", cycles=20 * CYCLES)
    stack.until(lambda: stack.count("matches", "status = 'running'") > 0, "matches in progress")
    stack.use_image(NEXT)
    stack.compose("up", "-d")
    stack.wait_until_up()
    unfinished = stack.count("matches", f"{IN_TOURNAMENT} AND {UNFINISHED}")
    assert unfinished, "the tournament was over before the upgrade"
    matches = finish_tournaments(stack)
    audited = audit(stack)
    stack.use_image(None)
    return f"{unfinished} unfinished matches went on, {matches} have results; {audited}"


def upgrade_from_previous(stack: Stack) -> str:
    """Start the newest version with an older schema, upgrade in the middle of a tournament, and finish it.

    The bots are of the current version all the time. Earlier versions may have no backups, so none is made here.
    """
    take_down(stack)
    try:
        previous = unpack_previous_schema(stack.folder / "previous")
    except NoOtherVersion as error:
        raise StepNotTested(str(error)) from error
    stack.docker("tag", find_python_image(ROOT), find_python_image(previous.checkout))
    stack.docker("build", "--quiet", "--tag", PREVIOUS, str(previous.checkout))
    stack.use_image(PREVIOUS)
    stack.checkout = previous.checkout
    stack.compose("up", "-d")
    stack.wait_until_up()
    create_organiser(stack)
    register_bots(stack)
    start_tournament(stack, "Across the upgrade", cycles=20 * CYCLES)
    stack.until(lambda: count_results(stack) >= 4, "some results")
    stack.compose("stop", "worker")  # alone, since the others take longer to stop, and matches would go on meanwhile
    stack.compose("stop", "scheduler", "api")
    unfinished = stack.count("matches", f"{IN_TOURNAMENT} AND {UNFINISHED}")
    assert unfinished, "the tournament was over before the upgrade"
    stack.use_image(None)
    stack.checkout = ROOT
    stack.compose("up", "-d")
    stack.wait_until_up()
    matches = finish_tournaments(stack)
    return f"from {previous.title}: {unfinished} unfinished matches went on, {matches} have results; {audit(stack)}"


def take_down(stack: Stack) -> str:
    """Remove everything; raise if a container, network or volume is left."""
    bots = stack.docker("ps", "--all", "--quiet", "--filter", f"name={PROJECT}-bot").split()
    if bots:
        stack.docker("rm", "--force", *bots)
    stack.compose("down", "--volumes", "--remove-orphans")
    if BOTS_NETWORK in stack.docker("network", "ls", "--format", "{{.Name}}").split():
        stack.docker("network", "rm", BOTS_NETWORK)
    for file in (stack.folder / "secrets").glob("*"):
        file.unlink()
    if (stack.folder / "secrets").exists():
        (stack.folder / "secrets").rmdir()
    stack.token = ""
    project = ("--quiet", "--filter", f"label=com.docker.compose.project={PROJECT}")
    left = [kind for kind in ("container", "network", "volume") if stack.docker(kind, "ls", *project).strip()]
    assert not left, f"left behind: {left}"
    return "no container, network or volume is left"


STEPS: Final[Mapping[str, Callable[[Stack], str]]] = {
    "build the image": build_image,
    "play with a sample bot": play_sample_bot,
    "bring the stack up": bring_up,
    "load the firewall": load_firewall,
    "create an organiser": create_organiser,
    "register bots": register_bots,
    "play a tournament": play_tournament,
    "scale the workers": scale_workers,
    "kill each service": kill_each_service,
    "restart each service": restart_each_service,
    "kill one of two APIs": kill_one_api,
    "limit the memory": show_memory,
    "back up and restore": back_up_and_restore,
    "upgrade to the image after": upgrade_to_next,
    "upgrade from the image before": upgrade_from_previous,
    "take everything down": take_down,
}
