"""Implement `referee demo`: start a service with six bots, play a tournament, show the league, and verify a log."""

import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import click
from rich.console import Console

from referee.accounts.roles import Role
from referee.bots.states import BotState, CheckState
from referee.cli import tables
from referee.cli.admin import open_account
from referee.cli.live_view import LiveView
from referee.cli.logs import verify
from referee.cli.options import FOLDER, PORT
from referee.cli.service.api_client import Api, ApiRefusal
from referee.cli.up import describe_addresses
from referee.errors import RefereeError
from referee.match.canonical import Json
from referee.runtime.data_dir import DataDir
from referee.runtime.house_servers import HouseServer
from referee.runtime.processes import Child, Signals, stop
from referee.runtime.service_database import load_settings, open_database
from referee.runtime.supervisor import Stopped
from referee.runtime.waiting import WaitReporter
from referee.settings import environment
from referee.tournaments.states import IN_PROGRESS

CAST = (  # owner, house player
    ("Ada", "sound"),
    ("Blaise", "sound"),
    ("Carl", "random"),
    ("Dora", "random"),
    ("Emmy", "first"),
    ("Felix", "first"),
)
TOURNAMENT = ("saint-poker", 3)  # game, seats per table
LEAGUE_GAME = "saint-poker"  # its official ladder is shown
LEAGUE_MATCHES = 2  # rated matches that each bot plays on it before the demo goes on
LOOPBACK = "127.0.0.1/32:1024-65535"
POLL_S = 0.3  # between two looks at a tournament or a ladder
CHECK_POLL_S = 1.0  # minimum time between two requests to check a bot again
STOP_S = 20.0
STEPS = 5  # lines of progress in each part if the output is not a terminal
INTERRUPTED = 130


Found = TypeVar("Found")


class DemoFailed(RefereeError):
    """Signal that a step of the demo failed."""


@dataclass(frozen=True, slots=True)
class DemoBot:
    """Represent a registered bot of the demo, with an API client that has its owner's token."""

    bot_id: str
    name: str
    owner: Api


@click.command()
@click.option("--exit", "ends", is_flag=True, help="Exit at the end instead of serving until Ctrl-C.")
@click.option("--data", type=FOLDER, help="Data directory to create and keep. [default: a temporary one]")
@click.option(
    "--port",
    type=PORT,
    help="Port to serve on. [default: 8000, or the next free one]",
)
def demo(ends: bool, data: Path | None, port: int | None) -> None:
    """Start a service with six bots that play a tournament and ladder matches."""
    with Signals() as signals, _folder(data) as folder:
        load_settings(folder)  # creates the master key, which all child processes use
        demonstration = Demonstration(Console(), folder, port, signals)
        try:
            demonstration.run(serve_on=not ends)
        except Stopped:
            if not demonstration.complete:
                sys.exit(INTERRUPTED)


class Demonstration:
    """Run the steps of the demo, and stop all its processes at the end."""

    def __init__(
        self,
        console: Console,
        folder: Path,
        port: int | None,
        signals: Signals,
        *,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self.complete = False
        is_used = (folder / "referee.db").exists()
        self._tag = f" {secrets.token_hex(2)}" if is_used else ""  # the names of an earlier run are taken
        self._console = console
        self._folder = folder
        self._port = port
        self._signals = signals
        self._seconds = seconds

    def run(self, *, serve_on: bool) -> None:
        """Run all steps. If ``serve_on``, keep the service running until a stop request, which raises ``Stopped``."""
        with ExitStack() as stack:
            url = stack.enter_context(self._service())
            self._say(f"the service answers at {url}")
            houses = stack.enter_context(HouseServer([player for _, player in CAST]))
            ports = ", ".join(url.rpartition(":")[2] for url in houses.urls)
            self._say(f"{len(CAST)} house bots serve on 127.0.0.1, ports {ports}")
            organiser = stack.enter_context(Api(url, self._organiser_token()))
            entries = self._register(stack, url, houses)
            self._tournament(organiser, entries)
            ladder_id = self._league(organiser)
            self._check_log(url, organiser, ladder_id, entries[0])
            self.complete = True
            self._say(f"\n{describe_addresses(url)}\nleague {url}/ladders")
            self._say(f"bot    {url}/register, or: {_program()} register --help")
            if serve_on:
                self._say("the league goes on at its own pace; Ctrl-C stops everything")
                while True:
                    self._pause(3600)

    # -- steps --

    @contextmanager
    def _service(self) -> Iterator[str]:
        """Run ``referee up`` as a child process; yield the URL of the service once it is ready."""
        data_dir = DataDir(self._folder)
        port = [] if self._port is None else ["--port", str(self._port)]
        command = [sys.executable, "-P", "-m", "referee", "up", "--data", str(self._folder), *port]
        child_environment = environment(
            REFEREE_ENV="development",
            REFEREE_EGRESS_ALLOW=LOOPBACK,
            REFEREE_SELF_SERVICE="true",
            PYTHONUNBUFFERED="1",
        )
        self._folder.mkdir(parents=True, exist_ok=True)
        service = Child("up", command, child_environment, self._folder, data_dir.log("up"))
        service.log.unlink(missing_ok=True)
        self._say("starting the service: API, two workers, scheduler, Redis")
        service.start()
        try:
            yield self._poll_until(
                lambda: _url(data_dir, service),
                lambda: f"the start of the service; {service.log}: {service.tail(1)[:200] or 'empty'}",
            )
        finally:
            stop([service], STOP_S, self._signals)

    def _organiser_token(self) -> str:
        _, database = open_database(self._folder)
        with database.write() as session:
            token = open_account(session, f"Organiser{self._tag}", Role.ORGANISER)
        database.dispose()
        return token

    def _register(self, stack: ExitStack, url: str, houses: HouseServer) -> list[DemoBot]:
        """Create an account for each owner and register their bots, all through the public API."""
        entries = []
        with Api(url) as anybody:
            for index, (owner, player) in enumerate(CAST):
                account = anybody.post("/accounts", {"name": f"{owner}{self._tag}"})
                api = stack.enter_context(Api(url, account["token"]["token"]))
                bot = api.post("/bots", {"name": f"{owner} {player}{self._tag}", "url": houses.urls[index]})
                houses.write_secret(index, bot["secret"])
                entries.append(DemoBot(bot["id"], bot["name"], api))
        for entry in entries:
            self._verify(entry)
        self._say(f"registered, verified and checked: {', '.join(entry.name for entry in entries)}")
        self._say("each has joined the official ladders, on which the service makes its matches from now on")
        return entries

    def _verify(self, entry: DemoBot) -> None:
        """Wait until the bot is verified. Check it again if the challenge was sent before the bot knew its secret."""
        asked = time.monotonic()

        def is_verified() -> bool:
            nonlocal asked
            bot = entry.owner.get(f"/bots/{entry.bot_id}")
            if bot["handshake"]["state"] != CheckState.IDLE or bot["check"]["state"] != CheckState.IDLE:
                return False
            if bot["status"] == BotState.VERIFIED:
                return True
            if time.monotonic() - asked > CHECK_POLL_S:
                asked = time.monotonic()
                entry.owner.post(f"/bots/{entry.bot_id}/check")
            return False

        self._poll_until(is_verified, lambda: f"the check of {entry.name}")

    def _tournament(self, organiser: Api, entries: Sequence[DemoBot]) -> None:
        """Play a tournament to its end beside the league, and show its standings."""
        game, seats = TOURNAMENT
        body = {"name": f"{game} demo{self._tag}", "game": game, "seats": seats}
        tournament_id = str(organiser.post("/tournaments", body)["id"])
        organiser.post(f"/tournaments/{tournament_id}/open")
        for entry in entries:
            entry.owner.post(f"/tournaments/{tournament_id}/enter", {"bot": entry.bot_id})
        total = organiser.post(f"/tournaments/{tournament_id}/start")["progress"]["total"]
        title = f"tournament: {game}, {seats} seats"
        started = time.monotonic()
        with LiveView(self._console, STEPS) as view:

            def show_progress() -> bool:
                state = organiser.get(f"/tournaments/{tournament_id}")
                done = state["progress"]["done"]
                table = self._table(organiser, tournament_id, title)
                view.show(table, f"{title}: {done} of {total} matches", done, total)
                return state["status"] not in IN_PROGRESS

            self._poll_until(show_progress, lambda: "the end of the tournament", every_s=POLL_S)
        seconds = time.monotonic() - started
        self._print(self._table(organiser, tournament_id, f"{title}: {total} matches in {seconds:.1f} s"))

    def _table(self, api: Api, tournament_id: str, title: str) -> tables.TextTable:
        rows = api.get(f"/tournaments/{tournament_id}/standings")["items"]
        return tables.standings(api.get(f"/tournaments/{tournament_id}"), title, rows)

    def _league(self, api: Api) -> str:
        """Show an official ladder until each bot has ``LEAGUE_MATCHES`` rated matches, then the leaders of the others.

        Return the id of the ladder.
        """
        official = {ladder["game"]: ladder for ladder in api.items("/ladders") if ladder["official"]}
        shown = official.pop(LEAGUE_GAME)
        title = f"official ladder: {shown['name']}"
        with LiveView(self._console, STEPS) as view:

            def show_progress() -> tables.TextTable | None:
                rows = _ladder_rows(api, shown)
                table = tables.ladder(title, rows)
                ready = sum(row["games"] >= LEAGUE_MATCHES for row in rows)
                progress = f"{title}: {ready} of {len(CAST)} bots have {LEAGUE_MATCHES} rated matches"
                view.show(table, progress, ready, len(CAST))
                return table if ready == len(CAST) else None

            final = self._poll_until(show_progress, lambda: "rated matches of all bots", every_s=POLL_S)
        self._print(final)
        for ladder in official.values():
            if rows := _ladder_rows(api, ladder):
                self._say(f"{ladder['name']:13} {rows[0]['name']} leads with {rows[0]['rating']:.1f}")
        return str(shown["id"])

    def _check_log(self, url: str, api: Api, ladder_id: str, entry: DemoBot) -> None:
        """Verify the log of a bot's last ladder match by its URL, as anyone can. Raise ``DemoFailed`` if that fails."""
        last: Json = api.get(f"/ladders/{ladder_id}/history?bot={entry.bot_id}&limit=1")["items"][0]
        path = f"/api/v1/matches/{last['match']}/log"
        self._poll_until(lambda: _is_log_readable(api, path), lambda: f"the log {path}")
        self._say(f"\n$ {_program()} verify {url}{path}")
        try:
            verify.main([f"{url}{path}"])
        except SystemExit as ended:
            if ended.code:
                raise DemoFailed("The log is not valid.") from ended

    # -- waiting and printing --

    def _poll_until(self, look: Callable[[], Found | None], describe: Callable[[], str], every_s: float = 0.1) -> Found:
        """Look until something is found, however long that takes on this machine, and say what is waited for."""
        reporter = WaitReporter(self._say, self._seconds)
        while not (found := look()):
            reporter.note(describe())
            self._pause(every_s)
        return found

    def _pause(self, seconds: float) -> None:
        self._signals.wait(seconds)
        if self._signals.stop_requests:
            raise Stopped

    def _print(self, table: tables.TextTable) -> None:
        self._console.print(
            table.render_styled(width=self._console.width) if self._console.is_terminal else table.plain(),
            highlight=False,
            soft_wrap=True,
        )

    def _say(self, text: str) -> None:
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)


@contextmanager
def _folder(data: Path | None) -> Iterator[Path]:
    """Yield the given data directory, or a temporary one that is removed after the demo."""
    if data is not None:
        yield data.expanduser().resolve()
        return
    folder = Path(tempfile.mkdtemp(prefix="referee-demo-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _url(data_dir: DataDir, service: Child) -> str | None:
    """Return the URL of the service, or None while it is still starting. Raise ``DemoFailed`` if it has exited."""
    assert service.process is not None
    if service.process.poll() is not None:
        raise DemoFailed(f"The service exited on its own:\n{service.tail(30)}")
    owner = data_dir.owner()
    return owner.url or None if owner and owner.pid == service.process.pid else None


def _is_log_readable(api: Api, path: str) -> bool:
    """Return whether the log can be read, which is when its deal group has closed, a moment after the match."""
    try:
        api.fetch(path)
    except ApiRefusal as error:
        if error.status != 409:
            raise
        return False
    return True


def _ladder_rows(api: Api, ladder: Json) -> list[Json]:
    rows: list[Json] = api.get(f"/ladders/{ladder['id']}")["items"]
    return rows


def _program() -> str:
    """Return the command that runs this installation of ``referee`` from the current directory."""
    beside = Path(sys.executable).with_name("referee")
    found = shutil.which("referee")
    if found and Path(found).samefile(beside):
        return "referee"
    try:
        return str(beside.relative_to(Path.cwd()))
    except ValueError:
        return str(beside)
