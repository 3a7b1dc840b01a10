"""Thinking time as data: a budget for each decision and a bank for the match. Measuring is the driver's job."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """``budget_ms`` is granted for every decision; what exceeds it is taken from the match's ``bank_ms``."""

    budget_ms: int = 1_000
    bank_ms: int = 10_000


class Banks:
    """What each seat has left, a function of the recorded times alone."""

    def __init__(self, limits: Limits, seats: int) -> None:
        self.limits = limits
        self.bank_ms = [limits.bank_ms] * seats
        self.last_ms: list[int | None] = [None] * seats  # time of the last answer, None before the first

    def deadline_ms(self, seat: int) -> int:
        """The time a seat may take now, budget and bank together."""
        return self.limits.budget_ms + self.bank_ms[seat]

    def spend(self, seat: int, ms: int) -> None:
        """Books the time of an answer; a bank is never overdrawn."""
        over_budget_ms = max(0, ms - self.limits.budget_ms)
        self.bank_ms[seat] = max(0, self.bank_ms[seat] - over_budget_ms)
        self.last_ms[seat] = ms
