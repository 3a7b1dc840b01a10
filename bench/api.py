"""Pages of standings and ladders a CPU second: the whole application under Flask's test client, without a socket."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from flask import Flask
from sqlalchemy import Integer, insert
from sqlalchemy.orm import Session

from api import create_app
from bench.measure import Benchmark, Json, cpu_seconds, per_cpu_second, rounded
from bench.world import World, world
from referee import schema
from referee.db.ids import new_id
from referee.ladders import ratings
from referee.match.time_limits import Limits
from referee.ratings.elo import START

GAME, SEATS = "saint-poker", 4
MATCHES_A_BOT = 5
RUN_S = 0.3  # CPU time to spend on a run
START_AT = datetime(2026, 1, 1, tzinfo=UTC)


def main() -> None:
    benchmark = Benchmark.from_command_line("api", "pages of ladders and standings a CPU second")
    figures: Json = {}
    for bots in (8,) if benchmark.quick else (100, 10_000):
        benchmark.note(f"{bots} bots")
        with world() as place:
            figures[f"{bots} bots"] = of_size(benchmark, place, bots)
    benchmark.report(figures)


def of_size(benchmark: Benchmark, place: World, bots: int) -> Json:
    with place.database.write() as session:
        bot_ids = enlisted(session, bots)
        ladder_id = rated(session, bot_ids)
        tournament_id = played(session, bot_ids)
    app = create_app(place.settings)
    app.extensions["referee.database"].dispose()
    app.extensions["referee.database"] = place.database
    ladder = f"/api/v1/ladders/{ladder_id}?limit=50"
    table = f"/api/v1/tournaments/{tournament_id}/standings"
    anew_s = cpu_seconds(lambda: got(app.test_client(), table))
    pages = {
        "first page of a ladder": ladder,
        "a page of it half-way down": half_way(app, ladder, bots // 2),
        "first page of a tournament's table": f"{table}?limit=50",
        "a page of that half-way down": half_way(app, f"{table}?limit=50", bots // 2),
        "a bot's own line in it": f"{table}/{bot_ids[0]}",
    }
    figures = {name: asked(benchmark, app, path) for name, path in pages.items()}
    return figures | {"a tournament's table made anew, CPU ms": rounded(1000 * anew_s)}


def asked(benchmark: Benchmark, app: Flask, path: str) -> Json:
    client = app.test_client()
    size = len(got(client, path))
    once_s = cpu_seconds(lambda: got(client, path))
    times = benchmark.size(max(1, min(40, int(RUN_S / once_s))), 1)
    benchmark.note(f"{times} times {path.partition('?')[0]}")

    def ask() -> None:
        for _ in range(times):
            got(client, path)

    rate = per_cpu_second(times, ask, benchmark.runs)
    return {"per CPU second": rounded(rate), "CPU us each": rounded(1e6 / rate), "bytes": size}


def got(client: Any, path: str) -> bytes:
    response = client.get(path)
    if response.status_code != 200:
        raise RuntimeError(f"{path}: {response.status_code} {response.text}")
    body: bytes = response.data
    return body


def half_way(app: Flask, path: str, rank: int) -> str:
    """The page after so many lines, by following the cursors."""
    client, page = app.test_client(), path
    for _ in range(rank // 50):
        cursor = json.loads(got(client, page))["next"]
        page = f"{path}&cursor={cursor}"
    return page


# -- filling the record past its rules, which would take an hour --


def enlisted(session: Session, count: int) -> list[str]:
    owner_ids = [new_id("acc") for _ in range(count)]
    bot_ids = [new_id("bot") for _ in range(count)]
    rows(session, schema.Account, (
        {"id": owner, "name": f"Owner {number}", "normalized_name": f"owner {number}", "role": "organiser",
         "created_at": START_AT}
        for number, owner in enumerate(owner_ids)
    ))  # fmt: skip
    rows(session, schema.Bot, (
        {"id": bot, "owner_id": owner, "name": f"Bot {number}", "normalized_name": f"bot {number}",
         "url": "https://bots.example.org/", "verified_url": "https://bots.example.org/", "host": "bots.example.org",
         "status": "verified", "games": [GAME], "max_concurrent_requests": 8, "secret_generation": 1, "revision": 1,
         "created_at": START_AT + timedelta(seconds=number), "check_state": "idle", "epoch": 1, "checks_lost": 0}
        for number, (bot, owner) in enumerate(zip(bot_ids, owner_ids, strict=True))
    ))  # fmt: skip
    return bot_ids


def rated(session: Session, bot_ids: list[str]) -> str:
    """A ladder on which all of them stand."""
    dice = Random(1)
    ladder = ratings.get_or_create_ladder(session, GAME, {}, SEATS)
    session.flush()
    rows(session, schema.Rating, (
        {"ladder_id": ladder.id, "bot_id": bot, "value": START + dice.randrange(-400_000_000, 400_000_000),
         "games": 10, "as_of_seq": 1}
        for bot in bot_ids
    ))  # fmt: skip
    return ladder.id


def played(session: Session, bot_ids: list[str]) -> str:
    """A tournament in which each of them has played a few matches."""
    dice, tournament_id = Random(2), new_id("trn")
    limits = asdict(Limits())
    facts = {"game": GAME, "options": {}, "seats": SEATS, "rated": True, **limits}
    organiser = session.get_one(schema.Bot, bot_ids[0]).owner_id
    rows(session, schema.Tournament, [
        {"id": tournament_id, "name": "Open", "format": "round_robin", "cycles": 1, "status": "running", **facts,
         "created_by": organiser, "created_at": START_AT, "revision": 1}
    ])  # fmt: skip
    rows(session, schema.TournamentEntry, (
        {"tournament_id": tournament_id, "bot_id": bot, "number": number} for number, bot in enumerate(bot_ids)
    ))  # fmt: skip
    tables = [dice.sample(bot_ids, SEATS) for _ in range(len(bot_ids) * MATCHES_A_BOT // SEATS)]
    match_ids = [new_id("mat") for _ in tables]
    group_ids = [new_id("grp") for _ in tables]
    rows(session, schema.DealGroup, (
        {"id": group, "commitment": "0" * 64, "seed_sealed": b"", "state": "over", "entries": table,
         "tournament_id": tournament_id, "epoch": 1, "created_at": START_AT}
        for group, table in zip(group_ids, tables, strict=True)
    ))  # fmt: skip
    rows(session, schema.Match, (
        {"id": match, "group_id": group, "rules_version": 1, "engine_version": "0", "status": "finished", "epoch": 1,
         "lost_claims": 0, "claims_without_progress": 0, "tournament_id": tournament_id, "tournament_round": 0,
         "table_no": place, "created_at": START_AT, **facts}
        for place, (match, group) in enumerate(zip(match_ids, group_ids, strict=True))
    ))  # fmt: skip
    rows(session, schema.Result, (
        {"match_id": match, "bots": table, "placements": dice.sample(range(1, SEATS + 1), SEATS),
         "entrants": table, "rated": [True] * SEATS,
         "returns": [0] * SEATS, "scores": [0] * SEATS, "digest": "0" * 64, "engine_version": "0",
         "finished_at": START_AT}
        for match, table in zip(match_ids, tables, strict=True)
    ))  # fmt: skip
    return tournament_id


def rows(session: Session, table: Any, values: Iterator[Json] | list[Json]) -> None:
    """Inserts them; counters that are not named begin at zero."""
    counters = {
        column.name: 0
        for column in table.__table__.columns
        if not column.nullable and not column.primary_key and isinstance(column.type, Integer)
    }
    session.execute(insert(table), [counters | row for row in values])


if __name__ == "__main__":
    main()
