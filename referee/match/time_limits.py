"""Represent thinking time as a budget per decision and a bank per match. The driver measures the time."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Hold the time limits of a match: ``budget_ms`` per decision, and ``bank_ms`` per match for time beyond it."""

    budget_ms: int = 1_000
    bank_ms: int = 10_000


class Banks:
    """Track the remaining bank of each seat, computed from the recorded times alone."""

    def __init__(self, limits: Limits, seats: int) -> None:
        self.limits = limits
        self.bank_ms = [limits.bank_ms] * seats
        self.last_ms: list[int | None] = [None] * seats  # duration of the last answer, None before the first

    def deadline_ms(self, seat: int) -> int:
        """Return the milliseconds that a seat may take for its next answer: its budget plus its bank."""
        return self.limits.budget_ms + self.bank_ms[seat]

    def spend(self, seat: int, ms: int) -> None:
        """Charge the time of an answer beyond the budget to the bank, which never drops below 0."""
        over_budget_ms = max(0, ms - self.limits.budget_ms)
        self.bank_ms[seat] = max(0, self.bank_ms[seat] - over_budget_ms)
        self.last_ms[seat] = ms
