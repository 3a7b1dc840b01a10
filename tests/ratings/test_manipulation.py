"""Nobody gains more than a standard error over honest play by farming anchors, colluding or registering again."""

import pytest

from tests.ratings.manipulation import SCENARIOS, Deed, Scenario, gain


@pytest.mark.parametrize(("scenario", "deed"), SCENARIOS, ids=[scenario.name for scenario, _ in SCENARIOS])
def test_C12_F5_F7_manipulators_gain_at_most_a_standard_error(scenario: Scenario, deed: Deed) -> None:
    found = gain(scenario, deed, days=12, seasons=3, seed=1)

    print(found)
    assert found.points <= found.error
