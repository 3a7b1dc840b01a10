"""Keep matches open on a site while something happens to it."""

import time
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

from referee.errors import Unavailable
from referee.matches.states import PLAYABLE
from tools.chaos.bots import RandomBots
from tools.hosts.service import DistributedService

BOTS, LATENCY_MS = 4, 40  # the second bot takes twice as long, and so on
TIME = {"budget_ms": 60_000, "bank_ms": 60_000}
PATIENCE_S = 240.0
ROWS_EACH_S = 3.0


class Workload:
    """Arrange matches of bots that answer at random, through the API, so that ``open_matches`` are never over."""

    def __init__(
        self, site: DistributedService, bots: RandomBots, rng: Random, *, open_matches: int, most_rounds: int
    ) -> None:
        self.site, self.bots, self.rng = site, bots, rng
        self.open_matches, self.most_rounds = open_matches, most_rounds
        self.client = site.create_client()
        self.rows: dict[str, list[bytes]] = {}
        self._rows_due = 0.0

    @staticmethod
    def enlist_bots(site: DistributedService, bots: RandomBots, latency_ms: int) -> None:
        for number in range(1, BOTS + 1):
            site.enlist(bots.serve_random(latency_ms=latency_ms * number, host=site.lan.bots_address))

    def play(self, seconds: float) -> None:
        """Keep matches open for so long."""
        end = time.monotonic() + seconds
        self.play_until(lambda: time.monotonic() > end, "the end of a time", seconds + 30)

    def play_until(self, condition: Callable[[], Any], what: str, seconds: float = PATIENCE_S) -> None:
        """Keep matches open until the condition holds. Raise ``AssertionError`` if it takes longer than ``seconds``."""

        def holds() -> bool:
            self._go_on()
            return bool(condition())

        self.site.until(holds, what, seconds)

    def finish(self) -> None:
        """Arrange no more, and wait until all matches are over."""
        self.open_matches = 0
        self.play_until(self._are_all_over, "the end of all matches")

    def _go_on(self) -> None:
        self.site.keep_hosts()
        with suppress(Unavailable):
            self._arrange()
            if time.monotonic() > self._rows_due:
                self._keep_rows()
                self._rows_due = time.monotonic() + ROWS_EACH_S
        time.sleep(0.25)  # between two looks, so that the load is the matches and not the looking

    def _arrange(self) -> None:
        for _ in range(self.open_matches - self._count_open()):
            seats = self.rng.sample(self.site.bot_ids, self.rng.randint(2, BOTS))
            game, rounds = self.rng.choice(["pool-nap", "saint-poker"]), self.rng.randint(2, self.most_rounds)
            new_match = {"game": game, "bots": seats, "options": {"rounds": rounds}, "rated": True, "time": TIME}
            self.client.arrange(new_match)
        self.client.send_waiting()

    def _keep_rows(self) -> None:
        """Note recorded rows, for a comparison with the final logs."""
        for match_id in self.client.match_ids[-self.open_matches :] if self.open_matches else ():
            self.rows[match_id] = max(self.site.lines(match_id), self.rows.get(match_id, []), key=len)

    def _count_open(self) -> int:
        statuses = self.site.statuses()
        return sum(statuses.get(status, 0) for status in PLAYABLE) + self.client.waiting

    def _are_all_over(self) -> bool:
        with suppress(Unavailable):
            return self._count_open() == 0
        return False
