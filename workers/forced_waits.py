"""Draw the time that a forced move seems to take, so that its seat seems to have been asked.

A seat without a choice is not asked, so its move would follow immediately and reveal what it holds. Each forced move
therefore takes as long as an answer that the same seat gave in this match, drawn at random.
"""

from collections.abc import Mapping, Sequence
from math import ceil
from random import Random, SystemRandom

from referee.match.canonical import Json
from referee.match.forced_moves import find_forced_moves
from referee.match.match import Match, is_answer


class ForcedWaits:
    """Hold the response times of the seats of a match, and draw waits from them.

    A seat that has not answered yet borrows a time of another seat. Before the first answer of the match, and for
    retired seats, which are never asked, there is no wait.
    """

    def __init__(self, match: Match, dice: Random | None = None) -> None:
        self._match = match
        self._dice = dice or SystemRandom()
        self._times_ms: list[list[float]] = [[] for _ in range(match.header["seats"])]
        for row in match.log.rows:
            if is_answer(row):
                self.add_time(row["seat"], row["ms"])

    def add_time(self, seat: int, ms: float) -> None:
        """Add the milliseconds from a question to this seat until its answer was recorded.

        Times of sealed answers are not needed, because no game with such answers has forced moves to hide.
        """
        self._times_ms[seat].append(ms)

    def draw_delays(self, rows: Sequence[Json]) -> Mapping[int, list[int]]:
        """Return when the events of new rows are shown, keyed by row number, in milliseconds after they were recorded.

        Omit rows whose events are all shown immediately. Nothing is delayed in a match that is over.
        """
        delays, elapsed = {}, 0.0
        for row in () if self._match.over else rows:
            forced = dict(find_forced_moves(self._match.rules, row))
            times = []
            for place in range(len(row.get("events", []))):
                if place in forced:
                    elapsed += self._draw_wait_ms(forced[place])
                times.append(ceil(elapsed))
            if any(times):
                delays[row["row"]] = times
        return delays

    def _draw_wait_ms(self, seat: int) -> float:
        if seat in self._match.retired:
            return 0.0
        others = [ms for times in self._times_ms for ms in times]
        times_ms = self._times_ms[seat] or others
        return self._dice.choice(times_ms) if times_ms else 0.0
