"""Fill a database in a temporary folder with bots, ladders, tournaments and matches, for benchmarks.

Most rows are inserted directly: the operations of the service would take an hour for 100,000 bots.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final
from unittest.mock import patch

from sqlalchemy import Integer, insert, inspect, text
from sqlalchemy.orm import Session

from bench.measure import Json
from referee import schema
from referee.bots import certificates
from referee.db.engine import Database, get_database
from referee.db.ids import new_id
from referee.db.upgrading import upgrade
from referee.games import catalogue
from referee.ladders import ranks, ratings
from referee.ladders.rating_replay import RATING_RULES, RatingState
from referee.match.chance import CommittedChance
from referee.match.match import Match
from referee.match.time_limits import Limits
from referee.matches import matches
from referee.matches.deals import openings
from referee.matches.queue import claims
from referee.matches.queue.claims import Claim
from referee.matches.queue.shares import Lane, create_slots
from referee.matches.states import MatchKind
from referee.ratings.elo import MICRO, START
from referee.settings import Settings, environment
from referee.workflows.ending import match_loading

MASTER_KEY: Final = bytes(range(32))
EGRESS: Final = "127.0.0.1/32:1024-65535"
GAME: Final = "saint-poker"
VERSION: Final = "1.0"
SPREAD: Final = 200 * MICRO  # standard deviation of ratings
MATCHES_AT_ONCE: Final = 20_000  # inserted with one statement for each table
CACHE_KIB: Final = 4_000_000  # of SQLite while many matches are inserted, instead of 2,000
START_AT: Final = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class World:
    """Hold a database and the settings of the processes that use it."""

    settings: Settings
    database: Database

    def environment(self, **changes: str) -> dict[str, str]:
        """Return the environment of a process that works on this database."""
        return environment(
            REFEREE_ENV="development",
            REFEREE_DATA=str(self.settings.data_dir),
            REFEREE_MASTER_KEY=MASTER_KEY.hex(),
            REFEREE_EGRESS_ALLOW=EGRESS,
            DATABASE_URL=self.settings.database_url,
            **changes,
        )

    # -- matches to play, created and claimed with the operations of the service --

    def add_certified_bots(self, url: str, count: int) -> list[str]:
        """Add bots that may play rated matches of all games."""
        bot_ids = self.add_bots(count, url)
        with self.database.write() as session:
            for bot_id in bot_ids:
                certificates.issue_certificate(
                    session, bot_id, VERSION, certificates.current_rules_versions(sorted(catalogue()))
                )
        return bot_ids

    def add_due_matches(self, game: str, bot_ids: Sequence[str], count: int, *, rated: bool = True) -> list[str]:
        plan = matches.MatchPlan(game, list(bot_ids), {}, Limits(), rated=rated)
        with self.database.write() as session:
            return [matches.create_match(session, plan, master_key=MASTER_KEY).id for _ in range(count)]

    def claim_matches(self, game: str, bot_ids: Sequence[str], count: int, *, rated: bool = True) -> list[Claim]:
        """Add matches, claim them, and open their deal groups without nonces."""
        claimed = []
        for match_id in self.add_due_matches(game, bot_ids, count, rated=rated):
            with self.database.write() as session:
                claimed += claims.claim_matches(session, 1, match_id=match_id)
                opening = openings.claim_opening(session, matches.get_match(session, match_id).group_id)
                assert opening is not None
                blank = [""] * len(bot_ids)
                openings.record_nonce_hashes(session, opening.group_id, opening.epoch, blank)
                openings.open_group(session, opening.group_id, opening.epoch, blank, [None] * len(blank))
        return claimed

    def begin_match(self, claim: Claim) -> Match:
        """Return a claimed match at its first decision. No row of it is recorded."""
        with self.database.read() as session:
            loaded = match_loading.load_match(session, claim.match_id, master_key=MASTER_KEY)
        match = Match(loaded.header, CommittedChance(loaded.seed, loaded.group_id, loaded.nonces or []))
        match.begin()
        return match

    # -- inserted rows of bots that registered and played --

    def add_bots(self, count: int, url: str = "http://127.0.0.1:9") -> list[str]:
        """Add verified bots at ``url``/0, ``url``/1 …, each with its own owner."""
        bot_ids = [new_id("bot") for _ in range(count)]
        owner_ids = [new_id("acc") for _ in bot_ids]
        common = {"host": "127.0.0.1", "status": "verified", "version": VERSION, "games": sorted(catalogue()),
                  "max_concurrent_requests": 100, "secret_generation": 1, "handshake_state": "idle"}  # fmt: skip
        with self.database.write() as session:
            insert_rows(session, schema.Account, (
                {"id": owner, "name": owner, "normalized_name": owner, "role": "organiser"} for owner in owner_ids
            ))  # fmt: skip
            insert_rows(session, schema.Bot, (
                {"id": bot, "owner_id": owner, "name": bot, "normalized_name": bot,
                 "url": f"{url}/{number}", "verified_url": f"{url}/{number}",
                 "created_at": START_AT + timedelta(seconds=number), **common}
                for number, (bot, owner) in enumerate(zip(bot_ids, owner_ids, strict=True))
            ))  # fmt: skip
        return bot_ids

    def add_ladder(self, bot_ids: Sequence[str], seats: int, options: Json | None = None) -> str:
        """Add a ladder of these bots with normally distributed ratings."""
        dice = Random(len(bot_ids))
        states = [RatingState(round(dice.gauss(START, SPREAD)), 50) for _ in bot_ids]
        with self.database.write() as session:
            ladder_id = ratings.get_or_create_ladder(session, GAME, options or {}, seats).id
            insert_rows(session, schema.Rating, (
                {"ladder_id": ladder_id, "bot_id": bot, "value": state.value, "games": state.games}
                for bot, state in zip(bot_ids, states, strict=True)
            ))  # fmt: skip
            ranks.replace_counts(session, ladder_id, states)
        return ladder_id

    def add_tournament(self, bot_ids: Sequence[str], seats: int, matches_each: int) -> str:
        """Add a running tournament in which each bot has played about ``matches_each`` random matches."""
        dice, tournament_id = Random(2), new_id("trn")
        with self.database.write() as session:
            organiser = session.get_one(schema.Bot, bot_ids[0]).owner_id
            tournament = {"id": tournament_id, "name": "Open", "format": "round_robin", "cycles": 1}
            owned = {"status": "running", "created_by": organiser, "deal_sharing": "own"}
            insert_rows(session, schema.Tournament, [{**tournament, **owned, **_terms(seats)}])
            insert_rows(session, schema.TournamentEntry, (
                {"tournament_id": tournament_id, "bot_id": bot, "number": number} for number, bot in enumerate(bot_ids)
            ))  # fmt: skip
            for _ in range(len(bot_ids) * matches_each // seats):
                table = dice.sample(bot_ids, seats)
                match_id = add_match(session, table, tournament_id)
                add_result(session, match_id, table, dice.sample(range(1, seats + 1), seats))
        return tournament_id

    def add_results(self, ladder_id: str, bot_ids: Sequence[str], count: int) -> None:
        """Add finished matches of pairs of bots, with their entries in the ledger of the ladder."""
        pairs = pair_up(bot_ids, count)
        with self.database.write(durable=False) as session, large_cache(session):
            for start in range(0, count, MATCHES_AT_ONCE):
                add_played(session, ladder_id, pairs[start : start + MATCHES_AT_ONCE], seq=start)
            session.get_one(schema.Ladder, ladder_id).results += count

    def add_swiss(self, bot_ids: Sequence[str]) -> str:
        """Add a running Swiss of pairs whose first round has been played."""
        tournament_id, pairs = new_id("tournament"), list(zip(bot_ids[::2], bot_ids[1::2], strict=False))
        with self.database.write() as session:
            organiser = session.get_one(schema.Bot, bot_ids[0]).owner_id
            insert_rows(session, schema.Tournament, [
                {"id": tournament_id, "name": "Swiss", "format": "swiss", "cycles": 1, "status": "running",
                 "created_by": organiser, "started_at": START_AT, "deal_sharing": "own",
                 "format_options": {"rounds": 9}, **_terms(2)}
            ])  # fmt: skip
            insert_rows(session, schema.TournamentEntry, (
                {"tournament_id": tournament_id, "bot_id": bot, "number": number} for number, bot in enumerate(bot_ids)
            ))  # fmt: skip
            tables = [{"entrants": pair, "label": "", "legs": 1, "section": index} for index, pair in enumerate(pairs)]
            insert_rows(session, schema.TournamentRound, [
                {"tournament_id": tournament_id, "number": 1, "label": "Round 1", "tables": tables, "byes": [],
                 "arranged": len(pairs), "ended_at": START_AT}
            ])  # fmt: skip
            add_played(session, None, pairs, tournament_id=tournament_id, tournament_round=1)
        return tournament_id


def pair_up(bot_ids: Sequence[str], count: int) -> list[tuple[str, str]]:
    """Return ``count`` pairs in which all bots sit equally often, next to different bots each time."""
    bots = len(bot_ids)
    return [
        (bot_ids[number % bots], bot_ids[(number + 1 + number // bots % (bots - 1)) % bots]) for number in range(count)
    ]


def add_played(
    session: Session, ladder_id: str | None, pairs: Sequence[tuple[str, str]], seq: int = 0, **played_in: Any
) -> None:
    """Add a finished match of each pair with its result and, on a ladder, its ledger entry, numbered after ``seq``."""
    rows: dict[Any, list[Json]] = {
        table: []
        for table in (schema.DealGroup, schema.StoredMatch, schema.MatchSeat, schema.Result)
        + ((schema.LedgerEntry, schema.RatingChange) if ladder_id else ())
    }
    for number, pair in enumerate(pairs, 1):
        match_id, moment = new_id("match"), START_AT + timedelta(seconds=seq + number)
        for table, added in _rows_of_played(match_id, ladder_id, pair, seq + number, moment).items():
            rows[table] += added
        rows[schema.StoredMatch][-1] |= {**played_in, "table_no": number if played_in else None}
        rows[schema.DealGroup][-1]["tournament_id"] = played_in.get("tournament_id")
    for table, added in rows.items():
        insert_rows(session, table, added)


def _rows_of_played(
    match_id: str, ladder_id: str | None, pair: tuple[str, str], seq: int, moment: datetime
) -> dict[Any, list[Json]]:
    group = {"id": match_id, "commitment": "0" * 64, "seed_sealed": b"", "state": "revealed", "entries": list(pair)}
    terms = {"engine_version": "0", "rules_version": 1, "status": "finished", "leg": 1, **_terms(len(pair))}
    moments = {"created_at": moment, "started_at": moment, "finished_at": moment}
    result = {
        "match_id": match_id, "ladder_id": ladder_id, "bots": list(pair), "entrants": list(pair),
        "rated": [True, True], "placements": [1, 2], "returns": [1, -1], "scores": [1, 0], "digest": "0" * 64,
        "owners": list(pair), "versions": [VERSION] * 2, "anchors": [None, None],
        "engine_version": "0", "finished_at": moment,
    }  # fmt: skip
    rows: dict[Any, list[Json]] = {
        schema.DealGroup: [group],
        schema.StoredMatch: [{"id": match_id, "group_id": match_id, **terms, **moments}],
        schema.MatchSeat: [
            {"match_id": match_id, "seat": seat, "bot_id": bot, "bot_name": bot, "version": VERSION,
             "placement": seat + 1, "returns": 1 - 2 * seat}
            for seat, bot in enumerate(pair)
        ],
        schema.Result: [result],
    }  # fmt: skip
    if ladder_id is not None:
        change = {"seq": seq, "ladder_id": ladder_id, "before": START, "after": START, "games": seq}
        rows[schema.LedgerEntry] = [
            {
                "seq": seq,
                "ladder_id": ladder_id,
                "kind": "result",
                "match_id": match_id,
                "rating_rules": RATING_RULES,
                "created_at": moment,
            }
        ]
        rows[schema.RatingChange] = [{**change, "bot_id": bot} for bot in pair]
    return rows


def add_match(session: Session, bots: Sequence[str], tournament_id: str | None = None) -> str:
    """Add a finished match without a log or a result."""
    match_id = new_id("mat")
    group = {"id": match_id, "commitment": "0" * 64, "seed_sealed": b"", "state": "revealed", "entries": list(bots)}
    match = {"id": match_id, "group_id": match_id, "engine_version": "0", "status": "finished", "table_no": 1}
    played_in = {"tournament_id": tournament_id, "tournament_round": 0 if tournament_id else None}
    insert_rows(session, schema.DealGroup, [{**group, "tournament_id": tournament_id}])
    insert_rows(session, schema.StoredMatch, [{**match, **played_in, **_terms(len(bots))}])
    return match_id


def add_result(session: Session, match_id: str, bots: Sequence[str], placements: Sequence[int]) -> int:
    """Add a result with these placements; returns and scores are 0. Return its sequence number."""
    zeros = [0] * len(bots)
    result = schema.Result(
        match_id=match_id, bots=list(bots), entrants=list(bots), rated=[True] * len(bots),
        placements=list(placements), returns=zeros, scores=zeros, digest="0" * 64, engine_version="0",
        owners=list(bots), versions=[VERSION] * len(bots), anchors=[None] * len(bots), finished_at=START_AT,
    )  # fmt: skip
    session.add(result)
    session.flush()
    return result.seq


def _terms(seats: int) -> Json:
    return {"game": GAME, "options": {}, "seats": seats, "rated": True, **asdict(Limits())}


def insert_rows(session: Session, table: Any, rows: Iterable[Json]) -> None:
    """Insert rows. The default of required integers is 0, and that of ``created_at`` is ``START_AT``."""
    defaults: Json = {"created_at": START_AT} if hasattr(table, "created_at") else {}
    target = inspect(table).local_table
    for column in target.c:
        if isinstance(column.type, Integer) and not column.nullable and not column.primary_key:
            defaults[column.name] = 0
    # The table instead of its class: the ORM would take twice the time.
    session.execute(insert(target), [defaults | row for row in rows])


@contextmanager
def large_cache(session: Session) -> Iterator[None]:
    """Let SQLite keep the changed pages in memory while the block runs.

    Ids are random, so each match changes pages all over the indexes. With the usual cache, SQLite would write and read
    these pages again and again.
    """
    if not get_database(session).is_sqlite:
        yield
        return
    ((usual,),) = session.execute(text("PRAGMA cache_size")).all()
    session.execute(text(f"PRAGMA cache_size = -{CACHE_KIB}"))
    yield
    session.flush()
    session.execute(text(f"PRAGMA cache_size = {usual}"))


def slots_for(concurrent: int) -> int:
    """Return the smallest number of slots of a runner that plays this many matches of one account concurrently.

    It is larger than ``concurrent``, because a runner keeps some slots for other accounts.
    """
    lane, slots = Lane(MatchKind.ORGANISED, ""), concurrent
    while create_slots(slots).limit(lane) < concurrent:
        slots += 1
    return slots


@contextmanager
def new_world(**changes: Any) -> Iterator[World]:
    """Yield a world with an empty database and the default settings, apart from ``changes``."""
    with TemporaryDirectory(prefix="referee-bench-") as folder, patch.dict(os.environ):
        os.environ |= {"REFEREE_DATA": folder, "REFEREE_MASTER_KEY": MASTER_KEY.hex(), "REFEREE_EGRESS_ALLOW": EGRESS}
        own = {"database_url": f"sqlite:///{Path(folder) / 'referee.db'}", "redis_url": None, "rate_limits": False}
        settings = replace(Settings.load(), **(own | changes))
        database = Database.from_settings(settings)
        upgrade(database)
        try:
            yield World(settings, database)
        finally:
            database.dispose()
