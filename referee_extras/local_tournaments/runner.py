"""Play a local tournament deal by deal, with concurrent matches, until its end or a verdict of the test."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

from referee.botclient.client import BotCaller, CallLimits, CallTarget, fetch_manifest
from referee.errors import RefereeError
from referee.local.matches import LOCAL_POLICY, LocalEntrant, PlannedMatch, play_match
from referee.local.problems import Problems
from referee.local.results import PlayerResults
from referee.ratings.sprt import RunningTest
from referee.standings import points
from referee_extras.local_tournaments.plan import LocalPlan
from referee_extras.local_tournaments.store import LocalOutcome, LocalStore


class BotNotReady(RefereeError):
    """Signal that a bot does not answer or does not play the game."""


async def fetch_manifests(
    entrants: Sequence[LocalEntrant], game_name: str, secrets: tuple[str, ...]
) -> list[LocalEntrant]:
    """Return the entrants with their versions and limits of concurrent requests from their manifests. Raise
    ``BotNotReady`` for a bot that does not answer or does not play this game."""
    return list(await asyncio.gather(*(_with_manifest(entrant, game_name, secrets) for entrant in entrants)))


async def _with_manifest(entrant: LocalEntrant, game_name: str, secrets: tuple[str, ...]) -> LocalEntrant:
    if entrant.is_house:
        return entrant
    caller = BotCaller(CallTarget(entrant.id, entrant.address, secrets), LOCAL_POLICY)
    try:
        check = await fetch_manifest(caller)
    finally:
        caller.close()
    if check.manifest is None:
        raise BotNotReady(
            f"{entrant.source} is not ready ({check.reply.fault}: {check.reply.detail}). `referee check` reports more."
        )
    if game_name not in check.manifest.games:
        raise BotNotReady(f"{entrant.source} does not play {game_name}; it plays {', '.join(check.manifest.games)}")
    most = check.manifest.max_concurrent_requests
    return replace(entrant, version=check.manifest.version, max_concurrent_requests=most)


class LocalTournament:
    """Play a plan, write its logs to ``store``, and call ``changed`` after every match.

    A sequential test uses the deals in the order of their numbers, without a gap, instead of the order in which they
    finish, because long deals may differ systematically from short ones.
    """

    def __init__(self, plan: LocalPlan, store: LocalStore, changed: Callable[["LocalTournament"], None]) -> None:
        self.plan = plan
        self.matches = 0  # finished ones, including those of deals in progress
        self.problems = {entrant.name: Problems() for entrant in plan.match_plan.entrants}  # of this run only
        self.running = RunningTest(plan.hypotheses) if plan.hypotheses else None
        self._store = store
        self._changed = changed
        self._finished: dict[int, list[LocalOutcome]] = {}  # by deal
        self._tested = 0  # number of the last deal that the test has used
        self._in_progress: dict[int, list[LocalOutcome]] = {}  # by deal
        self._limits = CallLimits()
        self._slots = _match_slots(plan.match_plan.entrants)

    @property
    def has_verdict(self) -> bool:
        """Return whether a sequential test has reached a verdict."""
        return self.running is not None and self.running.verdict is not None

    @property
    def deals(self) -> int:
        """Return the number of deals that count so far: those used by a verdict if there is one, else all finished."""
        return self.running.groups if self.running and self.has_verdict else len(self._finished)

    def results(self) -> PlayerResults:
        """Return the results of deals that count: those used by a verdict if there is one, else all finished ones."""
        results = PlayerResults(entrant.name for entrant in self.plan.match_plan.entrants)
        for deal, matches in sorted(self._finished.items()):
            if not self.has_verdict or deal <= self._tested:
                for match in matches:
                    results.add(match.names, deal, match.result)
        return results

    def load_stored_deals(self) -> int:
        """Count the deals that are already stored, and return their number."""
        for deal, matches in self._store.read_finished():
            self.matches += len(matches)
            self._count_deal(deal, matches)
        return len(self._finished)

    async def play(self, concurrency: int) -> None:
        """Play the missing deals, up to ``concurrency`` matches at a time. If cancelled, keep only finished deals."""
        sittings = self._missing_matches()
        tasks = [asyncio.create_task(self._play_all(sittings)) for _ in range(concurrency)]
        try:
            for task in asyncio.as_completed(tasks):
                await task
                if self.has_verdict:
                    break
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._store.drop_unfinished_deals()

    def _missing_matches(self) -> Iterator[tuple[int, PlannedMatch]]:
        for deal in range(1, self.plan.deals + 1):
            if deal not in self._finished:
                self._store.begin(deal)
                self._in_progress[deal] = []
                yield from ((deal, sitting) for sitting in self.plan.matches_of_deal(deal))

    async def _play_all(self, sittings: Iterator[tuple[int, PlannedMatch]]) -> None:
        while not self.has_verdict:
            due = next(sittings, None)
            if due is None:
                return
            await self._play(*due)
            await asyncio.sleep(0)  # house players never wait, so without this, other tasks and Ctrl-C would be delayed

    async def _play(self, deal: int, sitting: PlannedMatch) -> None:
        async with AsyncExitStack() as slots:
            # All matches acquire slots in the same order, which rules out deadlocks.
            for source in sorted({entrant.source for entrant in sitting.seated if not entrant.is_house}):
                await slots.enter_async_context(self._slots[source])
            played = await play_match(self.plan.match_plan, sitting, self._limits)
        for entrant, problems in zip(sitting.seated, played.problems, strict=True):
            self.problems[entrant.name].add(problems)
        matches = self._in_progress[deal]
        matches.append(self._store.write(deal, played))
        self.matches += 1
        if len(matches) == self.plan.matches_per_deal:
            self._store.finish(deal)
            self._count_deal(deal, self._in_progress.pop(deal))
        self._changed(self)

    def _count_deal(self, deal: int, matches: list[LocalOutcome]) -> None:
        self._finished[deal] = matches
        while self.running and not self.has_verdict and self._tested + 1 in self._finished:
            self._tested += 1
            self.running.add(self._score(self._finished[self._tested]))

    def _score(self, matches: Sequence[LocalOutcome]) -> float:
        first = self.plan.match_plan.entrants[0].name
        return sum(float(points(result["placements"])[names.index(first)]) for names, result in matches) / len(matches)


def _match_slots(entrants: Sequence[LocalEntrant]) -> dict[str, asyncio.Semaphore]:
    """Return semaphores, keyed by source, that limit each bot's matches to its ``max_concurrent_requests``.

    Each match keeps a connection open, and a simple server answers only that many connections.
    """
    sources = [entrant.source for entrant in entrants if not entrant.is_house]
    calls = {entrant.source: entrant.max_concurrent_requests for entrant in entrants}
    return {source: asyncio.Semaphore(max(1, calls[source] // sources.count(source))) for source in set(sources)}
