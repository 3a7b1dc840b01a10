"""What a decision over HTTP costs the referee, beside HTTP alone: aiohttp's client and our own, against the same bots.

The bots run in another process; only the CPU time of this one is counted, its database threads included.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable

import aiohttp

from bench.bots import Bots
from bench.local import question
from bench.measure import Benchmark, Json, rounded
from bench.world import World, world
from referee.botclient.address_guard import Policy
from referee.botclient.client import BotCaller, CallTarget
from referee.protocol.signing import bot_secret
from workers.runner import Runner

AT_ONCE = 16
GAMES = {"saint-poker": 2, "pool-nap": 3}

Exchange = Callable[[], Awaitable[None]]


def main() -> None:
    benchmark = Benchmark.from_command_line("http", "CPU microseconds of the referee for a decision over HTTP")
    figures: Json = {"matches at once": AT_ONCE}
    with Bots() as bots, world(runner_slots=AT_ONCE) as place:
        bot_ids = place.enlist(bots.url, max(GAMES.values()))
        for game, seats in GAMES.items():
            figures[game] = of_game(benchmark, bots, place, game, bot_ids[:seats])
    benchmark.report(figures)


def of_game(benchmark: Benchmark, bots: Bots, place: World, game: str, bot_ids: list[str]) -> Json:
    """The three measured in turn, several times, so that what slows the machine down hits all of them."""
    body = question(game, len(bot_ids))
    exchanges = benchmark.size(3000, 32)
    spent: dict[str, list[float]] = {"aiohttp": [], "client": [], "worker": [], "loop": []}
    for run in range(benchmark.runs):
        benchmark.note(f"{game}, run {run + 1} of {benchmark.runs}")
        spent["aiohttp"].append(asyncio.run(aiohttp_alone(bots.url, body, exchanges)))
        spent["client"].append(asyncio.run(client_alone(bots.url, body, exchanges)))
        whole_us, loop_us = worker_us(bots, place, game, bot_ids, benchmark.size(24, 1))
        spent["worker"].append(whole_us)
        spent["loop"].append(loop_us)
    median = {name: rounded(statistics.median(values)) for name, values in spent.items()}
    return {
        "request body bytes": len(body),
        "whole worker us per decision": median["worker"],
        "of it in the thread of the event loop us": median["loop"],
        "our client alone us": median["client"],
        "aiohttp client alone us": median["aiohttp"],
        "whole worker / aiohttp alone": rounded(statistics.median(map(ratio, spent["worker"], spent["aiohttp"]))),
        "our client / aiohttp alone": rounded(statistics.median(map(ratio, spent["client"], spent["aiohttp"]))),
    }


def ratio(one: float, other: float) -> float:
    return one / other


def worker_us(bots: Bots, place: World, game: str, bot_ids: list[str], matches: int) -> tuple[float, float]:
    """A whole runner: claims, nonces, engine, questions, answers, record, results, notices. The second figure
    leaves out the threads that write to the database and read from it."""
    place.arrange(game, bot_ids, matches)
    before = bots.decisions()
    start, start_of_thread = time.process_time(), time.thread_time()
    tally = asyncio.run(Runner(place.settings, place.database).run())
    spent, spent_here = time.process_time() - start, time.thread_time() - start_of_thread
    if tally.finished != matches:
        raise RuntimeError(f"{matches} matches were to be finished: {tally}")
    decisions = bots.decisions() - before
    return 1e6 * spent / decisions, 1e6 * spent_here / decisions


async def client_alone(url: str, body: bytes, exchanges: int) -> float:
    """Our client with its signatures and checks; each exchange is a question of the same body."""
    policy = Policy.parse("127.0.0.1/32:1024-65535")
    target = CallTarget("bot_bench", url, (bot_secret(bytes(32), "bot_bench", 1),), AT_ONCE)
    callers = [BotCaller(target, policy) for _ in range(AT_ONCE)]

    def exchange(caller: BotCaller) -> Exchange:
        async def once() -> None:
            reply = await caller.post("/decide", body, "mat_bench_0_0", 10_000)
            assert reply.ok, reply.detail

        return once

    try:
        return await us_each([exchange(caller) for caller in callers], exchanges)
    finally:
        for caller in callers:
            caller.close()


async def aiohttp_alone(url: str, body: bytes, exchanges: int) -> float:
    """A bare keep-alive loop of aiohttp, as it would be set up for strangers: no signature, the answer not parsed."""
    async with session(aiohttp.TCPConnector(limit=AT_ONCE, use_dns_cache=False)) as client:

        async def once() -> None:
            headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
            async with client.post(f"{url}/decide", data=body, headers=headers, allow_redirects=False) as response:
                assert response.status == 200
                await response.content.read(64 * 1024)

        return await us_each([once] * AT_ONCE, exchanges)


def session(connector: aiohttp.TCPConnector, total_s: float = 10.0) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=connector,
        timeout=aiohttp.ClientTimeout(total=total_s),
        auto_decompress=False,
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
    )


async def us_each(lanes: list[Exchange], exchanges: int) -> float:
    """CPU microseconds for an exchange, one lane after another each on its own, all lanes at once."""

    async def repeat(exchange: Exchange, times: int) -> None:
        for _ in range(times):
            await exchange()

    await asyncio.gather(*(exchange() for exchange in lanes))  # opens the connections
    each = exchanges // len(lanes)
    start = time.process_time()
    await asyncio.gather(*(repeat(exchange, each) for exchange in lanes))
    return 1e6 * (time.process_time() - start) / (each * len(lanes))


if __name__ == "__main__":
    main()
