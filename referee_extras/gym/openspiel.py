"""Register the games with OpenSpiel, as ``referee_pool_nap`` and so on, when this module is imported.

Cards are drawn one at a time, so that chance nodes can be enumerated. Concurrent choices are made in turn and are not
visible to each other.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyspiel

from referee.games import catalogue, game
from referee.games.options import parse_options
from referee.games.state import Event, State
from referee.match.canonical import Json, dumps
from referee.match.log import visible_events
from referee_extras.gym.encoding import Array, Encoder

MOST_CARDS: Final = 112  # in two decks with four jokers each; no chance node has more outcomes
HUGE: Final = 1e9  # more than any match can gain or lose


def name_of(game_name: str) -> str:
    """Return the name of a game in OpenSpiel, like ``referee_pool_nap``."""
    return "referee_" + game_name.replace("-", "_")


def load(game_name: str, players: int, options: Mapping[str, Any] | None = None) -> pyspiel.Game:
    """Load a game with these options. Raise ``NoSuchGame`` or ``BadOption``."""
    game(game_name).start(players, options)
    return pyspiel.load_game(name_of(game_name), {"players": players, "options": format_options(options or {})})


class Game(pyspiel.Game):  # type: ignore[misc]  # pyspiel ships no types
    """Represent a game with the parameters ``players`` and ``options`` (see ``format_options``)."""

    def __init__(self, game_name: str, kind: pyspiel.GameType, parameters: Mapping[str, Any]) -> None:
        self.rules = game(game_name)
        self.players = int(parameters.get("players", self.rules.seats[0]))
        pairs = filter(None, str(parameters.get("options", "")).split(";"))
        texts = [pair.replace(":", "=", 1).replace("+", ",") for pair in pairs]
        self.options = parse_options(game_name, self.rules.option_specs, texts)
        complete = self.rules.start(self.players, self.options).options
        information = pyspiel.GameInfo(
            num_distinct_actions=game(game_name).legal_bound(self.players),
            max_chance_outcomes=MOST_CARDS,
            num_players=self.players,
            min_utility=-HUGE,
            max_utility=HUGE,
            utility_sum=None,
            max_game_length=self.rules.decision_bound(self.players, complete),
        )
        super().__init__(kind, information, dict(parameters))

    def new_initial_state(self) -> "Position":
        return Position(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "Observer":
        if params:
            raise ValueError("this observer takes no parameters")
        return Observer(self, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False))


class Position(pyspiel.State):  # type: ignore[misc]  # pyspiel ships no types
    """Represent a position, or an incomplete deal, whose ``drawn`` cards are applied when the deck is complete."""

    def __init__(self, of: Game) -> None:
        super().__init__(of)
        self.position: State = of.rules.start(of.players, of.options)
        self.events: list[Event] = []
        self.own: list[list[Json]] = [[] for _ in range(of.players)]  # each seat's decisions, including sealed ones
        self.drawn: list[int] = []  # indices into the items of the chance node, in order

    def current_player(self) -> int:
        if self.position.over:
            return int(pyspiel.PlayerId.TERMINAL)
        if self.position.chance() is not None:
            return int(pyspiel.PlayerId.CHANCE)
        return min(self.position.pending())

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the indices of the possible outcomes with their probabilities, which are equal."""
        drawn = {*self.drawn}
        left = [number for number in range(len(_draw_choices(self._current_question()))) if number not in drawn]
        return [(number, 1.0 / len(left)) for number in left]

    def is_terminal(self) -> bool:
        return self.position.over

    def returns(self) -> list[float]:
        if not self.position.over:
            return [0.0] * len(self.own)
        return [float(gained) for gained in self.position.returns()]

    def _legal_actions(self, player: int) -> list[int]:
        if player != self.current_player() or player < 0:
            return []
        return list(range(len(self.position.legal(player))))

    def _apply_action(self, action: int) -> None:
        if self.is_chance_node():
            self._draw(action)
            return
        seat = self.current_player()
        chosen = self.position.legal(seat)[action]
        self.events += self.position.apply(seat, chosen)
        self.own[seat].append(chosen)

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"draw {_draw_choices(self._current_question())[action]}"
        return dumps(self.position.legal(player)[action]).decode()

    def __str__(self) -> str:
        return dumps({"position": self.position.as_json(), "drawn": self.drawn}).decode()

    def information(self, player: int) -> str:
        """Return the JSON text of all events that a seat has seen and all its decisions in the match."""
        options = self.position.options
        told = visible_events(type(self.position), self.events, player, options)
        return dumps({"seat": player, "events": told, "own": self.own[player]}).decode()

    def _current_question(self) -> Json:
        asked = self.position.chance()
        assert asked is not None
        return asked

    def _draw(self, number: int) -> None:
        asked = self._current_question()
        among = _draw_choices(asked)
        if asked["kind"] == "draw" and not asked.get("ordered"):
            self.events += self.position.resolve(among[number])
            return
        self.drawn.append(number)
        if len(self.drawn) == len(among):
            order, self.drawn = [among[index] for index in self.drawn], []
            self.events += self.position.resolve(order)


class Observer:
    """Provide the view of a seat as an array (see ``Encoder``) and as text.

    The text is its observation or, with perfect recall, all that it has seen.
    """

    def __init__(self, of: Game, kind: Any) -> None:
        self._recalls = bool(kind.perfect_recall)
        self._encoder = Encoder(of.rules.name, of.players)
        self.tensor: Array = np.zeros(self._encoder.length, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: Position, player: int) -> None:
        self.tensor[:] = 0
        if not state.is_initial_state():
            self.tensor[:] = self._encoder.vector(state.position.observation(player))

    def string_from(self, state: Position, player: int) -> str:
        if self._recalls:
            return state.information(player)
        return "" if state.is_initial_state() else dumps(state.position.observation(player)).decode()


def format_options(options: Mapping[str, Any]) -> str:
    """Return options as one OpenSpiel parameter without commas, like ``cash:true;stack:100``, with lists as ``a+b``."""
    return ";".join(f"{name}:{_format_value(value)}" for name, value in options.items())


def _format_value(value: Any) -> str:
    return "+".join(value) if isinstance(value, list) else str(value).lower() if isinstance(value, bool) else str(value)


def _draw_choices(asked: Json) -> Sequence[Any]:
    found: Sequence[Any] = asked["cards"] if asked["kind"] == "deck" else asked["among"]
    return found


def _register(game_name: str) -> None:
    seats = game(game_name).seats
    kind = pyspiel.GameType(
        short_name=name_of(game_name),
        long_name=f"Referee: {game_name}",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.GENERAL_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=seats[-1],
        min_num_players=seats[0],
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={"players": seats[0], "options": ""},
    )

    class OfThisGame(Game):
        """Create this game.

        It is registered as a class, like OpenSpiel's own games, so that it remains valid at exit.
        """

        def __init__(self, parameters: Mapping[str, Any] | None = None) -> None:
            super().__init__(game_name, kind, parameters or {})

    pyspiel.register_game(kind, OfThisGame)


for _name in catalogue():
    _register(_name)
