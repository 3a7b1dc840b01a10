"""Play at random for benchmarks: positions of the rules alone, learning environments, and matches with a log."""

from collections.abc import Callable
from random import Random
from typing import Any, Final

from referee.games.state import State
from referee.match.canonical import Json
from referee.match.chance import CommittedChance, commitment
from referee.match.match import Answer, Match, new_header

SEED: Final = bytes(32)
GROUP: Final = "grp_00000000000000000000bench0"
MATCH: Final = "mat_00000000000000000000bench0"


def play(
    game: type[State],
    seats: int,
    decisions: int,
    rng: Random,
    observe: Callable[[State, int], object] | None = None,
) -> None:
    """Make this many random decisions, one match after the other. Call ``observe`` before each decision, if given."""
    random = rng.random
    state = game.start(seats)
    while decisions:
        pending = state.pending()
        if not pending:
            state = resolve_chance(state, rng)
            continue
        if observe:
            observe(state, pending[0])
        legal = state.legal(pending[0])
        state.apply(pending[0], legal[int(random() * len(legal))])
        decisions -= 1


def resolve_chance(state: State, rng: Random) -> State:
    """Resolve the chance request that is open, and return the position. If the match is over, return a new match."""
    request = state.chance()
    if request is None:
        return state.start(state.players)
    state.resolve(draw(request, rng))
    return state


def draw(request: Json, rng: Random) -> Any:
    """Return a random outcome for a chance request. Draw it cheaply, because only the rules are to be measured."""
    if request["kind"] == "deck":
        return shuffle(request["cards"], rng)
    if request.get("ordered"):
        return shuffle(request["among"], rng)
    return rng.choice(request["among"])


def shuffle(members: list[Any], rng: Random) -> list[Any]:
    """Return a random permutation. Sorting by random numbers is five times as fast as ``Random.sample``."""
    numbers = [rng.random() for _ in members]
    return [members[index] for index in sorted(range(len(members)), key=numbers.__getitem__)]


# -- learning environments, ours and those of other projects --


def play_agents(environment: Any, rng: Random) -> int:
    """Play a random match in a PettingZoo environment of type AEC. Return the number of steps."""
    random, steps = rng.random, 0
    environment.reset()
    while True:
        observation, _, terminated, truncated, _ = environment.last()
        if terminated or truncated:
            return steps
        (legal,) = observation["action_mask"].nonzero()
        environment.step(int(legal[int(random() * len(legal))]))
        steps += 1


def play_learner(environment: Any, rng: Random) -> int:
    """Play a match in a Gymnasium environment, at random for the learner. Return the number of its steps."""
    random, steps, over = rng.random, 0, False
    _, info = environment.reset()
    while not over:
        (legal,) = info["action_mask"].nonzero()
        _, _, over, _, info = environment.step(int(legal[int(random() * len(legal))]))
        steps += 1
    return steps


def play_positions(game: Any, observer: Any, rng: Random) -> int:
    """Play a random match of a game of OpenSpiel, writing the tensor of each acting player's view. Return the number of
    decisions, without those of chance, whose outcomes must be equally likely."""
    random, decisions = rng.random, 0
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes = state.chance_outcomes()
            state.apply_action(outcomes[int(random() * len(outcomes))][0])
            continue
        observer.set_from(state, state.current_player())
        legal = state.legal_actions()
        state.apply_action(legal[int(random() * len(legal))])
        decisions += 1
    return decisions


# -- matches with a log --


def begin_match(game: str, seats: int, seed: bytes = SEED) -> Match:
    """Return a match at its first decision. Its bots have no nonces."""
    bots = [f"bot_{seat}" for seat in range(seats)]
    header = new_header(
        match_id=MATCH,
        game_name=game,
        options={},
        players=[{"bot": bot, "name": f"Bot {seat}", "version": "1.0"} for seat, bot in enumerate(bots)],
        group={"id": GROUP, "commitment": commitment(seed, GROUP), "entries": bots},
        rated=True,
    )
    match = Match(header, CommittedChance(seed, GROUP, [""] * seats))
    match.begin()
    return match


def answer_all(match: Match, rng: Random) -> int:
    """Answer every open request at random. Return the number of requests."""
    requests = match.requests()
    for request in requests:
        match.receive(Answer(request.seat, choice=rng.randrange(len(request.legal_actions)), ms=1))
    return len(requests)
