"""Draw the time that a forced move seems to take, so that its seat seems to have been asked.

A seat without a choice is not asked, so its move would follow immediately and reveal what it holds. Each forced move
therefore takes as long as a recent answer of the same bot in the same game, drawn at random.
"""

from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from random import Random, SystemRandom
from typing import Final

from referee.match.canonical import Json
from referee.match.forced_moves import find_forced_moves
from referee.match.match import Match, is_answer

TIMES_PER_BOT: Final = 64  # of a bot in a game; more would follow a change of its speed too slowly
MAX_BOTS: Final = 1_000  # times games


class ResponseTimes:
    """Hold the last response times of bots in milliseconds, for all matches of a runner."""

    def __init__(self) -> None:
        self._times: OrderedDict[tuple[str, str], deque[float]] = OrderedDict()

    def add(self, bot_id: str, game: str, ms: float) -> None:
        """Add a time. Forget the bot that has not answered for longest if there are too many."""
        times = self._times.setdefault((bot_id, game), deque(maxlen=TIMES_PER_BOT))
        times.append(ms)
        self._times.move_to_end((bot_id, game))
        if len(self._times) > MAX_BOTS:
            self._times.popitem(last=False)

    def find(self, bot_id: str, game: str) -> Sequence[float]:
        """Return the times of a bot in a game, oldest first."""
        return self._times.get((bot_id, game), ())


class ForcedWaits:
    """Draw waits for the forced moves of a match from the response times of its bots.

    A bot without a time in this game borrows one of the other bots in the match. There is no wait if these have none
    either, nor for a retired seat, which is never asked.
    """

    def __init__(self, match: Match, times: ResponseTimes, dice: Random | None = None) -> None:
        self._match, self._times = match, times
        self._dice = dice or SystemRandom()
        self._bot_ids: list[str] = [player["bot"] for player in match.header["players"]]
        if not any(map(self._find_times, range(len(self._bot_ids)))):  # the match comes from another runner
            for row in match.log.rows:
                if is_answer(row):
                    self.add_time(row["seat"], row["ms"])

    def add_time(self, seat: int, ms: float) -> None:
        """Add the milliseconds from a question to this seat until its answer was recorded.

        Times of sealed answers are not needed, because no game with such answers has forced moves to hide.
        """
        self._times.add(self._bot_ids[seat], self._match.rules.name, ms)

    def draw_delays(self, rows: Sequence[Json]) -> Mapping[int, list[float]]:
        """Return when the events of new rows are shown, keyed by row number, in milliseconds after they were recorded.

        Omit rows whose events are all shown immediately. Nothing is delayed in a match that is over.
        """
        delays, elapsed = {}, 0.0
        for row in () if self._match.over else rows:
            forced = dict(find_forced_moves(self._match.rules, row))
            if not forced and not elapsed:
                continue
            times = []
            for place in range(len(row.get("events", []))):
                if place in forced:
                    elapsed += self._draw_wait_ms(forced[place])
                times.append(round(elapsed, 1))
            if any(times):
                delays[row["row"]] = times
        return delays

    def _draw_wait_ms(self, seat: int) -> float:
        if seat in self._match.retired:
            return 0.0
        borrowed = [ms for other in range(len(self._bot_ids)) for ms in self._find_times(other)]
        times = self._find_times(seat) or borrowed
        return self._dice.choice(times) if times else 0.0

    def _find_times(self, seat: int) -> Sequence[float]:
        return self._times.find(self._bot_ids[seat], self._match.rules.name)
