"""The ± beside a rating is its error, in simulated seasons rated by the service's own code."""

from random import Random
from statistics import fmean

import pytest

from tests.ratings.coverage import BOUNDS, FIELDS, LENGTHS, cells, lag_of_a_better_version

BOTS = 2_000  # of a cell


@pytest.mark.parametrize("seats", [2, 4])
@pytest.mark.parametrize("name", ["mixed 20", "near", "house"])
def test_about_95_of_100_ratings_lie_within_their_error(name: str, seats: int) -> None:
    found = cells(name, seats, seasons=12, lengths=(30,))

    (cell, width) = found[30]
    print(name, seats, cell.covered, cell.ratio(), width)
    assert 0.90 <= cell.share() <= 0.99
    assert 80 < width < 200


@pytest.mark.long
@pytest.mark.parametrize("seats", [2, 4])
@pytest.mark.parametrize("name", FIELDS)
def test_no_cell_has_an_interval_beside_the_promise(name: str, seats: int) -> None:
    least, most = BOUNDS

    found = cells(name, seats, seasons=max(2, BOTS // FIELDS[name]))

    print({length: (cell.share(), cell.interval(), cell.ratio(), width) for length, (cell, width) in found.items()})
    assert found.keys() == set(LENGTHS)
    for cell, _ in found.values():
        low, high = cell.interval()
        assert low <= most
        assert high >= least


@pytest.mark.parametrize("seats", [2, 4])
def test_a_version_that_is_200_points_better_is_rated_so_after_60_matches(seats: int) -> None:
    # The same seasons without the improvement take most of the chance out of the difference.
    same, better = (
        fmean(lag_of_a_better_version(seats, Random(seed), gain=gain) for seed in range(20)) for gain in (0.0, 200.0)
    )

    print(seats, same, better)
    assert better - same <= 50
