"""Build questions from real positions: play matches with extreme options in this process and keep some positions."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import orjson

from referee.errors import BadOption, IllegalAction
from referee.games.options import Option
from referee.games.state import State
from referee.house.players import find_player
from referee.house.seat import answer_of
from referee.match.canonical import Json
from referee.match.chance import CommittedChance, commitment
from referee.match.match import Match, Request, new_header
from referee.match.time_limits import Limits
from referee.protocol import messages
from referee.protocol.aliases import aliases

MAX_DECISIONS = 300  # largest number of decisions per match
MAX_PER_KIND = 2  # largest number of questions of one kind from one match
MAX_BODY_BYTES = 64 * 1024  # longer questions are dropped
STYLES = ("random", "random", "random", "first")  # house players; drawn for each match
UNKNOWN_MEMBER = "x_unknown"  # a member that no bot knows
MEMBERS_WITH_DATA_KEYS = frozenset({"board"})  # objects whose keys are data: no member is added there

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"


@dataclass(frozen=True, slots=True)
class MatchTerms:
    """Hold the terms of a match: game, number of seats, options, and the house player that plays it."""

    rules: type[State]
    seats: int
    options: Json
    style: str = "random"


@dataclass(frozen=True, slots=True)
class ProbeQuestion:
    """Hold a question and its position, and use the position to judge the answer."""

    scenario: MatchTerms
    kind: str  # the phase and the types of legal actions
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

    def judge_reply(self, body: bytes) -> messages.Decision:
        """Return the decision in a reply, with the fault ``illegal_action`` if it is not legal in the position."""
        decision = messages.read_decision(body, self.id, len(self.legal_actions))
        if decision.action is None:
            return decision
        action = remove_unknown_members(decision.action)
        try:
            self.state.validate_action(self.seat, action)
        except IllegalAction as error:
            detail = str(error)[:300]
            return decision._replace(action=action, note="", fault="illegal_action", detail=detail)
        return decision._replace(action=action)

    def with_match_id(self, match_id: str, **changes: Json) -> "ProbeQuestion":
        """Return the question with a new match id and with these ``changes`` to the members of its body."""
        asked: Json = orjson.loads(self.body)
        id = messages.decision_id(match_id, self.seat, asked["decision"]["question"])
        asked |= changes
        asked["match"] = asked["match"] | {"id": match_id}
        asked["decision"] = asked["decision"] | {"id": id}
        return replace(self, id=id, body=messages.encode_json(asked))

    def with_unknown_members(self, match_id: str) -> "ProbeQuestion":
        """Return the question with a new match id and an unknown member in every object of its body."""
        known = self.with_match_id(match_id)
        return replace(known, body=messages.encode_json(add_unknown_members(orjson.loads(known.body))))


def fresh_id(prefix: str, dice: Random) -> str:
    """Return a new id, such as ``mat_`` with 26 random characters."""
    return f"{prefix}_" + "".join(dice.choice(_DIGITS) for _ in range(26))


def scenarios(rules: type[State], dice: Random) -> Iterator[MatchTerms]:
    """Yield scenarios without end: first default options with the fewest and the most seats, then extreme values. Each
    extreme value occurs as soon as the other options allow it."""
    yield MatchTerms(rules, rules.seats[0], rules.complete_options(rules.seats[0], {}))
    yield MatchTerms(rules, rules.seats[-1], rules.complete_options(rules.seats[-1], {}))
    due = {(spec.name, repr(value)) for spec in rules.option_specs for value in extreme_values(spec)}
    while True:
        seats = dice.choice((rules.seats[0], rules.seats[-1], dice.choice(rules.seats)))
        given, options = _draw_options(rules, seats, due, dice)
        due -= {(name, repr(value)) for name, value in given.items()}
        yield MatchTerms(rules, seats, options, dice.choice(STYLES))


def extreme_values(spec: Option) -> list[Any]:
    """Return the lowest and the highest value of an option, or all values of a choice."""
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
    """Return extreme options and the complete options that follow from them. Prefer values in ``due``. An option that
    is incompatible with the others gets its default."""
    usual = {spec.name: spec.default for spec in rules.option_specs}
    options = {}
    for spec in rules.option_specs:
        values = extreme_values(spec)
        wanted = [value for value in values if (spec.name, repr(value)) in due]
        options[spec.name] = dice.choice(wanted if wanted and dice.random() < 0.7 else values)
    for _ in usual:
        try:
            return options, rules.complete_options(seats, options)
        except BadOption as error:
            options[error.field] = usual[error.field]
    return usual, rules.complete_options(seats, usual)


def start_match(scenario: MatchTerms, limits: Limits, dice: Random) -> tuple[Match, list[messages.Questions]]:
    """Return a match of the scenario at its first question, and the ``Questions`` of each seat."""
    match_id, group_id, seed = fresh_id("mat", dice), fresh_id("grp", dice), dice.randbytes(32)
    bots = [fresh_id("bot", dice) for _ in range(scenario.seats)]
    header = new_header(
        match_id=match_id,
        game_name=scenario.rules.name,
        options=scenario.options,
        players=[{"bot": bot, "name": f"player {seat}", "version": "1"} for seat, bot in enumerate(bots)],
        group={"id": group_id, "commitment": commitment(seed, group_id), "entries": bots},
        limits=limits,
        rated=dice.random() < 0.5,  # bots must answer questions of both kinds of matches
    )
    match = Match(header, CommittedChance(seed, group_id, [""] * scenario.seats))
    match.begin()
    called = aliases(b"", match_id, bots) if dice.random() < 0.5 else ()  # half of the matches are anonymous
    return match, [messages.Questions(header, seat, called) for seat in range(scenario.seats)]


def build_question(scenario: MatchTerms, match: Match, request: Request, writer: messages.Questions) -> ProbeQuestion:
    """Return the question for an open request of a match."""
    id, body = writer.encode(request)
    kind, position = kind_of(match, request), match.state.clone()
    return ProbeQuestion(scenario, kind, id, body, request.legal_actions, request.seat, position)


def kind_of(match: Match, request: Request) -> str:
    """Return the phase and the types of legal actions, or only the phase if the only type has the same name."""
    phase, types = match.state.phase, sorted({action["type"] for action in request.legal_actions})
    return phase if types == [phase] else f"{phase}: {' or '.join(types)}"


def collect_questions(scenario: MatchTerms, limits: Limits, dice: Random) -> list[ProbeQuestion]:
    """Play a match of up to ``MAX_DECISIONS`` decisions. Return up to ``MAX_PER_KIND`` questions of each kind."""
    match, writers = start_match(scenario, limits, dice)
    player = find_player(scenario.style)(dice)
    met: Counter[str] = Counter()
    held: dict[str, list[ProbeQuestion]] = {}
    asked = 0
    while not match.over and asked < MAX_DECISIONS:
        for request in match.requests():
            asked += 1
            kind = kind_of(match, request)
            met[kind] += 1
            place = len(held.setdefault(kind, []))
            if place == MAX_PER_KIND:  # reservoir sampling: every question of a kind is equally likely to be kept
                place = dice.randrange(met[kind])
            if place < MAX_PER_KIND:
                found = build_question(scenario, match, request, writers[request.seat])
                if len(found.body) <= MAX_BODY_BYTES:
                    held[kind][place:] = [found, *held[kind][place + 1 :]]
            match.receive(answer_of(player, scenario.rules.name, request))
    return [found for kind in held.values() for found in kind]


def add_unknown_members(value: Any, name: str = "") -> Any:
    """Return a copy of a JSON value with an unknown member in every object, except in objects whose keys are data."""
    if isinstance(value, list):
        return [add_unknown_members(item) for item in value]
    if not isinstance(value, dict):
        return value
    members = {key: add_unknown_members(item, key) for key, item in value.items()}
    return members if name in MEMBERS_WITH_DATA_KEYS else members | {UNKNOWN_MEMBER: {"more": [1, "two", None]}}


def remove_unknown_members(value: Any) -> Any:
    """Return a copy without the unknown members, because a bot may have copied its action from the question."""
    if isinstance(value, list):
        return [remove_unknown_members(item) for item in value]
    if isinstance(value, dict):
        return {key: remove_unknown_members(item) for key, item in value.items() if key != UNKNOWN_MEMBER}
    return value
