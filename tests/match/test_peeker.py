"""The peeker finds nothing in what the service shows, and everything in what a leaking service would show."""

import pytest

from tests.match.peeker import GAMES, Gain, Leak, measure_gains, play_matches

Gains = dict[str, Gain]


@pytest.fixture(scope="module", params=GAMES)
def gains(request: pytest.FixtureRequest) -> tuple[Gains, Gains]:
    """Return the gains from what the service shows, and from what a leaking service would show."""
    leaks = (Leak(), Leak(numbers=True, groups=True, times=True))
    honest, leaking = map(measure_gains, play_matches(request.param, leaks, matches=60))
    return honest, leaking


def test_D14_nothing_that_is_shown_helps_to_tell_a_forced_move(gains: tuple[Gains, Gains]) -> None:
    found, _ = gains

    assert {kind.split(",")[0] for kind in found} == {
        *("number", "group", "size", "time", "message"),
        *("question number", "question size", "question time"),
    }
    assert [kind for kind, gain in found.items() if gain.is_found] == []


def test_D14_the_peeker_finds_what_is_planted(gains: tuple[Gains, Gains]) -> None:
    _, found = gains

    for evidence in ("number", "group", "time"):
        assert found[evidence].is_found
        assert found[evidence].bits > 0.05
