"""Compute error bars of points per match: percentile intervals by bootstrap over deal groups."""

import hashlib
import hmac
import struct
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, erfc, floor, lcm, sqrt
from typing import Final

from referee.pairing.history import half_points
from referee.standings.results import MatchOutcome

MIN_GROUPS: Final = 2
NORMAL: Final = 1.959964  # standard deviations on each side of a 95 % interval
# These are the occurrences of a group in a sample for each random byte: a Poisson distribution with mean 1, in steps of
# 1/256.
COUNTS: Final = bytes(count for count, bytes_of in enumerate((95, 93, 47, 16, 4, 1)) for _ in range(bytes_of))
Sums = dict[Hashable, tuple[int, int]]  # by entrant: points in units of 1/``unit``, and matches


@dataclass(frozen=True, slots=True)
class ErrorBar:
    """Hold points per match with a 95 % confidence interval from ``low`` to ``high``.

    ``groups`` is the number of deal groups. With fewer than ``MIN_GROUPS``, the interval is None; with fewer than about
    eight, it is too narrow. Without a match, ``points_per_match`` is None.
    """

    points_per_match: Fraction | None
    low: float | None
    high: float | None
    groups: int


def bootstrap(
    entrants: Iterable[Hashable], outcomes: Iterable[MatchOutcome], *, draw_key: bytes, samples: int = 1000
) -> dict[Hashable, ErrorBar]:
    """Return the error bar of every entrant. Byes and seats played by substitutes do not count.

    Matches of one deal group share their cards, so whole groups are resampled. The number of times a group occurs in a
    sample has a Poisson distribution with mean 1 (Hanley and MacGibbon 2006). The interval omits the same share of
    samples at both ends. The share is smaller if there are few groups (the expanded percentile interval of Hesterberg
    2015). The occurrences depend only on ``draw_key`` and the name of the group, so the order of the results does not
    matter.
    """
    order = dict.fromkeys(entrants)
    unit, groups = _sums_by_group(order, list(outcomes))
    whole: dict[Hashable, list[tuple[int, int]]] = {entrant: [] for entrant in order}
    for sums in groups.values():
        for entrant, sum_of_group in sums.items():
            whole[entrant].append(sum_of_group)
    resampled = _Resampling(groups, draw_key, samples)
    return {
        entrant: _bar(unit, parts, resampled.ratios(entrant) if len(parts) >= MIN_GROUPS else [])
        for entrant, parts in whole.items()
    }


def _bar(unit: int, parts: Sequence[tuple[int, int]], ratios: list[float]) -> ErrorBar:
    matches = sum(played for _, played in parts)
    mean = Fraction(sum(gained for gained, _ in parts), unit * matches) if matches else None
    if not ratios:
        return ErrorBar(mean, None, None, len(parts))
    ratios.sort()
    tail = _tail(len(parts)) * len(ratios)
    low, high = ratios[floor(tail)], ratios[ceil(len(ratios) - tail) - 1]
    return ErrorBar(mean, low / unit, high / unit, len(parts))


def _tail(groups: int) -> float:
    """Return the share of samples to omit at each end: 2.5 % if there are many groups, and less otherwise.

    With n groups, bootstrap deviations are too small by the factor sqrt((n - 1) / n), and they lack the correction by
    Student's t (Abramowitz and Stegun 26.7.5).
    """
    freedom, z = groups - 1, NORMAL
    student = z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    return erfc(student * sqrt(groups / freedom) / sqrt(2)) / 2


def _sums_by_group(entrants: Mapping[Hashable, None], outcomes: Sequence[MatchOutcome]) -> tuple[int, dict[str, Sums]]:
    """Return the number of units in a point, and the sums of each deal group in these units."""
    unit = lcm(2, *(2 * (size - 1) for size in {len(outcome.placements) for outcome in outcomes}))
    groups: dict[str, Sums] = {}
    for outcome in outcomes:
        worth = unit // (2 * (len(outcome.placements) - 1))
        scored = half_points(outcome.placements)
        sums = groups.setdefault(outcome.group, {})
        for seat in outcome.seats_of(entrants):
            gained, matches = sums.get(outcome.entrants[seat], (0, 0))
            sums[outcome.entrants[seat]] = (gained + worth * scored[seat], matches + 1)
    return unit, groups


class _Resampling:
    """Hold the sums of all samples. One large integer per entrant has a bit field for each sample, so that one
    multiplication adds a group to all samples."""

    def __init__(self, groups: Mapping[str, Sums], draw_key: bytes, samples: int) -> None:
        self._samples = samples
        most = sum(max(max(sum_of) for sum_of in sums.values()) for sums in groups.values() if sums)
        self._width, code = (4, "I") if most * max(COUNTS) < 2**32 else (8, "Q")
        self._fields = f"<{samples}{code}"
        self._points: dict[Hashable, int] = {}
        self._matches: dict[Hashable, int] = {}
        for name, sums in groups.items():
            counts = self._counts(name, draw_key)
            for entrant, (gained, matches) in sums.items():
                self._points[entrant] = self._points.get(entrant, 0) + gained * counts
                self._matches[entrant] = self._matches.get(entrant, 0) + matches * counts

    def ratios(self, entrant: Hashable) -> list[float]:
        """Return the entrant's points per match in each sample that contains a match of the entrant."""
        points, matches = self._unpack_samples(self._points[entrant]), self._unpack_samples(self._matches[entrant])
        return [gained / played for gained, played in zip(points, matches, strict=True) if played]

    def _counts(self, group: str, draw_key: bytes) -> int:
        """Return the number of occurrences of the group in each sample, as an integer with one bit field per sample."""
        key = hmac.digest(draw_key, f"bootstrap|{group}".encode(), "sha256")
        fields = bytearray(self._samples * self._width)
        fields[:: self._width] = hashlib.shake_256(key).digest(self._samples).translate(COUNTS)
        return int.from_bytes(fields, "little")

    def _unpack_samples(self, fields: int) -> tuple[int, ...]:
        return struct.unpack(self._fields, fields.to_bytes(self._samples * self._width, "little"))
