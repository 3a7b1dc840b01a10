"""Helpers that fill a database for tests: owners, verified bots, matches played to their end; a fake clock."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Executable, Select, delete, update
from sqlalchemy.orm import Session

from referee import schema
from referee.accounts import accounts
from referee.bots import bots, certificates, handshakes
from referee.db.engine import Database, current_time
from referee.match.chance import CommittedChance
from referee.match.match import Answer, Match
from referee.match.time_limits import Limits
from referee.matches import matches
from referee.matches.deals import deal_groups, openings
from referee.matches.logs.recording import MatchUpdate
from referee.matches.queue import claims
from referee.matches.queue.claims import Claim
from referee.matches.states import DealSharing
from referee.matches.voids import VoidRequest
from referee.protocol.messages import Manifest
from referee.workflows.bots import handshake_results
from referee.workflows.ending import match_end, match_loading
from referee.workflows.voids import voiding
from tests.surroundings import MASTER_KEY

START = datetime(2026, 1, 1, tzinfo=UTC)
GAME = "saint-poker"
P = ParamSpec("P")
T = TypeVar("T")


def manifest_of(version: str = "1.0", games: Iterable[str] = (GAME, "pool-nap"), most: int = 100) -> Manifest:
    """Return a manifest; ``most`` is the number of concurrent requests."""
    return Manifest("Bot", version, tuple(games), most)


MANIFEST = manifest_of()


@dataclass
class FakeClock:
    """A fake clock: the date advances a millisecond per call, the time since boot only manually."""

    moment: datetime = START
    boot_id: str = "boot-1"
    seconds: float = 1000.0

    def utc_now(self) -> datetime:
        self.moment += timedelta(milliseconds=1)
        return self.moment

    def boot(self) -> tuple[str, float]:
        return self.boot_id, self.seconds


class _Undone(Exception):
    pass


@dataclass
class Transactions:
    """A database with helpers that each use one transaction."""

    database: Database

    def read(self, query: Callable[Concatenate[Session, P], T], *args: P.args, **how: P.kwargs) -> T:
        """Call a function of the product in a transaction that only reads."""
        with self.database.read() as session:
            return query(session, *args, **how)

    def listed(self, query: Callable[Concatenate[Session, P], Iterable[T]], *args: P.args, **how: P.kwargs) -> list[T]:
        """Return all that a function of the product yields while its transaction is open."""
        with self.database.read() as session:
            return list(query(session, *args, **how))

    def write(self, change: Callable[Concatenate[Session, P], T], *args: P.args, **how: P.kwargs) -> T:
        """Call a function of the product in a transaction of its own."""
        with self.database.write() as session:
            return change(session, *args, **how)

    def execute(self, statement: Executable, *rows: Any) -> None:
        with self.database.write() as session:
            session.execute(statement, *rows)

    def scalars(self, query: Select[T]) -> list[T]:
        with self.database.read() as session:
            return list(session.scalars(query))

    def one(self, query: Select[T]) -> T:
        with self.database.read() as session:
            return session.scalars(query).one()

    def scalar(self, query: Select[T]) -> T | None:
        with self.database.read() as session:
            return session.scalar(query)

    def get_one(self, model: type[T], key: Any) -> T:
        with self.database.read() as session:
            return session.get_one(model, key)


@dataclass
class World(Transactions):
    """A database that helpers fill."""

    numbers: Any = field(default_factory=lambda: itertools.count(1))

    @property
    def clock(self) -> FakeClock:
        clock = self.database.clock
        assert isinstance(clock, FakeClock)
        return clock

    @contextmanager
    def undoing(self) -> Iterator[Session]:
        """Open a transaction that is rolled back at the end of the block."""
        with suppress(_Undone), self.database.write() as session:
            yield session
            raise _Undone

    def sharing(self, tables: Sequence[Sequence[str]], kind: str = "common", **plan: Any) -> list[str]:
        """Create due matches at these tables, which share their cards."""
        entries = [bot for table in tables for bot in table]
        with self.database.write() as session:
            group = create_group(session, entries, DealSharing(kind))
            return [self.matched(session, table, group=group, **plan).id for table in tables]

    def account(self, role: str = "owner") -> str:
        with self.database.write() as session:
            return self._account(session, role)

    def bot(self, owner_id: str | None = None, manifest: Manifest = MANIFEST, name: str = "") -> str:
        """Create a verified bot, of a new owner unless one is given."""
        with self.database.write() as session:
            return verify_all(session, [self._registered(session, owner_id, name)], manifest)[0]

    def bots(self, count: int) -> list[str]:
        with self.database.write() as session:
            return verify_all(session, [self._registered(session) for _ in range(count)])

    def _account(self, session: Session, role: str = "owner") -> str:
        return accounts.create_account(session, f"Account {next(self.numbers)} x", role).id

    def _registered(self, session: Session, owner_id: str | None = None, name: str = "") -> str:
        owner_id = owner_id or self._account(session)
        number = next(self.numbers)
        name = name or f"Bot {number} x"
        return bots.register(session, owner_id, name, f"http://127.0.0.1:{9000 + number}/").id

    def match(self, seated: Sequence[str] | None = None, **plan: Any) -> str:
        """Create a due match, of two new bots unless some are given."""
        seated = seated or self.bots(2)
        with self.database.write() as session:
            return self.matched(session, seated, **plan).id

    def matched(self, session: Session, seated: Sequence[str], **plan: Any) -> schema.StoredMatch:
        group = plan.pop("group", None)
        wanted = matches.MatchPlan(**{"game": GAME, "bots": seated, "options": {}, "limits": Limits(), **plan})
        match = matches.create_match(session, wanted, master_key=MASTER_KEY)
        if group is not None:
            own, match.group_id = match.group_id, group.id
            session.flush()
            session.execute(delete(schema.DealGroup).where(schema.DealGroup.id == own))
        return match

    def claim(self, limit: int = 1, *, isolated: bool = False, **how: Any) -> list[Claim]:
        with self.database.write() as session:
            if isolated:
                return [claimed.claim for claimed in claims.claim_isolated_matches(session, limit, **how)]
            return claims.claim_matches(session, limit, **how)

    def pass_seconds(self, seconds: float) -> None:
        """Let leases age: by the fake clock, or by shifting them where the server's clock is used."""
        if self.database.is_sqlite:
            self.clock.seconds += seconds
            return
        with self.database.write() as session:
            for table in (schema.StoredMatch, schema.Bot, schema.DealGroup, schema.Check):
                session.execute(update(table).values(lease_until=table.lease_until - seconds))

    def open_group(self, match_id: str) -> None:
        """Open the match's deal group with empty nonces, unless it is open."""
        with self.database.write() as session:
            opening = openings.claim_opening(session, matches.get_match(session, match_id).group_id)
            if opening is not None:
                blank = [""] * len(opening.entries)
                openings.record_nonce_hashes(session, opening.group_id, opening.epoch, blank)
                openings.open_group(session, opening.group_id, opening.epoch, blank, [None] * len(blank))

    def load(self, match_id: str) -> match_loading.LoadedMatch:
        with self.database.read() as session:
            return match_loading.load_match(session, match_id, master_key=MASTER_KEY)

    def resumed(self, match_id: str) -> Match:
        """Resume the match as far as it is recorded."""
        self.open_group(match_id)
        loaded = self.load(match_id)
        chance = CommittedChance(loaded.seed, loaded.group_id, loaded.nonces or [])
        sealed = [Answer.from_json(one) for one in loaded.sealed]
        if loaded.lines:
            return Match.resume(loaded.header, chance, loaded.lines, sealed)
        match = Match(loaded.header, chance)
        match.begin()
        return match

    def finish(self, claim: Claim, *, choice: int = 0) -> schema.Result:
        """Play a claimed match to its end, each seat by its ``choice``-th action, and store the result."""
        match = self.resumed(claim.match_id)
        start = len(self.load(claim.match_id).lines)
        played(match, choice)
        return self.ended(claim, match, start)

    def played_out(self, seated: Sequence[str] | None = None) -> tuple[Claim, Match]:
        """Create, claim and play a match to its end, which is not stored yet."""
        (claim,) = self.claim(match_id=self.match(seated))
        match = self.resumed(claim.match_id)
        played(match)
        return claim, match

    def void(self, match_id: str, reason: str = "a cable was cut", **how: bool) -> voiding.VoidReport:
        wanted = VoidRequest(match_id, reason, **{"rematch": False, **how})
        return self.write(voiding.void_match, wanted, created_by=None, master_key=MASTER_KEY)

    def ended(self, claim: Claim, match: Match, start: int) -> schema.Result:
        with self.database.write() as session:
            tail = MatchUpdate(claim.match_id, claim.epoch, start, match.lines[start:])
            return match_end.finish_match(session, tail, outcome(match), master_key=MASTER_KEY)

    def play(self, seated: Sequence[str], *, choice: int = 0, **plan: Any) -> schema.Result:
        """Create, claim and play a match."""
        match_id = self.match(seated, **plan)
        (claim,) = self.claim(match_id=match_id)
        return self.finish(claim, choice=choice)


def create_group(session: Session, entries: Sequence[str], kind: DealSharing = DealSharing.OWN) -> schema.DealGroup:
    """Create a deal group without matches; these bots enter it."""
    row = deal_groups.new_group_row(entries, current_time(session), MASTER_KEY, None)
    group = schema.DealGroup(**row, kind=kind)
    session.add(group)
    return group


def verify_all(session: Session, bot_ids: list[str], manifest: Manifest = MANIFEST) -> list[str]:
    """Verify these bots, whose handshakes are the only ones that are due. One claim for all saves a tenth."""
    claimed = handshakes.claim_due_handshakes(session, len(bot_ids) + 1)
    assert {handshake.bot_id for handshake in claimed} == {*bot_ids}
    for handshake in claimed:
        certify(session, handshake.bot_id, manifest)
        handshake_results.finish_handshake(session, handshake.bot_id, handshake.epoch, {"ok": True}, manifest)
    return bot_ids


def certify(session: Session, bot_id: str, manifest: Manifest) -> None:
    """Record a check that passed in all games of this manifest, so that the next handshake causes none."""
    certificates.issue_certificate(
        session, bot_id, manifest.version, certificates.current_rules_versions(manifest.games)
    )


def played(match: Match, choice: int = 0) -> None:
    """Answer until the match is over."""
    while not match.over:
        for request in match.requests():
            match.receive(Answer(request.seat, choice=min(choice, len(request.legal_actions) - 1)))


def outcome(match: Match) -> match_end.MatchResult:
    state = match.state
    return match_end.MatchResult(state.placements(), state.returns(), state.scores(), match.faults)
