"""The peeker finds nothing in what the service shows, and everything in what a leaking service would show."""

import pytest

from tests.match.peeker import GAMES, Gain, Leak, measure_gains, play_matches

MATCHES = 80


def gains(game: str, leak: Leak) -> dict[str, Gain]:
    return measure_gains(play_matches(game, leak, matches=MATCHES))


@pytest.mark.parametrize("game", GAMES)
def test_D14_nothing_that_is_shown_helps_to_tell_a_forced_move(game: str) -> None:
    found = gains(game, Leak())

    assert {kind.split(",")[0] for kind in found} == {
        *("number", "group", "size", "time", "message"),
        *("question number", "question size", "question time"),
    }
    assert [kind for kind, gain in found.items() if gain.is_found] == []


@pytest.mark.parametrize("game", GAMES)
def test_D14_the_peeker_finds_what_is_planted(game: str) -> None:
    found = gains(game, Leak(numbers=True, groups=True, times=True))

    for evidence in ("number", "group", "time"):
        assert found[evidence].is_found
        assert found[evidence].bits > 0.05
