"""Test the Elo difference of two players sequentially, and stop as soon as the results are conclusive.

This is the generalised sequential probability ratio test (GSPRT) used in engine testing. It is applied to deal groups:
matches of one group share their cards, so the mean score of each group counts as one observation, like a game pair in
pentanomial testing. The bounds follow A. Wald, "Sequential Tests of Statistical Hypotheses", Ann. Math. Stat. 16
(1945). The likelihood ratio, with the variance estimated from the same scores, follows M. Van den Bergh, "A Practical
Introduction to the GSPRT" and "The Generalized Sequential Probability Ratio Test for Expected Value" (as used by
Fishtest), after X. Li, J. Liu and Z. Ying, "Generalized Sequential Probability Ratio Test for Separate Families of
Hypotheses", Seq. Anal. 33 (2014).
"""

from dataclasses import dataclass
from math import log
from typing import Final, Literal

from referee.errors import BadOption

MIN_GROUPS: Final = 8  # with fewer, the estimated variance is unreliable
MAX_VARIANCE: Final = 0.25  # the maximum variance of a score between 0 and 1

Verdict = Literal["h0", "h1"]


@dataclass(frozen=True, slots=True)
class Hypotheses:
    """Define the hypotheses H0 and H1: the first player is ``elo0`` or ``elo1`` Elo points above the second.

    ``alpha`` is the approximate probability of accepting H1 if H0 holds, ``beta`` that of accepting H0 if H1 holds.
    Raise ``BadOption`` for values out of bounds.
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
        """Return the log-likelihood ratio at or below which H0 is accepted."""
        return log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """Return the log-likelihood ratio at or above which H1 is accepted."""
        return log((1 - self.beta) / self.alpha)


class RunningTest:
    """Represent a running test.

    Add the scores of deal groups in the order of the deals, not in the order of their arrival. Scores added after the
    verdict are ignored.
    """

    def __init__(self, test: Hypotheses) -> None:
        self.test = test
        self.groups = 0
        self.verdict: Verdict | None = None
        self._sum = 0.0
        self._squares = 0.0

    def add(self, score: float) -> Verdict | None:
        """Add the first player's mean points per match (0 to 1) of one group. Return the verdict, or None."""
        if self.verdict is None:
            self.groups += 1
            self._sum += score
            self._squares += score * score
            self.verdict = self._decide()
        return self.verdict

    @property
    def ratio(self) -> float:
        """Return the log-likelihood ratio of H1 to H0, by the normal approximation.

        The variance includes one prior group of maximum variance, because equal scores so far do not prove that the
        true variance is 0.
        """
        if not self.groups:
            return 0.0
        mean = self._sum / self.groups
        variance = (max(0.0, self._squares - self.groups * mean * mean) + MAX_VARIANCE) / self.groups
        low, high = expected_score(self.test.elo0), expected_score(self.test.elo1)
        return self.groups * (high - low) * (2 * mean - low - high) / (2 * variance)

    def _decide(self) -> Verdict | None:
        if self.groups < MIN_GROUPS:
            return None
        if self.ratio <= self.test.lower:
            return "h0"
        return "h1" if self.ratio >= self.test.upper else None


def expected_score(elo: float) -> float:
    """Return the expected points per match of a player who is rated ``elo`` points above the other."""
    return float(1 / (1 + 10 ** (-elo / 400)))
