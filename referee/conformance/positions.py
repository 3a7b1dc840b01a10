"""Questions from real positions: matches under the extremes of their options, played in this process, held where
somebody is asked. Sending the questions is others' business."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import orjson

from referee.errors import BadOption, IllegalAction
from referee.games.options import Option
from referee.games.state import State
from referee.house.seat import answer_of
from referee.house.strategies import players
from referee.match.canonical import Json
from referee.match.chance import CommittedChance, commitment
from referee.match.match import Match, Request, new_header
from referee.match.time_limits import Limits
from referee.protocol import messages
from referee.protocol.aliases import aliases

LONGEST = 300  # decisions of a match that is played for its positions
KEPT = 2  # positions of one kind out of one match
LARGEST_BYTES = 64 * 1024  # of the questions that are picked
STYLES = ("random", "random", "random", "first")  # who plays them
ADDED = "x_unknown"  # the member no bot can know
DATA_KEYED = frozenset({"board"})  # objects whose names are data: nothing is added there

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"


@dataclass(frozen=True, slots=True)
class Scenario:
    """Under which agreements a match is played."""

    rules: type[State]
    seats: int
    options: Json
    style: str = "random"


@dataclass(frozen=True, slots=True)
class ProbeQuestion:
    """A question with the position it comes from, by which an answer is judged."""

    scenario: Scenario
    kind: str  # the phase and what may be done in it
    id: str
    body: bytes
    legal_actions: Sequence[Json]
    seat: int
    state: State = field(repr=False)

    @property
    def where(self) -> str:
        return f"{self.scenario.rules.name}, {self.kind}"

    @property
    def match_id(self) -> str:
        return self.id.rsplit("_", 2)[0]

    def judged(self, body: bytes) -> messages.Decision:
        """What a reply means here; one that is not legal has the fault ``illegal_action``."""
        decision = messages.read_decision(body, self.id, len(self.legal_actions))
        if decision.action is None:
            return decision
        action = without_added(decision.action)
        try:
            self.state.validate_action(self.seat, action)
        except IllegalAction as error:
            detail = str(error)[:300]
            return messages.Decision(action=action, error=decision.error, fault="illegal_action", detail=detail)
        return messages.Decision(action=action, note=decision.note, error=decision.error)

    def again(self, match_id: str, **changes: Json) -> "ProbeQuestion":
        """The same position in a match of another id, with members of the body changed."""
        asked: Json = orjson.loads(self.body)
        id = messages.decision_id(match_id, self.seat, asked["decision"]["question"])
        asked |= changes
        asked["match"] = asked["match"] | {"id": match_id}
        asked["decision"] = asked["decision"] | {"id": id}
        return ProbeQuestion(
            self.scenario, self.kind, id, messages.encode_json(asked), self.legal_actions, self.seat, self.state
        )

    def crowded(self, match_id: str) -> "ProbeQuestion":
        """The same position with a member nobody knows in every object."""
        one = self.again(match_id)
        body = messages.encode_json(with_added(orjson.loads(one.body)))
        return ProbeQuestion(one.scenario, one.kind, one.id, body, one.legal_actions, one.seat, one.state)


def fresh_id(prefix: str, dice: Random) -> str:
    """An id in the form all ids have."""
    return f"{prefix}_" + "".join(dice.choice(_DIGITS) for _ in range(26))


def scenarios(rules: type[State], dice: Random) -> Iterator[Scenario]:
    """Without end: first the usual options with the fewest and the most seats, then extremes, every one of them as
    soon as the others allow it."""
    yield Scenario(rules, rules.seats[0], rules.complete_options(rules.seats[0], {}))
    yield Scenario(rules, rules.seats[-1], rules.complete_options(rules.seats[-1], {}))
    due = {(spec.name, repr(value)) for spec in rules.option_specs for value in extremes(spec)}
    while True:
        seats = dice.choice((rules.seats[0], rules.seats[-1], dice.choice(rules.seats)))
        given, options = _draw_options(rules, seats, due, dice)
        due -= {(name, repr(value)) for name, value in given.items()}
        yield Scenario(rules, seats, options, dice.choice(STYLES))


def extremes(spec: Option) -> list[Any]:
    """The values at the ends of an option; all of them where there are few."""
    match spec.kind:
        case "int":
            return [spec.low, spec.high]
        case "bool":
            return [False, True]
        case "choice":
            return list(spec.choices)
        case "list":
            return [[], list(spec.choices)]


def _draw_options(rules: type[State], seats: int, due: set[tuple[str, str]], dice: Random) -> tuple[Json, Json]:
    """Extreme options, those that are due first, and what they amount to; one that does not go with the others gives
    way to its default."""
    usual = {spec.name: spec.default for spec in rules.option_specs}
    options = {}
    for spec in rules.option_specs:
        values = extremes(spec)
        wanted = [value for value in values if (spec.name, repr(value)) in due]
        options[spec.name] = dice.choice(wanted if wanted and dice.random() < 0.7 else values)
    for _ in usual:
        try:
            return options, rules.complete_options(seats, options)
        except BadOption as error:
            options[error.field] = usual[error.field]
    return usual, rules.complete_options(seats, usual)


def start_match(scenario: Scenario, limits: Limits, dice: Random) -> tuple[Match, list[messages.Questions]]:
    """A match of the scenario at its first question, with those who write the questions of each seat."""
    match_id, group_id, seed = fresh_id("mat", dice), fresh_id("grp", dice), dice.randbytes(32)
    bots = [fresh_id("bot", dice) for _ in range(scenario.seats)]
    header = new_header(
        match_id=match_id,
        game_name=scenario.rules.name,
        options=scenario.options,
        players=[{"bot": bot, "name": f"player {seat}", "version": "1"} for seat, bot in enumerate(bots)],
        group={"id": group_id, "commitment": commitment(seed, group_id), "entries": bots},
        limits=limits,
        rated=dice.random() < 0.5,  # rated or not, it is asked in the same way
    )
    match = Match(header, CommittedChance(seed, group_id, [""] * scenario.seats))
    match.begin()
    called = aliases(b"", match_id, bots) if dice.random() < 0.5 else ()  # half of them anonymous
    return match, [messages.Questions(header, seat, called) for seat in range(scenario.seats)]


def question(scenario: Scenario, match: Match, request: Request, writer: messages.Questions) -> ProbeQuestion:
    """The question a match asks now."""
    id, body = writer.ask(request)
    kind, position = kind_of(match, request), match.state.clone()
    return ProbeQuestion(scenario, kind, id, body, request.legal_actions, request.seat, position)


def kind_of(match: Match, request: Request) -> str:
    """The phase, and what may be done where that says more."""
    phase, types = match.state.phase, sorted({action["type"] for action in request.legal_actions})
    return phase if types == [phase] else f"{phase}: {' or '.join(types)}"


def positions(scenario: Scenario, limits: Limits, dice: Random) -> list[ProbeQuestion]:
    """Plays a match as far as ``LONGEST`` and gives some questions of each kind that came up, drawn by lot."""
    match, writers = start_match(scenario, limits, dice)
    player = players()[scenario.style](dice)
    met: Counter[str] = Counter()
    held: dict[str, list[ProbeQuestion]] = {}
    asked = 0
    while not match.over and asked < LONGEST:
        for request in match.requests():
            asked += 1
            kind = kind_of(match, request)
            met[kind] += 1
            place = len(held.setdefault(kind, []))
            if place == KEPT:  # each that comes up is as likely to be held as any other
                place = dice.randrange(met[kind])
            if place < KEPT:
                found = question(scenario, match, request, writers[request.seat])
                if len(found.body) <= LARGEST_BYTES:
                    held[kind][place:] = [found, *held[kind][place + 1 :]]
            match.receive(answer_of(player, scenario.rules.name, request))
    return [found for kind in held.values() for found in kind]


def with_added(value: Any, name: str = "") -> Any:
    """The same JSON with a further member in every object, but in those whose names are data."""
    if isinstance(value, list):
        return [with_added(item) for item in value]
    if not isinstance(value, dict):
        return value
    members = {key: with_added(item, key) for key, item in value.items()}
    return members if name in DATA_KEYED else members | {ADDED: {"more": [1, "two", None]}}


def without_added(value: Any) -> Any:
    """Takes the further members away again, from an action that was copied out of a question."""
    if isinstance(value, list):
        return [without_added(item) for item in value]
    if isinstance(value, dict):
        return {key: without_added(item) for key, item in value.items() if key != ADDED}
    return value
