"""Viewers of one event, and of one match, in one process of the API: how long after its commit each is told, and the
cost."""

import multiprocessing
import random
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Final

from sqlalchemy import update

from bench.api import GAME, SEATS, START_AT, enlisted, played, rows
from bench.matches import redis_server
from bench.measure import Benchmark, Json, cpu_of, memory_mib, rounded
from bench.watched import api, asked, ms, probing, watch
from bench.world import World, world
from referee import schema
from referee.db import change_notifier
from referee.db.ids import new_id
from referee.match.chance import CommittedChance
from referee.match.match import Answer, Match, new_header
from referee.match.time_limits import Limits
from referee.matches.recording import MatchUpdate, record_batch
from workers import queues

BOTS: Final = 40
RATE: Final = 4.0  # changes a second


@dataclass(frozen=True, slots=True)
class Watched:
    """Something that goes on. ``change`` commits, and gives the numbers that viewers are to be told of; they find them
    by ``number``, and know that they are there when they have had ``ready``."""

    path: str
    ready: bytes
    number: bytes
    change: Callable[[], list[int]]


def main() -> None:
    benchmark = Benchmark.from_command_line(
        "streams",
        "viewers in one process of the API",
        viewers={"type": int, "nargs": "*", "help": "how many, one run each"},
    )
    sizes = benchmark.given.viewers or ([8] if benchmark.quick else [200, 2000])
    window_s = benchmark.size(15, 1)
    figures: Json = {}
    for name, kind in (("an event", event), ("a match", match)):
        for count in sizes:
            benchmark.note(f"{count} viewers of {name}")
            figures[f"{count} viewers of {name}"] = of_size(kind, count, window_s)
    benchmark.report(figures)


def of_size(kind: Callable[[World, change_notifier.ChangeNotifier], Watched], count: int, window_s: float) -> Json:
    with world() as place, redis_server(place.settings.data_dir) as redis_url:
        watched = kind(place, change_notifier.ChangeNotifier(queues.connect(redis_url)))
        with api(place, redis_url) as (port, pid):
            ours, theirs = multiprocessing.get_context("fork").Pipe()
            what = (port, watched.path, watched.ready, watched.number, count, theirs)
            viewers = multiprocessing.get_context("fork").Process(target=watch, args=what)
            viewers.start()
            ours.recv()  # all are there
            quiet = asked(port, window_s / 3)
            cpu, began = cpu_of(pid), time.monotonic()
            with probing(port) as busy:
                committed = changing(watched, window_s)
            spent, took = cpu_of(pid) - cpu, time.monotonic() - began
            memory = memory_mib(pid)
            ours.send(list(committed))
            told: list[tuple[int, float]] = ours.recv()
            viewers.join()
        delays = sorted(moment - committed[number] for number, moment in told)
        return {
            "changes": len(committed),
            "told": f"{len(told)} of {len(committed) * count}",
            "from commit to viewer, p50 ms": ms(delays, 0.5),
            "from commit to viewer, p99 ms": ms(delays, 0.99),
            "CPU us a change and viewer": rounded(1e6 * spent / len(told)),
            "share of a core": rounded(spent / took),
            "other requests, p50 ms": ms(busy, 0.5),
            "other requests, p99 ms": ms(busy, 0.99),
            "the same before, p99 ms": ms(quiet, 0.99),
            **memory,
        }


def changing(watched: Watched, seconds: float) -> dict[int, float]:
    """Changes it again and again, and gives the moment at which each number was committed."""
    committed: dict[int, float] = {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        committed |= dict.fromkeys(watched.change(), time.monotonic())
        time.sleep(1 / RATE)
    return committed


# -- an event, in which matches end --


def event(place: World, announcer: change_notifier.ChangeNotifier) -> Watched:
    with place.database.write() as session:
        bots = enlisted(session, BOTS)
        tournament_id = played(session, bots)
    dice = random.Random(3)

    def change() -> list[int]:
        seq = ended(place, tournament_id, dice.sample(bots, SEATS))
        announcer.notify()
        return [seq]

    path = f"/api/v1/tournaments/{tournament_id}/stream"
    return Watched(path, b"event: standings", rb"event: match\nid: (\d+)\n", change)


def ended(place: World, tournament_id: str, table: list[str]) -> int:
    match_id, group_id = new_id("mat"), new_id("grp")
    facts = {"game": GAME, "options": {}, "seats": SEATS, "rated": True, **asdict(Limits()), "created_at": START_AT}
    group = {"id": group_id, "commitment": "0" * 64, "seed_sealed": b"", "state": "over", "entries": table}
    match = {"id": match_id, "group_id": group_id, "rules_version": 1, "engine_version": "0", "status": "finished"}
    with place.database.write() as session:
        rows(session, schema.DealGroup, [{**group, "tournament_id": tournament_id, "created_at": START_AT}])
        rows(
            session,
            schema.Match,
            [{**facts, **match, "tournament_id": tournament_id, "tournament_round": 1, "table_no": 1}],
        )
        result = schema.Result(
            match_id=match_id,
            bots=table,
            entrants=table,
            rated=[True] * SEATS,
            placements=list(range(1, SEATS + 1)),
            returns=[0] * SEATS,
            scores=[0] * SEATS,
            digest="0" * 64,
            engine_version="0",
            finished_at=START_AT,
        )
        session.add(result)
        session.flush()
        return result.seq


# -- a match, of which each decision is told at once --


def match(place: World, announcer: change_notifier.ChangeNotifier) -> Watched:
    playing, match_id = begun(place)
    recorded = 0

    def change() -> list[int]:
        nonlocal recorded
        if recorded:
            while len(playing.lines) == recorded:
                playing.receive(Answer(playing.requests()[0].seat, choice=0))
        start, recorded = recorded, len(playing.lines)
        with place.database.write() as session:
            record_batch(session, [MatchUpdate(match_id, 1, start, playing.lines[start:])])
        return list(range(start, recorded))

    return Watched(f"/api/v1/matches/{match_id}/stream", b"event: state", rb'"row":(\d+),', change)


def begun(place: World) -> tuple[Match, str]:
    """A friendly match that will not be over so soon, with nothing recorded of it yet."""
    match_id, group_id = new_id("mat"), new_id("grp")
    facts = {"game": "pool-nap", "options": {}, "seats": SEATS, "rated": False, **asdict(Limits())}
    with place.database.write() as session:
        bots = enlisted(session, SEATS)
        rows(session, schema.DealGroup, [{"id": group_id, "commitment": "0" * 64, "seed_sealed": b"", "state": "open",
              "entries": bots, "created_at": START_AT}])  # fmt: skip
        rows(session, schema.Match, [{"id": match_id, "group_id": group_id, "rules_version": 1, "engine_version": "0",
              "status": "running", **facts, "created_at": START_AT}])  # fmt: skip
        session.execute(update(schema.Match).where(schema.Match.id == match_id).values(epoch=1))
    players = [{"bot": bot, "name": bot, "version": None} for bot in bots]
    group = {"id": group_id, "commitment": "0" * 64, "entries": bots}
    header = new_header(match_id=match_id, game_name="pool-nap", options={}, players=players, group=group)
    playing = Match(header, CommittedChance(bytes(32), group_id, []))
    playing.begin()
    return playing, match_id


if __name__ == "__main__":
    main()
