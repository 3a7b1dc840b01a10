"""Provide each game as a Gymnasium environment in which one seat learns and policies play all other seats.

Importing this module registers the environments with Gymnasium, such as ``referee/PoolNap-v1``.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any, ClassVar, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from referee.errors import BadOption, IllegalAction
from referee.games import catalogue, game
from referee.games.state import Seat
from referee.house.players import find_player
from referee.match.canonical import Json
from referee_extras.gym.actions import NUMBERINGS, ActionSpace, Mask
from referee_extras.gym.encoding import Array, Encoder
from referee_extras.gym.rendering import MODES, EventRenderer
from referee_extras.gym.spaces import ACTIONS, OBSERVED, box, check_choice
from referee_extras.gym.table import LearningTable

Policy = Callable[[Json], Json]  # takes a question, as house players get it, and returns an action
Opponent = str | Policy  # a house player, such as "house:3", or a function
Observed = Array | dict[str, Array]

CHOICES: dict[str, tuple[str, ...]] = {
    "actions": ACTIONS,
    "observe": OBSERVED,
    "reward": ("returns", "scores", "placement"),
    "illegal": ("default", "raise"),
}


class LearnerEnv(gymnasium.Env[Any, Any]):
    """Represent a match for one learner. An episode is a match, and a step is a decision of the learner's seat.

    - ``players``: number of seats; by default the one of the official ladder. ``options``: those of the game.
    - ``seat``: the learner's seat, from 0; None draws one for each match.
    - ``opponents``: a house player (``"house:3"``) or a function; in a list of these, one is drawn for each other seat
      and match. A function gets the question of its seat (``observation``, ``legal_actions``, ``default_action``).
    - ``actions``: ``"fixed"`` numbers all actions of the game (``ActionSpace``); ``"index"`` uses indices of the
      current legal actions. ``info["action_mask"]`` and ``action_masks()`` mark the legal ones.
    - ``observe``: ``"vector"`` or ``"dictionary"``, as in ``Encoder``.
    - ``reward``: at the end the ``"returns"`` of the match, or in ``"placement"`` the share of the other seats that are
      placed behind, ties counting half; ``"scores"`` gives the change of the own score in each step.
    - ``illegal``: ``"default"`` plays the default action instead of an illegal one, as a service does, and sets
      ``info["illegal"]``; ``"raise"`` raises ``IllegalAction``.

    Moves that everyone can see to be forced are played without a step. Raise ``NoSuchGame``, ``NoSuchHousePlayer``,
    ``BadOption`` or ``ValueError`` for invalid arguments.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [*MODES], "render_fps": 1}  # type: ignore[misc]  # the base class does not say ClassVar

    def __init__(
        self,
        game_name: str,
        players: int | None = None,
        options: Mapping[str, Any] | None = None,
        *,
        opponents: Opponent | Sequence[Opponent] = "house:3",
        seat: Seat | None = 0,
        actions: Literal["fixed", "index"] = "fixed",
        observe: Literal["vector", "dictionary"] = "vector",
        reward: Literal["returns", "scores", "placement"] = "returns",
        illegal: Literal["default", "raise"] = "default",
        render_mode: str | None = None,
    ) -> None:
        self.game, self.options, self.render_mode = game_name, dict(options or {}), render_mode
        self.players = game(game_name).standard_seats if players is None else players
        game(game_name).start(self.players, self.options)  # raises BadOption for invalid options
        for name, value in {"actions": actions, "observe": observe, "reward": reward, "illegal": illegal}.items():
            check_choice(name, value, CHOICES[name])
        self._renderer = EventRenderer(render_mode)
        if seat is not None and seat not in range(self.players):
            raise BadOption("seat", f"expected 0 to {self.players - 1}, or None for a random seat, got {seat!r}")
        self._opponents = _list_opponents(opponents)
        self._learner, self._observe, self._reward, self._illegal = seat, observe, reward, illegal
        self.encoder = Encoder(game_name, self.players)
        self.numbering = ActionSpace(game_name, self.players) if actions == "fixed" else None
        self._size = self.numbering.size if self.numbering else game(game_name).legal_bound(self.players)
        self.action_space = spaces.Discrete(self._size)
        if observe == "vector":
            self.observation_space = box((self.encoder.length,))
        else:
            self.observation_space = spaces.Dict({name: box(shape) for name, shape in self.encoder.parts.items()})

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observed, Json]:
        """Start a new match. Equal seeds give equal cards, seats, opponents and decisions of house players.

        A match in which the learner has nothing to decide is replaced by another. Ignore ``options``: those of the
        game are fixed.
        """
        super().reset(seed=seed)
        self._deal_match()
        while self.table.to_act is None:
            self._deal_match()
        self._render_if_human()
        return self._look(), self._describe(illegal=False)

    def step(self, action: Any) -> tuple[Observed, float, bool, bool, Json]:
        """Play an action, and then for all other seats until the learner is to act again or the match is over."""
        chosen = self._legal.get(int(action))
        if chosen is None and self._illegal == "raise":
            raise IllegalAction(f"action {action} is not legal here; see info['action_mask']")
        self.table.play(self.table.state.default(self.seat) if chosen is None else chosen)
        self._play_others()
        self._render_if_human()
        over = self.table.to_act is None
        return self._look(), self._take_reward(over=over), over, False, self._describe(illegal=chosen is None)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal, for learners that ask for masks by this name."""
        return self._mask().astype(np.bool_)

    def question(self) -> Json:
        """Return the learner's question as JSON, as house players and bots read it."""
        return self.table.question()

    def render(self) -> str | None:
        """Return the events since the last call that the learner sees. In mode "human", print them and return None."""
        return self._renderer.render(self.table, self.seat)

    # -- the match --

    def _deal_match(self) -> None:
        """Start a match, with its learner's seat and its opponents, and play until the learner is to act."""
        dice = Random(int(self.np_random.integers(2**62)))  # noqa: S311  # not used for security
        self.seat: Seat = dice.randrange(self.players) if self._learner is None else self._learner
        self._policies = [self._draw_policy(dice) for _ in range(self.players)]
        self.table = LearningTable(self.game, self.players, self.options, dice)
        self._score, self._renderer = self.table.first_scores[self.seat], EventRenderer(self.render_mode)
        self._play_others()

    def _draw_policy(self, dice: Random) -> Policy:
        opponent = dice.choice(self._opponents)
        if not isinstance(opponent, str):
            return opponent
        player = find_player(opponent)(Random(dice.getrandbits(62)))  # noqa: S311  # as above
        return partial(player.decide, self.game)

    def _play_others(self) -> None:
        table = self.table
        while (seat := table.to_act) is not None:
            forced = table.state.forced_action(seat)
            if forced is not None:
                table.play(forced)
            elif seat != self.seat:
                table.play(self._policies[seat](table.question()))
            else:
                break
        legal = table.legal()  # none when the match is over
        numbers = self.numbering.encode_all(legal, self.seat) if self.numbering else range(len(legal))
        self._legal = dict(zip(numbers, legal, strict=True))

    # -- what the learner gets --

    def _look(self) -> Observed:
        seen = self.table.state.observation(self.seat)
        return self.encoder.vector(seen) if self._observe == "vector" else self.encoder.dictionary(seen)

    def _mask(self) -> Mask:
        mask = np.zeros(self._size, np.int8)
        mask[[*self._legal]] = 1
        return mask

    def _describe(self, *, illegal: bool) -> Json:
        info: Json = {"action_mask": self._mask(), "seat": self.seat, "illegal": illegal}
        state = self.table.state
        return {**info, "returns": state.returns(), "placements": state.placements()} if state.over else info

    def _take_reward(self, *, over: bool) -> float:
        state = self.table.state
        if self._reward == "scores":
            before, self._score = self._score, state.scores()[self.seat]
            return float(self._score - before)
        if not over:
            return 0.0
        if self._reward == "returns":
            return float(state.returns()[self.seat])
        places = state.placements()
        own = places[self.seat]
        others = [other for seat, other in enumerate(places) if seat != self.seat]
        return sum(0.5 if other == own else float(other > own) for other in others) / len(others)

    def _render_if_human(self) -> None:
        if self.render_mode == "human":
            self.render()


def name_of(game_name: str) -> str:
    """Return the id of a game's environment, like ``referee/PoolNap-v1``, with the version of its numbering."""
    version = NUMBERINGS[game_name].version if game_name in NUMBERINGS else 1
    return f"referee/{game_name.title().replace('-', '')}-v{version}"


def _list_opponents(opponents: Opponent | Sequence[Opponent]) -> list[Opponent]:
    listed = [opponents] if isinstance(opponents, str) or callable(opponents) else [*opponents]
    if not listed:
        raise BadOption("opponents", "expected at least one house player or function, got an empty list")
    for opponent in listed:
        if isinstance(opponent, str):
            find_player(opponent)  # raises NoSuchHousePlayer
        elif not callable(opponent):
            raise BadOption("opponents", f"expected house players or functions, got {opponent!r}")
    return listed


def _register(game_name: str) -> None:
    settings = {"game_name": game_name} if game_name in NUMBERINGS else {"game_name": game_name, "actions": "index"}
    gymnasium.register(name_of(game_name), entry_point=f"{__name__}:LearnerEnv", kwargs=settings)


for _name in catalogue():
    _register(_name)
