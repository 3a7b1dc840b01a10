"""The database behind the pages: a month of play, created by the service's own functions.

Bots have owners, ratings and faults; every game has finished matches. A Swiss and a knockout are finished, another
of each is in progress, one is open and one a draft. Two matches are running. Everything is the same in every run
except ids, dates and cards. Tests that need more add it with ``Filled.world`` and ``Filled.begin``.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Final, TypeVar

from sqlalchemy import select, true, update

from referee import plugs, schema
from referee.accounts import accounts
from referee.accounts.entry_consent import EntryConsent
from referee.bots import bots
from referee.db.engine import Database
from referee.house.players import HousePlayer, find_player
from referee.ladders import months
from referee.match.canonical import dumps
from referee.match.match import Answer, Match, Request
from referee.match.time_limits import Limits
from referee.matches.logs import recording
from referee.matches.queue.claims import Claim
from referee.matches.voids import VoidRequest
from referee.tournaments import tournaments
from referee.tournaments.states import TournamentState
from referee.workflows.ending import match_end
from referee.workflows.voids import voiding
from tests.database.databases import write_upgraded
from tests.database.tournaments import begin, enter, go_on
from tests.database.world import FakeClock, World, manifest_of, outcome
from tests.surroundings import MASTER_KEY

T = TypeVar("T")
PLAYED = {"pool-nap": 4, "prince-albert": 4, "prisoners": 3, "rummy-royal": 4, "saint-poker": 3}  # game: seats
OPTIONS: dict[str, dict[str, Any]] = {  # so short that a match takes a moment
    "pool-nap": {"rounds": 3},
    "prince-albert": {"max_rounds": 3},
    "prisoners": {"deals": 1},
    "rummy-royal": {"deals": 2},
    "saint-poker": {"rounds": 2},
}
LADDER = "saint-poker"
NAMES = (
    *("Ada", "Babbage", "Caissa", "Deep Green", "Eliza", "Fermat", "Gauß", "Hexagon", "Ísland", "Jevons"),
    *("Knuth-Bot", "Лобачевский", "Mill", "Nim"),
)
# Anything a stranger may have written where pages show it; it must never run.
PAYLOAD = "<img src=x onerror=\"window.harmed='note'\"><script>window.harmed=1</script>\u202e&amp;{{7*7}}"
MONTH = timedelta(days=30)
MANY_TOURNAMENTS: Final = 1_000  # unfinished tournaments: those of all browser tests have one organiser


@dataclass
class Live:
    """A running match that tests advance."""

    world: World
    claim: Claim
    seats: list[HousePlayer]
    dice: Random
    late: bool  # seat 0 misses the deadline of its second question
    asked: int = 0  # questions to seat 0

    @property
    def id(self) -> str:
        return self.claim.match_id

    def go_on(self, decisions: int = 1) -> None:
        """Record at least ``decisions`` more decisions; more if the last question has several."""
        match, tail = self._played(decisions)
        assert not match.over
        with self.world.database.write() as session:
            assert recording.record_batch(session, [tail]) == set()

    def finish(self) -> schema.Result:
        """Play it to the end."""
        match, tail = self._played(1_000_000)
        with self.world.database.write() as session:
            return match_end.finish_match(session, tail, outcome(match), master_key=MASTER_KEY)

    def _played(self, decisions: int) -> tuple[Match, recording.MatchUpdate]:
        match = self.world.resumed(self.id)
        start = len(self.world.load(self.id).lines)
        evidence = []
        while decisions > 0 and not match.over:
            for request in match.requests():
                answer = self.answer(match, request)
                if answer.trouble:
                    evidence.append(self._evidence(match, request, answer))
                match.receive(answer)
                decisions -= 1
        return match, recording.MatchUpdate(
            self.id, self.claim.epoch, start, match.lines[start:], fault_reports=evidence
        )

    def _evidence(self, match: Match, request: Request, answer: Answer) -> recording.FaultReport:
        bot_id = match.header["players"][request.seat]["bot"]
        timing = {"dns_ms": 0.0, "connect_ms": 0.4, "wait_ms": float(answer.ms), "read_ms": 0.2}
        body = dumps({"protocol": "2", "decision": {"id": f"{self.id}.{request.n}", "question": request.question}})
        return recording.FaultReport(
            request.n, request.seat, bot_id, answer.trouble, PAYLOAD, body, PAYLOAD.encode(), timing
        )

    def answer(self, match: Match, request: Request) -> Answer:
        """Return the seat's answer, sometimes with a note; with ``late``, one answer misses its deadline."""
        ms = int(self.dice.lognormvariate(4, 0.8))
        self.asked += request.seat == 0
        if self.late and request.seat == 0 and self.asked == 2:
            return Answer(request.seat, trouble="deadline", ms=request.deadline_ms)
        note = PAYLOAD if self.dice.random() < 0.05 else ""
        return Answer(
            request.seat, self.seats[request.seat].decide(match.state.name, request.for_player()), ms=ms, note=note
        )


@dataclass
class Filled:
    """The content of the database, ids by name and tokens by role, and functions that add to it while it is served."""

    folder: Path
    world: World
    tokens: dict[str, str] = field(default_factory=dict)  # owner (of Ada), organiser, admin
    accounts: dict[str, str] = field(default_factory=dict)
    bots: dict[str, str] = field(default_factory=dict)  # by name
    matches: dict[str, str] = field(default_factory=dict)  # by game, finished; "void"; "rated" and "open" are running
    tournaments: dict[str, str] = field(default_factory=dict)  # see ``_events``
    series: str = ""  # of the tournaments "swiss", "knockout" and "running"
    ladders: dict[str, str] = field(default_factory=dict)  # by game
    live: dict[str, Live] = field(default_factory=dict)  # "rated" and "open"
    shown: Mapping[str, str] = field(default_factory=dict)  # names to show in place of these of bots and tournaments
    numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def database(self) -> Database:
        return self.world.database

    def begin(self, game: str = LADDER, *, bots: Sequence[str] = (), **plan: Any) -> Live:
        """Create and claim a match of these bots (by name)."""
        names = list(bots) or list(self.bots)[: PLAYED[game]]
        plan = {"options": OPTIONS[game], "limits": Limits(), **plan}
        match_id = self.world.match([self.bots[name] for name in names], game=game, **plan)
        return self.claimed(match_id)

    def claimed(self, match_id: str) -> Live:
        (claim,) = self.world.claim(match_id=match_id)
        seats = len(self.world.load(match_id).header["players"])
        number = next(self.numbers)
        dice = Random(number)
        kinds = itertools.cycle(["sound", "random", "sound"])
        return Live(self.world, claim, [find_player(next(kinds))(dice) for _ in range(seats)], dice, number % 2 == 0)

    def play_due(self, tournament_id: str, most: int = 1000) -> None:
        """Play up to a number of due matches of the tournament, progressing it after each."""
        while most > 0 and (due := self.list_due(tournament_id)[:most]):
            for match_id in due:
                self.pass_time(hours=1)
                self.claimed(match_id).finish()
            most -= len(due)
            go_on(self.database, tournament_id)

    def pass_time(self, **how_much: float) -> None:
        """Advance the clock while the database is being filled."""
        if isinstance(self.database.clock, FakeClock):
            self.world.clock.moment += timedelta(**how_much)

    def arrange(self, name: str, entrants: Sequence[str] = (), *, begins: bool = False, **terms: Any) -> str:
        """Create a tournament for these bots, by name or id. If it begins, its first matches are due."""
        usual: dict[str, Any] = {
            "game": LADDER,
            "options": {"rounds": 1},
            "seats": 2,
            "limits": Limits(),
            "rated": False,
        }
        organiser, name = self.accounts["organiser"], self.shown.get(name, name)
        with self.database.write() as session:
            made = tournaments.create_tournament(
                session, name, created_by=organiser, quota=MANY_TOURNAMENTS, **usual | {"rated": False} | terms
            ).id
        enter(self.world, made, *(self.bots.get(entrant, entrant) for entrant in entrants))
        if begins:
            begin(self.world, made)
        return made

    def event(self, name: str, count: int = 5, **terms: Any) -> str:
        """Create a tournament whose first matches are due."""
        return self.arrange(name, NAMES[:count], begins=True, **terms)

    def sign_up(self, name: str, role: str = "owner") -> tuple[str, str]:
        """Return the id and a token of a new account."""
        with self.database.write() as session:
            account_id = accounts.create_account(session, name, role).id
        return account_id, self.create_token(account_id)

    def consent(self, to: EntryConsent, *names: str) -> None:
        """Let the owners of these bots answer organisers so; without names, all accounts."""
        owners = [self.ask(bots.get_bot, self.bots[name]).owner_id for name in names]
        of_them = schema.Account.id.in_(owners) if names else true()
        with self.database.write() as session:
            session.execute(update(schema.Account).where(of_them).values(entry_consent=to))

    def ask(self, question: Callable[..., T], *about: Any) -> T:
        """Return the answer of a function that reads the database."""
        with self.database.read() as session:
            return question(session, *about)

    def create_token(self, account_id: str) -> str:
        with self.database.write() as session:
            return accounts.create_token(session, account_id, "first")[1]

    def list_due(self, tournament_id: str) -> list[str]:
        """Return the ids of the due matches of a tournament, in order."""
        matches = schema.StoredMatch
        due = select(matches.id).where(matches.tournament_id == tournament_id, matches.status == "due")
        with self.database.read() as session:
            return list(session.scalars(due.order_by(matches.tournament_round, matches.table_no, matches.id)))


def fill(folder: Path, shown: Mapping[str, str] | None = None) -> Filled:
    """Fill the database in ``folder``. Afterwards it uses the system clock. ``shown`` is that of ``Filled``."""
    url = f"sqlite:///{folder / 'referee.db'}"
    write_upgraded(folder / "referee.db")
    past = Database(url, clock=FakeClock(datetime.now(UTC) - MONTH))
    filled = Filled(folder, World(past), shown=shown or {})
    for step in (_people, _ladders, _events, _running):
        step(filled)
    past.dispose()
    filled.world.database = Database(url)
    first_month = (datetime.now(UTC) - MONTH).date().replace(day=1)
    months.close_month(filled.database, filled.ladders[LADDER], first_month)
    return filled


def _people(filled: Filled) -> None:
    manifest = manifest_of("1.0", sorted(PLAYED), 100)
    for role in ("owner", "organiser", "admin"):
        filled.accounts[role] = filled.world.account(role)
        filled.tokens[role] = filled.create_token(filled.accounts[role])
    for name in NAMES:
        owner_id = filled.accounts["owner"] if name == "Ada" else None
        filled.bots[name] = filled.world.bot(owner_id, manifest, filled.shown.get(name, name))


def _ladders(filled: Filled) -> None:
    """Play some matches of every game, most of them of one game, and void one."""
    dice = Random(1)
    for _ in range(16):
        filled.pass_time(hours=18)
        filled.begin(LADDER, bots=dice.sample(NAMES, PLAYED[LADDER])).finish()
    for game, seats in PLAYED.items():
        filled.pass_time(hours=7)
        live = filled.begin(game, bots=NAMES[:seats])
        live.finish()
        filled.matches[game] = live.id
    wrong = filled.begin(LADDER, bots=NAMES[:3])
    wrong.finish()
    filled.matches["void"] = wrong.id
    with filled.database.write() as session:
        by = filled.accounts["organiser"]
        voiding.void_match(session, VoidRequest(wrong.id, PAYLOAD, rematch=False), created_by=by, master_key=MASTER_KEY)
    with filled.database.read() as session:
        filled.ladders = {ladder.game: ladder.id for ladder in session.scalars(select(schema.Ladder))}


def _events(filled: Filled) -> None:
    """Create finished (``swiss``, ``knockout``), running (``running``, ``bracket``), open and draft tournaments."""
    three_rounds = {"format": "swiss", "format_options": {"rounds": 3}}
    for name, entered, most, terms in (
        ("swiss", 6, 1000, three_rounds),
        ("knockout", 8, 1000, {"format": "knockout"}),
        ("running", 6, 5, three_rounds),
        ("bracket", 8, 5, {"format": "knockout"}),
        ("open", 3, 0, {"format": "round_robin"}),
        ("draft", 0, 0, {"format": "round_robin", "status": TournamentState.DRAFT}),
    ):
        entrants, title = NAMES[:entered], f"The {name} cup"
        filled.tournaments[name] = filled.arrange(title, entrants, begins=most > 0, rated=True, **terms)
        filled.play_due(filled.tournaments[name], most)
    if plugs.find_organised("series") is not None:
        add_series(filled)


def add_series(filled: Filled) -> None:
    from referee_extras.series import operations as series

    with filled.database.write() as session:
        creator = accounts.get_account(session, filled.accounts["organiser"])
        season = series.create_series(session, creator, quota=1, name="The season", best=1, description="Two *cups*.")
        for name in ("swiss", "knockout", "running"):
            series.add_tournament(session, season.id, filled.tournaments[name], creator)
        filled.series = season.id


def _running(filled: Filled) -> None:
    clock = filled.world.clock
    clock.moment = max(clock.moment, datetime.now(UTC) - timedelta(minutes=5))
    for name, rated in (("rated", True), ("open", False)):
        live = filled.live[name] = filled.begin("pool-nap", rated=rated)
        filled.matches[name] = live.id
        live.go_on(12)
