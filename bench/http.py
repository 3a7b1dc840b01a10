"""Measure CPU time per decision over HTTP: of a whole worker, of our client alone, and of aiohttp's client alone.

The bots run in another process. Only the CPU time of this process is counted, including its database threads.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from random import Random
from typing import Final

import aiohttp

from bench.bots import Bots, start_bots
from bench.measure import Benchmark, Json, run, significant, time_of
from bench.playouts import answer_all, begin_match
from bench.world import EGRESS, World, new_world, slots_for
from referee.botclient.address_guard import Policy
from referee.botclient.client import BotCaller, CallTarget
from referee.protocol.messages import Questions
from referee.protocol.signing import bot_secret
from workers.runner import Runner

CONCURRENCY: Final = 16
GAMES: Final = {"saint-poker": 2, "pool-nap": 3}  # numbers of seats

Exchange = Callable[[], Awaitable[None]]


def measure(benchmark: Benchmark) -> Json:
    figures: Json = {"concurrent matches": CONCURRENCY}
    database = {"database_url": benchmark.options.database} if benchmark.options.database else {}
    with start_bots() as bots, new_world(runner_slots=slots_for(CONCURRENCY), **database) as world:
        bot_ids = world.add_certified_bots(bots.url, max(GAMES.values()))
        for game, seats in GAMES.items():
            figures[game] = measure_game(benchmark, bots, world, game, bot_ids[:seats])
    return figures


def measure_game(benchmark: Benchmark, bots: Bots, world: World, game: str, bot_ids: list[str]) -> Json:
    """Measure clients and worker alternately, so that a busy machine slows all of them down."""
    body = question_body(game, len(bot_ids))
    exchanges, matches = benchmark.size(3000, 32), benchmark.size(24, 1)
    spent: dict[str, list[float]] = {"aiohttp": [], "client": [], "worker": [], "loop": []}
    for number in range(1, benchmark.runs + 1):
        benchmark.note(f"{game}, run {number} of {benchmark.runs}")
        worker_us, loop_us = measure_worker(bots, world, game, bot_ids, matches)
        spent["aiohttp"].append(asyncio.run(measure_aiohttp(bots.url, body, exchanges)))
        spent["client"].append(asyncio.run(measure_client(bots.url, body, exchanges)))
        spent["worker"].append(worker_us)
        spent["loop"].append(loop_us)
    median = {name: significant(statistics.median(values)) for name, values in spent.items()}

    def against_aiohttp(name: str) -> float:
        pairs = zip(spent[name], spent["aiohttp"], strict=True)
        return significant(statistics.median(own / other for own, other in pairs))

    return {
        "request body bytes": len(body),
        "whole worker us per decision": median["worker"],
        "of it in the event loop's thread us": median["loop"],
        "our client alone us": median["client"],
        "aiohttp client alone us": median["aiohttp"],
        "whole worker / aiohttp alone": against_aiohttp("worker"),
        "our client / aiohttp alone": against_aiohttp("client"),
    }


def question_body(game: str, seats: int) -> bytes:
    """Return the body of a question after seven decision points of a match."""
    match, dice = begin_match(game, seats), Random(1)
    for _ in range(7):
        answer_all(match, dice)
    request = match.requests()[0]
    return Questions(match.header, request.seat).encode(request)[1]


def measure_worker(bots: Bots, world: World, game: str, bot_ids: list[str], matches: int) -> tuple[float, float]:
    """Let a runner play matches from claim to result. Return CPU microseconds per decision: of the process, and of the
    thread of the event loop."""
    world.add_due_matches(game, bot_ids, matches)
    before = bots.decisions()

    def work() -> None:
        tally = asyncio.run(Runner(world.settings, world.database).run())
        if tally.finished != matches:
            raise RuntimeError(f"the runner finished {tally.finished} of {matches} matches: {tally}")

    cost = time_of(work)
    decisions = bots.decisions() - before
    return 1e6 * cost.cpu / decisions, 1e6 * cost.thread / decisions


async def measure_client(url: str, body: bytes, exchanges: int) -> float:
    """Return CPU microseconds per exchange of our client, which signs requests and validates responses."""
    target = CallTarget("bot_bench", url, (bot_secret(bytes(32), "bot_bench", 1),), CONCURRENCY)
    callers = [BotCaller(target, Policy.parse(EGRESS)) for _ in range(CONCURRENCY)]

    def exchange_with(caller: BotCaller) -> Exchange:
        async def exchange() -> None:
            reply = await caller.post("/decide", body, "mat_bench_0_0", 10_000)
            assert reply.ok, reply.detail

        return exchange

    try:
        return await us_per_exchange([exchange_with(caller) for caller in callers], exchanges)
    finally:
        for caller in callers:
            caller.close()


async def measure_aiohttp(url: str, body: bytes, exchanges: int) -> float:
    """Return CPU microseconds per exchange of aiohttp with keep-alive, without signing requests or parsing bodies."""
    async with careful_session(aiohttp.TCPConnector(limit=CONCURRENCY, use_dns_cache=False)) as session:

        async def exchange() -> None:
            headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
            async with session.post(f"{url}/decide", data=body, headers=headers, allow_redirects=False) as response:
                assert response.status == 200
                await response.content.read(64 * 1024)

        return await us_per_exchange([exchange] * CONCURRENCY, exchanges)


def careful_session(connector: aiohttp.TCPConnector, total_s: float = 10.0) -> aiohttp.ClientSession:
    """Return a session configured for untrusted servers."""
    return aiohttp.ClientSession(
        connector=connector,
        timeout=aiohttp.ClientTimeout(total=total_s),
        auto_decompress=False,
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
    )


async def us_per_exchange(lanes: list[Exchange], exchanges: int) -> float:
    """Run all lanes concurrently, each with one exchange at a time. Return CPU microseconds per exchange."""
    each = exchanges // len(lanes)

    async def repeat(exchange: Exchange) -> None:
        for _ in range(each):
            await exchange()

    await asyncio.gather(*(exchange() for exchange in lanes))  # opens the connections
    start = time.process_time()
    await asyncio.gather(*map(repeat, lanes))
    return 1e6 * (time.process_time() - start) / (each * len(lanes))


if __name__ == "__main__":
    run(
        "http",
        "CPU microseconds of the referee per decision over HTTP",
        measure,
        database={"metavar": "URL", "help": "Use this empty PostgreSQL database instead of SQLite."},
    )
