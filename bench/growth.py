"""Measure how pages and answers of the API grow with the database: each beside few bots and matches, and beside many.

Every page and every GET of the API is called in process with Flask's test client: once to fill caches, then five
times. Streams and archives of logs are left out; of an answer that is sent in parts, only the first part is read.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from werkzeug.routing import BuildError

from api import create_app
from bench.measure import Benchmark, Json, median_timing, run, significant, time_of
from bench.world import GAME, MASTER_KEY, World, new_world
from referee import plugs
from referee.accounts import accounts
from referee.match.match import Answer
from referee.matches.logs.recording import MatchUpdate
from referee.schema import Account, Bot, Fault, Tournament
from referee.workflows.ending import match_end

FEW: Final = 1_000  # bots, and matches
CALLS: Final = 5
DOWNLOADS: Final = tuple(f"downloads.{subject}_logs" for subject in ("tournament", "bot", "ladder", "all"))
LEFT_OUT: Final = ("live.follow_", *DOWNLOADS, "static")  # beginnings of the names of endpoints


@dataclass(frozen=True)
class Site:
    """Hold a client of the application with its database, and the paths to measure by their rules."""

    client: Any
    paths: dict[str, str]
    headers: dict[str, str]

    def get(self, rule: str) -> int:
        """Answer a request as far as its first part. Return the status."""
        path = self.paths[rule]
        response = self.client.get(path, headers=self.headers if path.startswith("/api/") else {})
        next(response.iter_encoded(), None)
        response.close()
        return int(response.status_code)


def measure(benchmark: Benchmark) -> Json:
    few = benchmark.size(FEW, 20)
    bots, matches = benchmark.options.bots, benchmark.options.matches
    if benchmark.quick:
        bots, matches = 40, 60
    with new_site(benchmark, few, few) as small, new_site(benchmark, bots, matches) as large:
        rules = [rule for rule in large.paths if small.get(rule) == 200]
        growth = {rule: measure_rule(benchmark, small, large, rule) for rule in rules}
    return dict(sorted(growth.items(), key=lambda item: -item[1]["ratio"]))


def measure_rule(benchmark: Benchmark, small: Site, large: Site, rule: str) -> Json:
    """Measure both databases in turn, so that a busy machine slows both down."""
    benchmark.note(rule)
    first = significant(1000 * time_of(partial(large.get, rule)).cpu)
    timings: tuple[list[Any], list[Any]] = ([], [])
    for _ in range(benchmark.size(CALLS, 1)):
        for site, spent in zip((small, large), timings, strict=True):
            spent.append(time_of(partial(site.get, rule)))
    few, many = (1000 * median_timing(spent).cpu for spent in timings)
    figures = {"few, CPU ms": few, "many": many, "ratio": many / few}
    return {name: significant(value) for name, value in figures.items()} | {"first call, many": first}


@contextmanager
def new_site(benchmark: Benchmark, bots: int, matches: int) -> Iterator[Site]:
    benchmark.note(f"filling a database with {bots:,} bots and {matches:,} matches")
    with new_world() as world:
        bot_ids = world.add_certified_bots("http://127.0.0.1:9", bots)
        ladder_id = world.add_ladder(bot_ids, 2)
        tournament_id = world.add_swiss(bot_ids)
        world.add_results(ladder_id, bot_ids, matches - bots // 2)
        match_id, fault_id, token = play_one(world, bot_ids[:2])
        ids: Json = {
            "bot_id": bot_ids[0],
            "opponent_id": bot_ids[1],
            "ladder_id": ladder_id,
            "tournament_id": tournament_id,
            "row": 1,
        }
        if plugs.find_organised("series") is not None:
            ids["series_id"] = add_series(world, tournament_id)
        ids |= {"match_id": match_id, "fault_id": fault_id, "tournament_round": 1}
        app = create_app(world.settings)
        app.extensions["referee.database"].dispose()
        app.extensions["referee.database"] = world.database
        yield Site(app.test_client(), find_paths(app, ids), {"Authorization": f"Bearer {token}"})


def add_series(world: World, tournament_id: str) -> str:
    """Return a series with this tournament, which has as many entrants as there are bots."""
    from referee_extras.series import operations as series

    with world.database.write() as session:
        tournament = session.get_one(Tournament, tournament_id)
        creator = session.get_one(Account, tournament.created_by)
        made = series.create_series(session, creator, quota=1, name="Season")
        series.add_tournament(session, made.id, tournament_id, creator)
        return made.id


def play_one(world: World, bots: list[str]) -> tuple[str, int, str]:
    """Play a match with a log and a fault. Return the ids of both, and a token of the owner of the first bot."""
    (claim,) = world.claim_matches(GAME, bots, 1)
    match = world.begin_match(claim)
    while not match.over:
        for request in match.requests():
            match.receive(Answer(request.seat, choice=0))
    tail = MatchUpdate(claim.match_id, claim.epoch, 0, match.lines)
    state = match.state
    outcome = match_end.MatchResult(state.placements(), state.returns(), state.scores(), match.faults)
    with world.database.write() as session:
        match_end.finish_match(session, tail, outcome, master_key=MASTER_KEY)
        fault = Fault(match_id=claim.match_id, n=1, seat=0, bot_id=bots[0], code="deadline", detail="")
        fault.created_at = session.get_one(Bot, bots[0]).created_at
        session.add(fault)
        session.flush()
        _, token = accounts.create_token(session, session.get_one(Bot, bots[0]).owner_id, "bench")
        return claim.match_id, fault.id, token


def find_paths(app: Any, ids: Json) -> dict[str, str]:
    """Return the path of every GET that these ids suffice for, by its rule."""
    paths = {}
    with app.test_request_context():
        urls = app.url_map.bind("localhost")
        for rule in app.url_map.iter_rules():
            if "GET" not in rule.methods or rule.endpoint.startswith(LEFT_OUT):
                continue
            name = {"name": "protocol" if rule.rule.startswith("/guides") else GAME}
            given = {argument: (ids | name).get(argument) for argument in rule.arguments}
            try:
                paths[re.sub("<[^:>]*:", "<", rule.rule)] = urls.build(rule.endpoint, given)
            except BuildError:
                continue
    return paths


if __name__ == "__main__":
    size = {"type": int, "metavar": "N"}
    run(
        "growth",
        "CPU time of pages and answers with few and many bots and matches, the largest growth first",
        measure,
        bots={**size, "default": 10_000, "help": "number of bots in the large database"},
        matches={**size, "default": 1_000_000, "help": "number of matches in the large database"},
    )
