"""The catalogue of games. To add one: a file here and a line below."""

from referee.errors import NoSuchGame
from referee.games.pool_nap import PoolNap
from referee.games.prince_albert import PrinceAlbert
from referee.games.prisoners import Prisoners
from referee.games.rummy_royal import RummyRoyal
from referee.games.saint_poker import SaintPoker
from referee.games.state import State

GAMES: tuple[type[State], ...] = (PoolNap, PrinceAlbert, Prisoners, RummyRoyal, SaintPoker)


def catalogue() -> dict[str, type[State]]:
    """All games by name."""
    return {game.name: game for game in GAMES}


def game(name: str) -> type[State]:
    """The game of this name; raises ``NoSuchGame``."""
    try:
        return catalogue()[name]
    except KeyError:
        raise NoSuchGame(f"no game is called {name!r}; there are {', '.join(catalogue())}") from None
