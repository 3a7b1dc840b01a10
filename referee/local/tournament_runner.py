"""Plays a local tournament: many matches at once in one event loop, deal by deal, until all are over or it is settled.

What is shown is ``local_table``'s; the logs are kept by ``local_record``.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

from referee.botclient.client import BotCaller, CallLimits, Target, fetch_manifest
from referee.errors import RefereeError
from referee.local.matches import LOCAL_POLICY, LocalEntrant, Sitting, sit
from referee.local.problems import Problems
from referee.local.tournament_plan import LocalPlan
from referee.local.tournament_store import Finished, LocalStore
from referee.ratings.sprt import RunningTest
from referee.standings import points


class BotNotReady(RefereeError):
    """A bot that cannot be played with."""


async def fetch_manifests(
    entrants: Sequence[LocalEntrant], game_name: str, secrets: tuple[str, ...]
) -> list[LocalEntrant]:
    """Return the entrants with what their manifests say. Raise ``BotNotReady`` for one that does not answer or does not
    play this game."""
    return list(await asyncio.gather(*(_with_manifest(entrant, game_name, secrets) for entrant in entrants)))


async def _with_manifest(entrant: LocalEntrant, game_name: str, secrets: tuple[str, ...]) -> LocalEntrant:
    if entrant.is_house:
        return entrant
    caller = BotCaller(Target(entrant.id, entrant.address, secrets), LOCAL_POLICY)
    try:
        check = await fetch_manifest(caller)
    finally:
        caller.close()
    if check.manifest is None:
        raise BotNotReady(f"{entrant.source} is not ready ({check.fault}: {check.detail}); `referee check` tells more")
    if game_name not in check.manifest.games:
        raise BotNotReady(f"{entrant.source} does not play {game_name}, but {', '.join(check.manifest.games)}")
    most = check.manifest.max_concurrent_requests
    return replace(entrant, version=check.manifest.version, max_concurrent_requests=most)


class LocalTournament:
    """A plan being played into its record.

    ``changed`` is called after every match. With hypotheses the verdict rests on the deals in their order, without a
    gap, never on which were over first: what takes long may differ from what is quick.
    """

    def __init__(self, plan: LocalPlan, record: LocalStore, changed: Callable[["LocalTournament"], None]) -> None:
        self.plan = plan
        self.matches = 0  # over, also of deals under way
        self.problems = {entrant.name: Problems() for entrant in plan.playing.entrants}  # since this run began
        self.running = RunningTest(plan.hypotheses) if plan.hypotheses else None
        self._record = record
        self._changed = changed
        self._over: dict[int, list[Finished]] = {}
        self._tested = 0  # deals without a gap that the test has seen
        self._under_way: dict[int, list[Finished]] = {}
        self._limits = CallLimits()
        self._places = _places(plan.playing.entrants)

    @property
    def settled(self) -> bool:
        """The test has its verdict."""
        return self.running is not None and self.running.verdict is not None

    @property
    def deals(self) -> int:
        """How many deals count so far."""
        return self.running.groups if self.running and self.settled else len(self._over)

    def counted(self) -> list[Finished]:
        """The matches that count: all of whole deals; once it is settled, those the verdict rests on."""
        deals = [deal for deal in sorted(self._over) if not self.settled or deal <= self._tested]
        return [finished for deal in deals for finished in self._over[deal]]

    def take_up(self) -> int:
        """Counts what is recorded already and gives how many deals that is."""
        for deal, matches in self._record.finished():
            self.matches += len(matches)
            self._count(deal, matches)
        return len(self._over)

    async def play(self, concurrency: int) -> None:
        """Plays what is missing. Cancelled, it leaves whole deals and what is under way, which does not count."""
        self._limits = CallLimits()
        sittings = self._missing()
        tasks = [asyncio.create_task(self._work(sittings)) for _ in range(concurrency)]
        try:
            for task in asyncio.as_completed(tasks):
                await task
                if self.settled:
                    break
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._record.drop_cut_deals()

    def _missing(self) -> Iterator[tuple[int, Sitting]]:
        for deal in range(1, self.plan.deals + 1):
            if deal not in self._over:
                self._record.begin(deal)
                self._under_way[deal] = []
                yield from ((deal, sitting) for sitting in self.plan.sittings(deal))

    async def _work(self, sittings: Iterator[tuple[int, Sitting]]) -> None:
        while not self.settled:
            due = next(sittings, None)
            if due is None:
                return
            await self._play(*due)
            await asyncio.sleep(0)  # house players never wait; others, and Ctrl-C, get their turn here

    async def _play(self, deal: int, sitting: Sitting) -> None:
        async with AsyncExitStack() as places:
            # In one order for all, so that no two matches can each hold what the other waits for.
            for source in sorted({entrant.source for entrant in sitting.seated if not entrant.is_house}):
                await places.enter_async_context(self._places[source])
            played = await sit(self.plan.playing, sitting, self._limits)
        for entrant, problems in zip(sitting.seated, played.problems, strict=True):
            self.problems[entrant.name].add(problems)
        matches = self._under_way[deal]
        matches.append(self._record.write(deal, played))
        self.matches += 1
        if len(matches) == self.plan.matches_of_a_deal:
            self._record.close(deal)
            self._count(deal, self._under_way.pop(deal))
        self._changed(self)

    def _count(self, deal: int, matches: list[Finished]) -> None:
        self._over[deal] = matches
        while self.running and not self.settled and self._tested + 1 in self._over:
            self._tested += 1
            self.running.add(self._score(self._over[self._tested]))

    def _score(self, matches: Sequence[Finished]) -> float:
        first = self.plan.playing.entrants[0].name
        return sum(float(points(one.placements)[one.names.index(first)]) for one in matches) / len(matches)


def _places(entrants: Sequence[LocalEntrant]) -> dict[str, asyncio.Semaphore]:
    """How many matches at once each bot can sit at: no more than the calls it takes at once. Each match keeps a
    connection open, and a simple server answers only as many."""
    sources = [entrant.source for entrant in entrants if not entrant.is_house]
    calls = {entrant.source: entrant.max_concurrent_requests for entrant in entrants}
    return {source: asyncio.Semaphore(max(1, calls[source] // sources.count(source))) for source in set(sources)}
