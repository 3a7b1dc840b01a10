"""Validate the times at which the rounds of a tournament begin. ``round_timing`` applies them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final

from referee.errors import BadOption

MAX_ROUND_TIMES: Final = 100


def complete_times(times: Sequence[datetime | str], *, rounds: int | None, starts_at: datetime | None) -> list[str]:
    """Return the times in UTC as they are stored. ``rounds`` is the number of rounds, if it is fixed.

    Raise ``BadOption`` unless there is one for each round, each is later than the one before, and the first is not
    before the start.
    """
    moments = [read_time(time) for time in times]
    if rounds is not None and len(moments) != rounds:
        raise BadOption("round_times", f"must name one time for each of the {rounds} rounds, not {len(moments)}")
    if not 1 <= len(moments) <= MAX_ROUND_TIMES:
        raise BadOption("round_times", f"must be null or a list of 1 to {MAX_ROUND_TIMES} times")
    for number, (before, after) in enumerate(pairwise(moments), 2):
        if after <= before:
            raise BadOption("round_times", f"time {number} must be later than the one before, {before.isoformat()}")
    if starts_at is not None and moments[0] < starts_at:
        raise BadOption("round_times", "the first time must not be earlier than starts_at")
    return [moment.isoformat().replace("+00:00", "Z") for moment in moments]


def read_time(time: datetime | str) -> datetime:
    """Return a time as given or as stored, in UTC."""
    return (datetime.fromisoformat(time) if isinstance(time, str) else time).astimezone(UTC)


def check_changes(before: Sequence[str] | None, after: Sequence[str] | None, *, begun: int, moment: datetime) -> None:
    """Raise ``BadOption`` if the times of the ``begun`` first rounds change, or if a changed later time has passed."""
    times, known = list(map(read_time, after or ())), list(map(read_time, before or ()))
    if known and times[:begun] != known[:begun][: len(times)]:
        raise BadOption("round_times", f"the times of the first {begun} rounds, which have begun, cannot be changed")
    for number, time in enumerate(times[begun:], begun + 1):
        if time <= moment and time not in known[number - 1 : number]:
            raise BadOption(
                "round_times", f"time {number} must be later than now, {moment.isoformat(timespec='seconds')}"
            )
