"""Coordinate one match without clock or sockets: return questions, accept answers and write rows of the log.

The driver asks the bots, measures their time and stores the rows; the game decides which actions are legal.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import NamedTuple, Self

import referee
from referee.errors import BadLog, IllegalAction, IllegalOutcome
from referee.games import game
from referee.games.state import Event, Seat
from referee.match.canonical import Json, dumps
from referee.match.chance import Chance
from referee.match.log import AnswerSource, Log, parse_row, visible_events
from referee.match.time_limits import Banks, Limits

LOG_FORMAT = 2
FAULTS_IN_A_ROW = 3  # consecutive faults after which a seat is retired
FAULTS_IN_A_MATCH = 10  # faults in one match after which a seat is retired

FAULTS: dict[str, str] = {  # all fault codes of bots, with descriptions for owners
    "dns_failed": "the bot's host name could not be looked up",
    "unreachable": "no connection could be opened, or it broke before an answer arrived",
    "tls_failed": "the TLS handshake or the certificate was refused",
    "egress_denied": "the referee may not call the bot's address",
    "deadline": "no complete answer arrived within the budget and the bank",
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


class Request(NamedTuple):
    """Represent a question to one seat.

    ``n`` numbers the decision points of the match from 0; seats that choose concurrently share it. ``question`` numbers
    the questions to this seat from 0, so it does not reveal how many others were asked. ``new_events`` are the events
    since the seat's last question, as far as it may see them.
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
        """Return the milliseconds that the seat has for this answer: its budget plus its bank."""
        return int(self.time["budget_ms"] + self.time["bank_ms"])

    def for_player(self) -> Json:
        """Return the members of the question that a house player needs."""
        return {name: getattr(self, name) for name in ("observation", "legal_actions", "default_action")}


class Answer(NamedTuple):
    """Represent the answer of a seat.

    It has an ``action`` or a ``choice`` (an index into the legal actions). Without either, ``trouble`` is one of
    ``FAULTS``. ``ms`` is the response time in milliseconds.
    """

    seat: Seat
    action: Json | None = None
    choice: int | None = None
    trouble: str = ""
    ms: int = 0
    note: str = ""

    def to_json(self) -> Json:
        return self._asdict()

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
    """Return the header, which is row 0 of a log. Raise ``NoSuchGame``, or ``BadOption`` for bad options.

    ``players`` has ``{"bot", "name", "version"}`` for each seat; ``group`` is ``{"id", "commitment", "entries"}``.
    """
    rules = game(game_name)
    return {
        "log_format": LOG_FORMAT,
        "match": match_id,
        "game": game_name,
        "rules_version": rules.rules_version,
        "engine_version": referee.__version__,
        "options": rules.complete_options(len(players), options),
        "seats": len(players),
        "players": list(players),
        "time": asdict(limits or Limits()),
        "rated": rated,
        "group": group,
    }


class Match:
    """Play a match from its header: call ``begin`` once, then ``requests`` and ``receive`` until ``over``.

    The same header, chance and answers always produce the same log, byte for byte.
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
        self._events_seen = [0] * header["seats"]  # number of events before each seat's last question
        self._questions_answered = [0] * header["seats"]
        self._answered: dict[Seat, Json] = {}  # by seat: members of the row for an answer at the open decision point

    @classmethod
    def resume(cls, header: Json, chance: Chance, lines: Sequence[bytes], sealed: Iterable[Answer] = ()) -> Self:
        """Rebuild the match recorded in ``lines`` and apply the ``sealed`` answers of its open decision point.

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
        """Return the rows of the log so far, as stored bytes without line ends."""
        return self.log.lines

    def begin(self) -> list[Json]:
        """Write the header and play up to the first question. Return the new rows."""
        first = len(self.log.rows)
        assert first == 0, "a match begins once"
        self.log.append("header", **self.header)
        self._advance()
        return self.log.rows[first:]

    def requests(self) -> list[Request]:
        """Return the open questions, in ascending order of seats."""
        return [self._request(seat) for seat in sorted(self.state.pending())]

    def receive(self, answer: Answer) -> list[Json]:
        """Play an answer, or the default action if it is a fault or not legal. Return the new rows.

        Return an empty list while other seats of the same decision point have not answered.
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
            events = self.state.apply_legal(seat, played)
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
        """Play the answer recorded in row ``number``. Return the new rows. Raise ``BadLog`` if the row is invalid."""
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
        """Compare recorded lines with played lines from ``start`` to the end of the shorter log.

        Return the index of that end. Raise ``BadLog`` for the first line that differs.
        """
        end = min(len(lines), len(self.lines))
        for number in range(start, end):
            if lines[number] != self.lines[number]:
                raise BadLog(number, describe_difference(lines[number], self.log.rows[number]))
        return end

    def _play_action(self, answer: Answer) -> tuple[Json, list[Event]]:
        if answer.choice is not None:
            legal = self.state.legal(answer.seat)
            if not 0 <= answer.choice < len(legal):
                raise IllegalAction(f"choice {answer.choice} of {len(legal)} legal actions")
            legal_action = legal[answer.choice]
        else:
            legal_action = self.state.validate_action(answer.seat, answer.action)
        return legal_action, self.state.apply_legal(answer.seat, legal_action)

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
            time={"budget_ms": banks.limits.budget_ms, "bank_ms": banks.bank_ms[seat], "last_ms": banks.last_ms[seat]},
        )

    def _count_fault(self, seat: Seat, fault: str) -> None:
        self._consecutive_faults[seat] = self._consecutive_faults[seat] + 1 if fault else 0
        self.faults[seat] += bool(fault)
        if self._consecutive_faults[seat] >= FAULTS_IN_A_ROW or self.faults[seat] >= FAULTS_IN_A_MATCH:
            self.retired.add(seat)

    def _advance(self) -> None:
        """Play what needs no answer: chance, publicly forced actions, retired seats. Append the result at the end."""
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
        """Play the action of one seat that is forced or retired. Return whether there was such a seat."""
        for seat in sorted(self.state.pending()):
            action = self.state.forced_action(seat)
            if action is not None:
                members = {"action": action, "source": AnswerSource.FORCED, "ms": 0}
            elif seat in self.retired:
                action = self.state.default(seat)
                members = {"action": action, "source": AnswerSource.DEFAULT, "retired": True, "ms": 0}
            else:
                continue
            self._record_decision(seat, members, self.state.apply_legal(seat, action))
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
    """Return whether a row records a question to a bot, answered or not, and not an action played without asking."""
    return row.get("type") == "decision" and row.get("source") != AnswerSource.FORCED and not row.get("retired")


def answers_of(rows: Iterable[Json], seat: Seat) -> list[Json]:
    """Return the rows with answers of this seat. The row at index ``i`` answers its question number ``i``."""
    return [row for row in rows if is_answer(row) and row["seat"] == seat]


def describe_difference(line: bytes, expected: Json) -> str:
    """Return a text that names the members in which a recorded line differs from the row that the rules produce."""
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
