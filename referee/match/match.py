"""One match without clock or socket: questions go out, answers come in, rows of the log come back.

The driver asks, measures and stores; the game decides what is legal.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Self

from referee import __version__
from referee.errors import BadLog, IllegalAction, IllegalOutcome
from referee.games import game
from referee.games.state import Event, Seat
from referee.match.canonical import Json, dumps
from referee.match.chance import Chance
from referee.match.log import AnswerSource, Log, parse_row, visible_events
from referee.match.time_limits import Banks, Limits

LOG_FORMAT = 1
FAULTS_IN_A_ROW = 3  # then the seat is retired
FAULTS_IN_A_MATCH = 10

FAULTS: dict[str, str] = {  # all faults of bots, with their description for owners
    "dns_failed": "the bot's host name could not be looked up",
    "unreachable": "no connection, or it broke before an answer came",
    "tls_failed": "the TLS handshake or the certificate was refused",
    "egress_denied": "the referee may not call the bot's address",
    "deadline": "no complete answer within the budget and the bank",
    "redirect_refused": "the bot answered with a redirect",
    "bad_status": "the bot answered with a status other than 200",
    "bad_content_type": "the answer was not application/json in UTF-8",
    "encoding_refused": "the answer was compressed",
    "headers_too_large": "the head of the answer was too large",
    "response_too_large": "the body of the answer was larger than 64 KiB",
    "bad_http": "the answer was not well-formed HTTP/1.1",
    "bad_json": "the body was not strict JSON",
    "bad_schema": "the body was JSON but not an answer of this protocol",
    "stale_decision": "the answer names another decision",
    "illegal_action": "the action is not legal here",
}


@dataclass(frozen=True, slots=True)
class Request:
    """A question to one seat.

    ``n`` numbers the decision points of the match from 0; seats that choose concurrently share it. ``question`` numbers
    the questions of this seat, so it does not reveal how many others were asked. ``new_events`` are the events that
    this seat may see since its last question.
    """

    seat: Seat
    n: int
    question: int
    observation: Json
    new_events: list[Event]
    legal_actions: list[Json]
    default_action: Json
    time: Json  # budget_ms, bank_ms, last_ms (null before the first answer)

    @property
    def deadline_ms(self) -> int:
        """Return the total time that the seat has for this answer."""
        return int(self.time["budget_ms"] + self.time["bank_ms"])

    def for_player(self) -> Json:
        """Return the members of the question that a house player needs."""
        return {name: getattr(self, name) for name in ("observation", "legal_actions", "default_action")}


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a seat: an ``action``, a ``choice`` (index into the legal actions), or ``trouble`` (a code of
    ``FAULTS``) if there is neither."""

    seat: Seat
    action: Json | None = None
    choice: int | None = None
    trouble: str = ""
    ms: int = 0
    note: str = ""

    def to_json(self) -> Json:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Json) -> Self:
        return cls(**stored)


def new_header(
    *,
    match_id: str,
    game_name: str,
    options: Json,
    players: Sequence[Json],
    group: Json,
    rated: bool = False,
    limits: Limits | None = None,
) -> Json:
    """Return the header, row 0 of a log. Raise ``NoSuchGame`` or ``BadOption``.

    ``players`` are ``{"bot","name","version"}`` by seat, ``group`` is ``{"id","commitment","entries"}``.
    """
    rules = game(game_name)
    return {
        "log_format": LOG_FORMAT,
        "match": match_id,
        "game": game_name,
        "rules_version": rules.rules_version,
        "engine_version": __version__,
        "options": rules.complete_options(len(players), options),
        "seats": len(players),
        "players": list(players),
        "time": asdict(limits or Limits()),
        "rated": rated,
        "group": group,
    }


class Match:
    """A match from its header: ``begin`` once, then ``requests`` and ``receive`` until ``over``.

    The same header, chance and answers always give the same log, byte for byte.
    """

    def __init__(self, header: Json, chance: Chance) -> None:
        self.header = header
        self.rules = game(header["game"])
        self.state = self.rules.start(header["seats"], header["options"])
        self.log = Log()
        self.banks = Banks(Limits(**header["time"]), header["seats"])
        self.faults = [0] * header["seats"]
        self.retired: set[Seat] = set()
        self.n = 0
        self.last_fault = ""  # the fault of the last answer received
        self._consecutive_faults = [0] * header["seats"]
        self._chance = chance
        self._draws: Counter[str] = Counter()
        self._events: list[Event] = []
        self._events_seen = [0] * header["seats"]  # events before the seat's last question
        self._questions_answered = [0] * header["seats"]
        self._answered: dict[Seat, Json] = {}  # row members of answers at the open decision point

    @classmethod
    def resume(cls, header: Json, chance: Chance, lines: Sequence[bytes], sealed: Iterable[Answer] = ()) -> Self:
        """Return the match as recorded in ``lines``, with the ``sealed`` answers of the open decision point.

        Raise ``BadLog`` unless replaying the recorded answers writes the same lines, byte for byte.
        """
        match = cls(header, chance)
        match.begin()
        compared = match.compare_rows(lines, 0)
        for number, line in enumerate(lines):
            row = parse_row(line)
            if is_answer(row):
                match.replay(number, row)
                compared = match.compare_rows(lines, compared)
        if compared < len(lines):
            raise BadLog(compared, "the log continues where the replayed match waits for an answer")
        for answer in sealed:
            match.receive(answer)
        return match

    @property
    def over(self) -> bool:
        return self.state.over

    @property
    def lines(self) -> list[bytes]:
        """Return the log so far, as stored."""
        return self.log.lines

    def begin(self) -> list[Json]:
        """Write the header and play up to the first question. Return the rows."""
        first = len(self.log.rows)
        assert first == 0, "a match begins once"
        self.log.append("header", **self.header)
        self._advance()
        return self.log.rows[first:]

    def requests(self) -> list[Request]:
        """Return the open questions, by ascending seat."""
        return [self._request(seat) for seat in sorted(self.state.pending())]

    def receive(self, answer: Answer) -> list[Json]:
        """Play an answer, or the default action if it is not legal. Return the new rows.

        Return [] while other seats of the same decision point still choose.
        """
        first = len(self.log.rows)
        seat, fault = answer.seat, answer.trouble
        assert seat in self.state.pending(), f"seat {seat} was not asked"
        assert not fault or fault in FAULTS, f"unknown fault {fault!r}"
        self._events_seen[seat] = len(self._events)
        self._questions_answered[seat] += 1
        self.banks.spend(seat, answer.ms)
        played, events = None, None
        if not fault:
            try:
                played, events = self._play_action(answer)
            except IllegalAction:
                fault = "illegal_action"
        if events is None:
            played = self.state.default(seat)
            events = self.state.apply(seat, played)
        self._count_fault(seat, fault)
        self.last_fault = fault
        source = AnswerSource.DEFAULT if fault else AnswerSource.BOT
        members: Json = {"action": played, "source": source, "ms": answer.ms}
        if fault:
            members["fault"] = fault
        if answer.note:
            members["note"] = answer.note
        self._record_decision(seat, members, events)
        self._advance()
        return self.log.rows[first:]

    def replay(self, number: int, row: Json) -> list[Json]:
        """Receive the answer of a recorded decision row. Raise ``BadLog`` with ``number`` if the row is invalid."""
        try:
            answer = Answer(
                row["seat"],
                None if row["source"] == AnswerSource.DEFAULT else row["action"],
                trouble=row.get("fault", ""),
                ms=row["ms"],
                note=row.get("note", ""),
            )
        except KeyError as error:
            raise BadLog(number, f"the decision lacks {error}") from None
        if answer.seat not in self.state.pending():
            raise BadLog(number, f"seat {answer.seat + 1} was not asked here")
        if answer.trouble and answer.trouble not in FAULTS:
            raise BadLog(number, f"unknown fault {answer.trouble!r}")
        if not isinstance(answer.ms, int) or answer.ms < 0:
            raise BadLog(number, f"ms must be a whole number of milliseconds, got {answer.ms!r}")
        try:
            return self.receive(answer)
        except IllegalOutcome as error:
            raise BadLog(len(self.lines), str(error)) from error

    def compare_rows(self, lines: Sequence[bytes], start: int) -> int:
        """Compare recorded lines from ``start`` on with those played, as far as both go. Return the end of that range.

        Raise ``BadLog`` for the first line that differs.
        """
        end = min(len(lines), len(self.lines))
        for number in range(start, end):
            if lines[number] != self.lines[number]:
                raise BadLog(number, describe_difference(lines[number], self.log.rows[number]))
        return end

    def _play_action(self, answer: Answer) -> tuple[Json, list[Event]]:
        action = answer.action
        if answer.choice is not None:
            legal = self.state.legal(answer.seat)
            if not 0 <= answer.choice < len(legal):
                raise IllegalAction(f"choice {answer.choice} of {len(legal)} legal actions")
            action = legal[answer.choice]
        action = self.state.validate_action(answer.seat, action)
        return action, self.state.apply(answer.seat, action)

    def _request(self, seat: Seat) -> Request:
        state, banks = self.state, self.banks
        return Request(
            seat=seat,
            n=self.n,
            question=self._questions_answered[seat],
            observation=state.observation(seat),
            new_events=visible_events(self.rules, self._events[self._events_seen[seat] :], seat, state.options),
            legal_actions=state.legal(seat),
            default_action=state.default(seat),
            time={
                "budget_ms": banks.limits.budget_ms,
                "bank_ms": banks.bank_ms[seat],
                "last_ms": banks.last_ms[seat],
            },
        )

    def _count_fault(self, seat: Seat, fault: str) -> None:
        self._consecutive_faults[seat] = self._consecutive_faults[seat] + 1 if fault else 0
        self.faults[seat] += bool(fault)
        if self._consecutive_faults[seat] >= FAULTS_IN_A_ROW or self.faults[seat] >= FAULTS_IN_A_MATCH:
            self.retired.add(seat)

    def _advance(self) -> None:
        """Play everything that needs no answer: chance, publicly forced actions, retired seats, and the result."""
        while not self.over:
            asked = self.state.chance()
            if asked is not None:
                self._play_chance(asked)
            elif not self._play_without_question():
                return
        self.log.append(
            "result",
            scores=self.state.scores(),
            returns=self.state.returns(),
            placements=self.state.placements(),
            faults=self.faults,
        )

    def _play_chance(self, asked: Json) -> None:
        outcome = self._chance.outcome(asked, self._draws[asked["kind"]])
        self._draws[asked["kind"]] += 1
        events = self.state.resolve(outcome)
        self._events += events
        self.log.append("chance", chance=asked, outcome=outcome, events=events)

    def _play_without_question(self) -> bool:
        """Play one forced or retired seat. Return whether there was one."""
        for seat in sorted(self.state.pending()):
            action = self.state.forced_action(seat)
            if action is not None:
                members = {"action": action, "source": AnswerSource.FORCED, "ms": 0}
            elif seat in self.retired:
                action = self.state.default(seat)
                members = {"action": action, "source": AnswerSource.DEFAULT, "retired": True, "ms": 0}
            else:
                continue
            self._record_decision(seat, members, self.state.apply(seat, action))
            return True
        return False

    def _record_decision(self, seat: Seat, members: Json, events: list[Event]) -> None:
        """Keep the decision until its decision point is complete, then write its rows in ascending seat order."""
        self._answered[seat] = members
        if seat in self.state.sealed:
            return
        self._events += events
        last = max(self._answered)
        for decider in sorted(self._answered):
            row_events = events if decider == last else []
            self.log.append("decision", n=self.n, seat=decider, **self._answered[decider], events=row_events)
        self._answered = {}
        self.n += 1


def is_answer(row: Json) -> bool:
    """Return whether a row holds a bot's answer or the lack of one, not an action played without asking."""
    return row.get("type") == "decision" and row.get("source") != AnswerSource.FORCED and not row.get("retired")


def answers_of(rows: Iterable[Json], seat: Seat) -> list[Json]:
    """Return the rows with an answer of this seat; the index is the number of its question."""
    return [row for row in rows if is_answer(row) and row["seat"] == seat]


def describe_difference(line: bytes, expected: Json) -> str:
    """Describe in which members a recorded line differs from the row that the rules produce."""
    try:
        row = parse_row(line)
    except ValueError as error:
        return f"not a row: {error}"
    wrong = [name for name in {**expected, **row} if row.get(name, ...) != expected.get(name, ...)]
    if not wrong:
        return "the row is not in canonical spelling"
    return "; ".join(f"{name} is {_short(row, name)}, the rules give {_short(expected, name)}" for name in wrong)


def _short(row: Json, name: str) -> str:
    if name not in row:
        return "absent"
    text = dumps(row[name]).decode()
    return text if len(text) <= 120 else text[:120] + "…"
