"""Provide the games as PettingZoo environments of type AEC (agent environment cycle: agents act in turn)."""

from collections.abc import Mapping
from random import Random
from typing import Any, ClassVar, Literal

import numpy as np
from gymnasium import spaces
from gymnasium.utils.seeding import np_random
from pettingzoo import AECEnv

from referee.games import game
from referee.match.canonical import Json
from referee_extras.gym.actions import ActionSpace
from referee_extras.gym.encoding import Encoder
from referee_extras.gym.rendering import MODES, EventRenderer
from referee_extras.gym.spaces import ACTIONS, OBSERVED, box, check_choice
from referee_extras.gym.table import LearningTable

Observe = Literal["vector", "dictionary"]
Reward = Literal["returns", "scores"]


def env(game_name: str, players: int, options: Mapping[str, Any] | None = None, **settings: Any) -> "CardGame":
    """Return the environment of a game, with ``settings`` for ``CardGame``. Raise ``NoSuchGame`` or ``BadOption``."""
    return CardGame(game_name, players, options, **settings)


class CardGame(AECEnv):  # type: ignore[misc]  # pettingzoo's base class is untyped
    """Represent a match. Agents are ``seat_0`` …; an action is an index into the legal actions or, with ``actions``
    "fixed", the number of an action (see ``ActionSpace``).

    An observation is a dictionary. Its ``action_mask`` marks legal indices. If ``observe`` is "vector", it also has the
    array "observation"; if ``observe`` is "dictionary", the parts of ``Encoder``, keyed by name. ``infos`` of the
    acting agent has its observation and legal actions as on the rules page. With ``reward`` "returns", the rewards are
    the returns of the match, given at its end. With "scores", each change of the agent's score is a reward. Seats that
    decide concurrently act in turn and do not see each other's choices. ``step`` raises ``IllegalAction`` for an
    invalid number.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": [*MODES],
        "name": "referee",
        "is_parallelizable": False,
        "render_fps": 1,
    }

    def __init__(
        self,
        game_name: str,
        players: int,
        options: Mapping[str, Any] | None = None,
        *,
        observe: Observe = "vector",
        reward: Reward = "returns",
        actions: Literal["index", "fixed"] = "index",
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        check_choice("observe", observe, OBSERVED)
        check_choice("actions", actions, ACTIONS)
        check_choice("reward", reward, ("returns", "scores"))
        self._renderer = EventRenderer(render_mode)
        game(game_name).start(players, options)  # raises BadOption for invalid options
        self.game, self.options, self.render_mode = game_name, dict(options or {}), render_mode
        self.metadata = {**self.metadata, "name": f"referee-{game_name}"}  # type: ignore[misc]  # of this game
        self.encoder = Encoder(game_name, players)
        self.possible_agents = [f"seat_{seat}" for seat in range(players)]
        self._observe, self._reward = observe, reward
        self.numbering = ActionSpace(game_name, players) if actions == "fixed" else None
        self._most = self.numbering.size if self.numbering else game(game_name).legal_bound(players)
        self._dice = Random()  # noqa: S311  # not used for security
        self._observation_spaces = {agent: self._space() for agent in self.possible_agents}
        self._action_spaces: dict[str, spaces.Discrete] = {
            agent: spaces.Discrete(self._most) for agent in self.possible_agents
        }

    def observation_space(self, agent: str) -> spaces.Dict:
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start a new match. Equal seeds deal equal cards. Ignore ``options``, since those of the game are fixed."""
        if seed is not None:
            np_random(seed)  # raises for an invalid seed, like all environments
            self._dice = Random(seed)  # noqa: S311  # as above
        self.table = LearningTable(self.game, len(self.possible_agents), self.options, self._dice)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, Json] = {agent: {} for agent in self.agents}
        self._scores = self.table.state.scores()
        self._renderer = EventRenderer(self.render_mode)
        self._pass_on()
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise ValueError(f"{agent} is to act; expected the number of an action, got None")
        if self.numbering:
            self.table.play(self.numbering.decode(int(action), self.possible_agents.index(agent)))
        else:
            self.table.act(int(action))
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._reward_all()
        self._pass_on()
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> dict[str, Any]:
        seat, mask = self.possible_agents.index(agent), np.zeros(self._most, np.int8)
        if seat == self.table.to_act:
            seen_now = self._seen_by_actor
            mask[self._legal_numbers] = 1
        else:
            seen_now = self.table.state.observation(seat)
        if self._observe == "dictionary":
            return {**self.encoder.dictionary(seen_now), "action_mask": mask}
        return {"observation": self.encoder.vector(seen_now), "action_mask": mask}

    def render(self) -> str | None:
        """Return the public events since the last call as text. In mode "human", print them and return None."""
        return self._renderer.render(self.table, None)

    def close(self) -> None:
        """Do nothing, because there are no resources to release."""

    def _pass_on(self) -> None:
        """Select the next agent and set its ``infos``. At the end of the match, terminate all agents."""
        seat = self.table.to_act
        if seat is None:
            self.terminations = dict.fromkeys(self.agents, True)
            self.infos = {agent: {} for agent in self.agents}
            self.agent_selection = self.agents[0]
            return
        agent = self.agent_selection = self.possible_agents[seat]
        self._seen_by_actor, legal = self.table.state.observation(seat), self.table.legal()
        self._legal_numbers = self.numbering.encode_all(legal, seat) if self.numbering else slice(len(legal))
        self.infos = {other: {} for other in self.agents}
        self.infos[agent] = {"observation": self._seen_by_actor, "legal_actions": legal}

    def _reward_all(self) -> None:
        state = self.table.state
        if self._reward == "scores":
            now = state.scores()
            gained = [after - before for after, before in zip(now, self._scores, strict=True)]
            self._scores = now
        elif state.over:
            gained = state.returns()
        else:
            return
        self.rewards = {agent: float(gained[seat]) for seat, agent in enumerate(self.possible_agents)}

    def _space(self) -> spaces.Dict:
        mask = spaces.Box(0, 1, (self._most,), np.int8)
        if self._observe == "dictionary":
            parts = {name: box(shape) for name, shape in self.encoder.parts.items()}
            return spaces.Dict({**parts, "action_mask": mask})
        return spaces.Dict({"observation": box((self.encoder.length,)), "action_mask": mask})
