"""Reading a finished or running log: what a viewer may see of it, its reveal, and whether it holds.

Writing the rows of play is the match's; storing them the record's.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from referee.errors import BadLog, RefereeError
from referee.games import game
from referee.games.state import Event, Seat
from referee.match.canonical import Json, dumps
from referee.match.chance import CommittedChance, RecordedChance, commitment
from referee.match.match import LOG_FORMAT, Match, is_answer
from referee.match.rows import digest, link_row, parse_row, visible_events

HEADER_MEMBERS = {
    *("log_format", "match", "game", "rules_version", "engine_version", "options", "seats", "players", "time"),
    *("rated", "group"),
}


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """The result of verifying a log. ``row`` and ``reason`` give the first error. ``revealed`` says whether the deals
    were checked against the seed (a log without its reveal row is still secret), ``cut_short`` that the only error is
    that rows are missing at the end."""

    ok: bool
    rows: int
    match: str = ""
    game: str = ""
    row: int | None = None
    reason: str = ""
    revealed: bool = False
    placements: list[int] = field(default_factory=list)
    cut_short: bool = False


def verify(lines: Iterable[bytes]) -> VerificationReport:
    """Replay a log from its bytes alone and check links, rules, legality, deals, and completeness up to the result.

    ``lines`` are the rows as stored, with or without their line ends.
    """
    stored = [line.rstrip(b"\r\n") for line in lines]
    try:
        return _verify_rows(stored)
    except BadLog as error:
        cut_short = isinstance(error, _CutShort)
        revealed = cut_short and error.row < len(stored)  # nothing but the reveal row stands where a row is missing
        return VerificationReport(
            ok=False, rows=len(stored), row=error.row, reason=error.reason, revealed=revealed, cut_short=cut_short
        )


def visible(row: Json, header: Json, viewer: Seat | None, *, group_over: bool) -> Json:
    """A row of the log with this header as a seat or the public (None) may read it: whole once the deal group is over,
    before that nothing but its number and its masked events."""
    if group_over:
        return row
    events = visible_events(game(header["game"]), row.get("events", []), viewer, header["options"])
    return {"row": row["row"], "events": events}


def opens_round(row: Json, header: Json) -> bool:
    """Whether a round or deal begins with this row, so that the one before it is over."""
    opening = game(header["game"]).opening
    return any(event["event"] == opening for event in row.get("events", []))


class PublicView:
    """A log that grows, row by row as the public may read it before its deal group is over: ``items`` are the numbers
    and the masked events of the rows added so far."""

    def __init__(self, header: Json) -> None:
        self.items: list[Json] = []
        self._rules, self._options = game(header["game"]), header["options"]
        self._events: list[Event] = []
        self._told = 0  # of the masked events

    def add(self, rows: Sequence[Json]) -> list[Json]:
        """Takes on the rows that follow, and gives their items. What they tell of earlier events comes too late."""
        events = [*self._events, *(event for row in rows for event in row.get("events", []))]
        news = self._public_events(events)[self._told :]
        told, items = self._told + len(news), []
        for row in rows:
            count = len(self._public_events(row.get("events", [])))  # whether one is left out depends on no other
            items.append({"row": row["row"], "events": news[:count]})
            news = news[count:]
        assert not news, "the events of a match, masked, are those of its rows"
        self._events, self._told = events, told  # all of it, or, where something is raised, nothing
        self.items += items
        return items

    def _public_events(self, events: Sequence[Event]) -> list[Event]:
        return visible_events(self._rules, events, None, self._options)


def reveal_line(number: int, last_line: bytes, seed: bytes, nonces: Sequence[str], hashes: Sequence[str]) -> bytes:
    """The row that opens a closed log: the seed and, in entry order, the nonces (empty where none was given)."""
    members = {"seed": seed.hex(), "nonces": list(nonces), "nonce_hashes": list(hashes)}
    return dumps(link_row("reveal", members, number, last_line))


class _CutShort(BadLog):
    """Raised for a log whose rows are valid but end before the match is over."""


def _verify_rows(lines: Sequence[bytes]) -> VerificationReport:
    rows = [_row(number, line) for number, line in enumerate(lines)]
    if not rows:
        raise BadLog(0, "the log is empty")
    _check_links(lines, rows)
    header = _header(rows[0])
    revealed = rows[-1]["type"] == "reveal"
    played = len(rows) - revealed
    match = _replay_rows(header, lines[:played], rows[:played])
    if revealed:
        _check_reveal(header, rows)
    if not match.over or len(match.lines) > played:
        raise _CutShort(played, _missing(match, rows[:played]))
    return VerificationReport(
        ok=True,
        rows=len(rows),
        match=header["match"],
        game=header["game"],
        revealed=revealed,
        placements=match.state.placements(),
    )


def _row(number: int, line: bytes) -> Json:
    try:
        row = parse_row(line)
    except (ValueError, RecursionError) as error:
        raise BadLog(number, f"not a JSON object: {error}") from None
    try:
        spelled = dumps(row)
    except TypeError as error:
        raise BadLog(number, f"not a row that a log can hold: {error}") from None
    if spelled != line:
        raise BadLog(number, "not in canonical spelling (sorted keys, no blanks)")
    if not isinstance(row.get("type"), str) or row.get("row") != number:
        raise BadLog(number, f"expected a row numbered {number} with a type")
    return row


def _check_links(lines: Sequence[bytes], rows: Sequence[Json]) -> None:
    before: str | None = None
    for number, row in enumerate(rows):
        if row.get("prev", ...) != before:
            raise BadLog(number, f"its link is not the hash of row {number - 1}: one of the two was altered")
        before = digest(lines[number])


def _header(row: Json) -> Json:
    if row["type"] != "header" or row.get("log_format") != LOG_FORMAT:
        raise BadLog(0, f"expected a header of log format {LOG_FORMAT}")
    header = {name: value for name, value in row.items() if name not in ("type", "row", "prev")}
    try:
        if header.keys() != HEADER_MEMBERS or set(header["time"]) != {"budget_ms", "bank_ms"}:
            raise BadLog(0, f"the header must have just these members: {', '.join(sorted(HEADER_MEMBERS))}")
        rules = game(header["game"])
        if header["rules_version"] != rules.rules_version:
            known = rules.rules_version
            raise BadLog(0, f"rules version {header['rules_version']}, this engine knows version {known}")
        Match(header, RecordedChance([]))
    except (KeyError, TypeError) as error:
        raise BadLog(0, f"the header is incomplete: {error!r}") from None
    except RefereeError as error:
        raise BadLog(0, str(error)) from error
    return header


def _replay_rows(header: Json, lines: Sequence[bytes], rows: Sequence[Json]) -> Match:
    """Replay the recorded answers and outcomes and compare each row with the one that the rules produce.

    Return the match, which may continue beyond the last row. Raise ``BadLog`` for a row that differs or is superfluous.
    """
    match, compared = Match(header, RecordedChance(rows)), 0
    try:
        match.begin()
        compared = match.agree(lines, compared)
        for number, row in enumerate(rows):
            if is_answer(row):
                match.replay(number, row)
                compared = match.agree(lines, compared)
            elif number >= compared:
                _check_open_point(match, number, row)
    except RefereeError as error:
        # If a row before the failure differs, this raises: that row is the cause.
        compared = match.agree(lines, compared)
        fault = error if isinstance(error, BadLog) else BadLog(len(match.lines), str(error))
        if fault.row < len(lines):
            raise fault from error  # otherwise the outcome of a draw is missing after the last row
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadLog(len(match.lines), f"a row is malformed: {error!r}") from error
    if compared < len(lines):  # the last rows belong to a decision point that is still open
        raise BadLog(len(lines), _missing(match, rows, [row["seat"] for row in rows[compared:]]))
    return match


def _check_open_point(match: Match, number: int, row: Json) -> None:
    """Raise ``BadLog`` for a row that contains no answer and that the match does not write by itself.

    Accept rows of a decision point whose rows are written together once all its seats have decided.
    """
    if match.over:
        raise BadLog(number, "superfluous row: the match was over already")
    if row.get("n") != match.n or row.get("seat") not in list(match.state.sealed):
        raise BadLog(number, f"expected a decision of seat {min(match.state.pending())} here")


def _missing(match: Match, rows: Sequence[Json], sealed: Collection[Seat] = ()) -> str:
    """Return a message that names the first row missing after ``rows``, which end with answers of ``sealed`` seats."""
    number = len(rows)
    if number < len(match.log.rows):
        row = match.log.rows[number]
        lacked = f"a decision of seat {row['seat']}" if row["type"] == "decision" else f"the {row['type']} row"
    elif asked := match.state.chance():
        lacked = f"the outcome of a {asked['kind']}"
    else:
        lacked = f"a decision of seat {min({*match.state.pending(), *match.state.sealed} - {*sealed})}"
    return f"the log ends before the match is over: expected {lacked} here"


def _check_reveal(header: Json, rows: Sequence[Json]) -> None:
    """The seed must be the one promised, and every outcome must follow from it."""
    last, reveal = len(rows) - 1, rows[-1]
    group = header["group"]
    try:
        seed, nonces = bytes.fromhex(reveal["seed"]), reveal["nonces"]
        hashes: list[Any] = reveal["nonce_hashes"]
        if commitment(seed, group["id"]) != group["commitment"]:
            raise BadLog(last, "the seed is not the one promised by the commitment in the header")
        if not len(nonces) == len(hashes) == len(group["entries"]):
            raise BadLog(last, f"expected a nonce and a hash for each of {len(group['entries'])} entries")
        for place, (nonce, promised) in enumerate(zip(nonces, hashes, strict=True)):
            if nonce and digest(nonce.encode()) != promised:
                raise BadLog(last, f"nonce {place} does not fit its hash")
        source = CommittedChance(seed, group["id"], nonces)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadLog(last, f"the reveal is malformed: {error!r}") from None
    nodes: dict[str, int] = {}
    for number, row in enumerate(rows):
        if row["type"] == "chance":
            asked = row["chance"]
            k = nodes.setdefault(asked["kind"], 0)
            nodes[asked["kind"]] += 1
            if source.outcome(asked, k) != row["outcome"]:
                raise BadLog(number, f"{asked['kind']} {k} does not follow from the revealed seed and nonces")
