"""Verify a match log from its bytes alone: links, rules, legality, deals and completeness."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from referee.errors import BadLog, RefereeError
from referee.games import game
from referee.games.state import Seat
from referee.match.canonical import Json, dumps
from referee.match.chance import CommittedChance, RecordedChance
from referee.match.log import LINK_MEMBERS, digest, parse_row
from referee.match.match import LOG_FORMAT, Match, is_answer
from referee.match.plausibility import check_answer, check_header
from referee.match.reveal import BadReveal, DealOrigin, parse_reveal
from referee.match.signature import BadSignature, LogSignature, check_belongs, parse_signature, split_signature

# What a valid log states but does not prove, with the members of its rows. The signature of a service attests it.
# docs/watching.md lists the same.
NOT_ATTESTED: Final = {
    "match": "the id of the match",
    "players": "who played: names, ids and versions of bots, and what they replaced in a fork",
    "entries": "which bots were asked for nonces",
    "accepted": "which of them confirmed the nonces",
    "commitment": "that the commitment was published before the match",
    "rated": "whether the match was rated",
    "engine_version": "the version of the engine",
    "time": "the time limits, beyond the recorded thinking times",
    "ms": "thinking times within the limits",
    "fault": "faults other than late answers, and whether a default action was chosen or played for a bot",
    "note": "notes",
}


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """Describe the result of verifying a log.

    ``row``, from 0, and ``reason`` describe the first error. ``revealed`` means that the deals were checked against the
    seed, which is secret until the log has its reveal row; ``origin`` then states where the deals come from.
    ``cut_short`` means that the only error is missing rows at the end. ``signature`` is the signature after the last
    row, which signs this log; whether its key made it was not checked.
    """

    ok: bool
    rows: int
    match: str = ""
    game: str = ""
    row: int | None = None
    reason: str = ""
    revealed: bool = False
    placements: list[int] = field(default_factory=list)
    cut_short: bool = False
    origin: DealOrigin | None = None
    signature: LogSignature | None = None


def verify(lines: Iterable[bytes]) -> VerificationReport:
    """Replay a log from its bytes alone and check links, rules, legality, deals, and completeness up to the result.

    ``lines`` are the rows as stored, with or without line ends, and perhaps the signature after them, which must be
    that of this log. An invalid log is reported, not raised as an error.
    """
    stored, signature = split_signature([line.rstrip(b"\r\n") for line in lines])
    report = _report_on(stored)
    if signature is None or not (report.ok or report.cut_short):
        return report
    try:
        parsed = parse_signature(signature)
        check_belongs(parsed, stored)
    except BadSignature as error:
        reason = f"the signature after the last row is wrong: {error}"
        return replace(report, ok=False, cut_short=False, row=len(stored), reason=reason)
    return replace(report, signature=parsed)


def _report_on(stored: Sequence[bytes]) -> VerificationReport:
    try:
        return _verify_rows(stored)
    except BadLog as error:
        origin = error.origin if isinstance(error, _CutShort) else None
        return VerificationReport(
            ok=False,
            rows=len(stored),
            row=error.row,
            reason=error.reason,
            revealed=origin is not None,
            cut_short=isinstance(error, _CutShort),
            origin=origin,
        )


class _CutShort(BadLog):
    """Report a log whose rows are valid but end before the match is over."""

    def __init__(self, row: int, reason: str, origin: DealOrigin | None) -> None:
        super().__init__(row, reason)
        self.origin = origin


def _verify_rows(lines: Sequence[bytes]) -> VerificationReport:
    rows = [_parse_canonical_row(number, line) for number, line in enumerate(lines)]
    if not rows:
        raise BadLog(0, "the log is empty")
    _check_links(lines, rows)
    header = _parse_header(rows[0])
    revealed = rows[-1]["type"] == "reveal"
    played = len(rows) - revealed
    match = _replay_rows(header, lines[:played], rows[:played])
    origin = _check_reveal(header, rows) if revealed else None
    if not match.over or len(match.lines) > played:
        raise _CutShort(played, _describe_missing_row(match, rows[:played]), origin)
    return VerificationReport(
        ok=True,
        rows=len(rows),
        match=header["match"],
        game=header["game"],
        revealed=revealed,
        placements=match.state.placements(),
        origin=origin,
    )


def _parse_canonical_row(number: int, line: bytes) -> Json:
    try:
        row = parse_row(line)
    except (ValueError, RecursionError) as error:
        raise BadLog(number, f"not a JSON object: {error}") from None
    try:
        spelled = dumps(row)
    except TypeError as error:
        raise BadLog(number, f"not a row that a log can contain: {error}") from None
    if spelled != line:
        raise BadLog(number, "not in canonical spelling (sorted keys, no blanks)")
    if not isinstance(row.get("type"), str) or type(row.get("row")) is not int or row["row"] != number:
        raise BadLog(number, f"expected a row numbered {number} with a type")
    return row


def _check_links(lines: Sequence[bytes], rows: Sequence[Json]) -> None:
    before: str | None = None
    for number, row in enumerate(rows):
        if row.get("prev", ...) != before:
            raise BadLog(number, f"its link is not the hash of row {number - 1}: one of the two was altered")
        before = digest(lines[number])


def _parse_header(row: Json) -> Json:
    if row["type"] != "header" or row.get("log_format") != LOG_FORMAT:
        raise BadLog(0, f"expected a header of log format {LOG_FORMAT}")
    header = {name: value for name, value in row.items() if name not in LINK_MEMBERS}
    try:
        check_header(header)
        rules = game(header["game"])
        if header["rules_version"] != rules.rules_version:
            known = rules.rules_version
            raise BadLog(0, f"the log has rules version {header['rules_version']}; this engine knows version {known}")
        complete = rules.complete_options(header["seats"], header["options"])
        if dumps(header["options"]) != dumps(complete):
            raise BadLog(0, f"options must be complete: {dumps(complete).decode()}")
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
        compared = match.compare_rows(lines, compared)
        for number, row in enumerate(rows):
            if is_answer(row):
                check_answer(match, number, row)
                match.replay(number, row)
                compared = match.compare_rows(lines, compared)
            elif number >= compared:
                _check_open_point(match, number, row)
    except RefereeError as error:
        # Raise for an earlier row that differs, if there is one: it caused the failure.
        compared = match.compare_rows(lines, compared)
        fault = error if isinstance(error, BadLog) else BadLog(len(match.lines), str(error))
        if fault.row < len(lines):
            raise fault from error  # otherwise only the outcome of the next draw is missing
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadLog(len(match.lines), f"a row is malformed: {error!r}") from error
    if compared < len(lines):  # the remaining rows belong to an open decision point
        raise BadLog(len(lines), _describe_missing_row(match, rows, [row["seat"] for row in rows[compared:]]))
    return match


def _check_open_point(match: Match, number: int, row: Json) -> None:
    """Raise ``BadLog`` for a row that has no answer and that the match does not write itself.

    Accept rows of a decision point that are written together once all its seats have decided.
    """
    if match.over:
        raise BadLog(number, "superfluous row: the match was already over")
    if row.get("n") != match.n or row.get("seat") not in list(match.state.sealed):
        raise BadLog(number, f"expected a decision of seat {min(match.state.pending()) + 1} here")


def _describe_missing_row(match: Match, rows: Sequence[Json], sealed: Collection[Seat] = ()) -> str:
    """Return a message that names the first row missing after ``rows``, which end with answers of ``sealed`` seats."""
    number = len(rows)
    if number < len(match.log.rows):
        row = match.log.rows[number]
        missing = f"a decision of seat {row['seat'] + 1}" if row["type"] == "decision" else f"the {row['type']} row"
    elif asked := match.state.chance():
        missing = f"the outcome of a {asked['kind']}"
    else:
        missing = f"a decision of seat {min({*match.state.pending(), *match.state.sealed} - {*sealed}) + 1}"
    return f"the log ends before the match is over: expected {missing} here"


def _check_reveal(header: Json, rows: Sequence[Json]) -> DealOrigin:
    """Return where the deals come from.

    Raise ``BadLog`` unless the reveal is sound and all outcomes follow from the seed and the nonces.
    """
    try:
        reveal, origin = parse_reveal(header, rows[-1])
    except BadReveal as error:
        raise BadLog(len(rows) - 1, str(error)) from None
    source, draws = CommittedChance(reveal.seed, header["group"]["id"], reveal.nonces), Counter[str]()
    for number, row in enumerate(rows):
        if row["type"] == "chance":
            asked = row["chance"]
            k = draws[asked["kind"]]
            draws[asked["kind"]] += 1
            if source.outcome(asked, k) != row["outcome"]:
                raise BadLog(number, f"{asked['kind']} {k} does not follow from the revealed seed and nonces")
    return origin
