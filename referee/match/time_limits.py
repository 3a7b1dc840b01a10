"""Thinking time as data: a budget per decision and a bank per match. Measuring is the driver's job."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The time limits of a match: ``budget_ms`` per decision; time beyond it is taken from ``bank_ms`` per match."""

    budget_ms: int = 1_000
    bank_ms: int = 10_000


class Banks:
    """The remaining bank of each seat, computed from the recorded times alone."""

    def __init__(self, limits: Limits, seats: int) -> None:
        self.limits = limits
        self.bank_ms = [limits.bank_ms] * seats
        self.last_ms: list[int | None] = [None] * seats  # time of the last answer, None before the first

    def deadline_ms(self, seat: int) -> int:
        """Return the time a seat may take now: budget plus bank."""
        return self.limits.budget_ms + self.bank_ms[seat]

    def spend(self, seat: int, ms: int) -> None:
        """Charge the time of an answer. A bank never drops below 0."""
        over_budget_ms = max(0, ms - self.limits.budget_ms)
        self.bank_ms[seat] = max(0, self.bank_ms[seat] - over_budget_ms)
        self.last_ms[seat] = ms
