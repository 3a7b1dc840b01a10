"""Derive from a log what must be stored of its match."""

from collections.abc import Sequence

from referee.errors import BadLog
from referee.match.canonical import Json
from referee.match.log import LINK_MEMBERS, digest, parse_row
from referee.match.verification import verify


def read_facts(match_id: str, lines: Sequence[bytes]) -> dict[str, Json]:
    """Verify a log, without signature, and return what it proves, keyed by the kinds of ``Difference``.

    Raise ``BadLog`` unless it is a valid log of this match.
    """
    report = verify(lines)
    if not report.ok:
        raise BadLog(report.row or 0, report.reason)
    if report.match != match_id:
        raise BadLog(0, f"it is the log of match {report.match}")
    rows = lines[: len(lines) - report.revealed]
    header, last = parse_row(rows[0]), parse_row(rows[-1])
    players = header["players"]
    seats = {"bots": [player["bot"] for player in players]}
    seats |= {name: last[name] for name in ("placements", "returns")}
    result = {**seats, "versions": [player["version"] for player in players], "scores": last["scores"]}
    result |= {"engine_version": header["engine_version"], "digest": digest(rows[-1])}
    return {
        "log": {"rows": len(rows), "digest": digest(rows[-1])},
        "match": {name: header[name] for name in ("game", "options", "seats", "rated")} | header["time"],
        "seats": seats,
        "result": result,
        "reveal": {"revealed": report.revealed} | (_reveal_facts(header, lines[-1]) if report.revealed else {}),
    }


def _reveal_facts(header: Json, line: bytes) -> Json:
    """Return the members of a reveal row without its seeds, which fit their commitments, as the log is valid."""
    members = {name: value for name, value in parse_row(line).items() if name not in (*LINK_MEMBERS, "seed")}
    members["openings"] = [
        {name: value for name, value in opening.items() if name != "seed"} for opening in members["openings"]
    ]
    return members | {"commitment": header["group"]["commitment"]}
