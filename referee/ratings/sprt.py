"""When two players have met often enough: a sequential test of their distance in Elo. Playing is left to others.

The generalised sequential probability ratio test (GSPRT) of engine testing, over deal groups: matches of one group
share their cards, so what counts is the mean score of each group, as game pairs do in pentanomial testing.
Bounds: A. Wald, "Sequential Tests of Statistical Hypotheses", Ann. Math. Stat. 16 (1945). The ratio of likelihoods,
with the variance estimated from the same scores: M. Van den Bergh, "A Practical Introduction to the GSPRT" and
"The Generalized Sequential Probability Ratio Test for Expected Value" (as used by Fishtest); after X. Li, J. Liu and
Z. Ying, "Generalized Sequential Probability Ratio Test for Separate Families of Hypotheses", Seq. Anal. 33 (2014).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import log
from typing import Final, Literal

from referee.errors import BadOption

LEAST_GROUPS: Final = 8  # before that a variance says too little
SPREAD: Final = 0.25  # the most that a score between 0 and 1 varies

Verdict = Literal["h0", "h1"]


@dataclass(frozen=True, slots=True)
class Hypotheses:
    """H0: the first player is ``elo0`` above the other, against H1: it is ``elo1`` above it.

    ``alpha`` is the chance to accept H1 where H0 holds, ``beta`` to accept H0 where H1 holds, both about. Raises
    ``BadOption`` where the numbers make no test.
    """

    elo0: float = 0.0
    elo1: float = 20.0
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        if not -1000 <= self.elo0 < self.elo1 <= 1000:
            raise BadOption("sprt", "expected elo0 below elo1, both from -1000 to 1000")
        for name, error in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0.0001 <= error <= 0.4:
                raise BadOption("sprt", f"expected {name} from 0.0001 to 0.4, got {error:g}")

    @property
    def lower(self) -> float:
        """At this log-likelihood ratio or below, H0 is accepted."""
        return log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """At this log-likelihood ratio or above, H1 is accepted."""
        return log((1 - self.beta) / self.alpha)


class RunningTest:
    """A test under way: the scores of deal groups go in, in the order of the deals, not of arrival.

    After the verdict nothing counts any more.
    """

    def __init__(self, test: Hypotheses) -> None:
        self.test = test
        self.groups = 0
        self.verdict: Verdict | None = None
        self._sum = 0.0
        self._squares = 0.0

    def add(self, score: float) -> Verdict | None:
        """Takes the first player's mean points per match of one group, from 0 to 1; gives the verdict, if there is."""
        if self.verdict is None:
            self.groups += 1
            self._sum += score
            self._squares += score * score
            self.verdict = self._judged()
        return self.verdict

    @property
    def ratio(self) -> float:
        """The logarithm of how much likelier the scores are under H1 than under H0, by the normal approximation.

        One group as spread as can be is in the variance from the start: scores that have all been the same so far
        do not prove that they always will be.
        """
        if not self.groups:
            return 0.0
        mean = self._sum / self.groups
        variance = (max(0.0, self._squares - self.groups * mean * mean) + SPREAD) / self.groups
        low, high = expected_score(self.test.elo0), expected_score(self.test.elo1)
        return self.groups * (high - low) * (2 * mean - low - high) / (2 * variance)

    def _judged(self) -> Verdict | None:
        if self.groups < LEAST_GROUPS:
            return None
        if self.ratio <= self.test.lower:
            return "h0"
        return "h1" if self.ratio >= self.test.upper else None


def run_test(test: Hypotheses, scores: Iterable[float]) -> RunningTest:
    """The test after all these scores, or after as many as it took."""
    running = RunningTest(test)
    for score in scores:
        if running.add(score):
            break
    return running


def expected_score(elo: float) -> float:
    """The points per match that a player so far above the other expects."""
    return float(1 / (1 + 10 ** (-elo / 400)))
