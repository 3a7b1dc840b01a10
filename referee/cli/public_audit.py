"""Audit ladders of a service from outside: recompute them from their public files, and verify every log."""

import hashlib
import re
import tempfile
import time
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import quote

from referee.cli.api_client import Api, ApiRefusal, ApiUnreachable
from referee.cli.progress import UpdateBar, progress_bar
from referee.cli.tournament.log_download import ATTEMPTS, CHUNK_BYTES, PAUSE_S
from referee.cli.tournament.remote import is_transient
from referee.errors import BadLog, RefereeError
from referee.ladders.audit_findings import Difference
from referee.ladders.kinds import EntryKind
from referee.ladders.ledger_file import BadLedgerFile, FileEntry, FileReplay, LedgerFile
from referee.ladders.rating_replay import RatingReplay
from referee.match.canonical import Json, dumps
from referee.match.log import parse_row
from referee.match.signature import ChainHead, split_signature
from referee.match.verification import verify

ROWS_PER_PAGE: Final = 100
MAX_KEPT: Final = 10_000  # differences of a ladder that are kept
NOT_FOUND: Final = 404
LOG_DELETED: Final = "log_deleted"  # code of the 410
BROKEN: Final = 500  # the service cannot read its own log


_HEAD: Final = re.compile(r"head:([0-9]{1,18}):([0-9a-f]{64})")


class BadResumeFile(RefereeError):
    """Signal that the file of an earlier audit is damaged."""


class NoSuchLadder(RefereeError):
    """Signal that the service has no ladder with this name or id."""


@dataclass(slots=True)
class LadderAudit:
    """Report the audit of a ladder. ``count`` is the number of differences, of which the first are kept.

    ``verified`` is the number of logs that were verified now, ``skipped`` of those verified by an earlier run,
    ``deleted`` of those that the service says it deleted after the time for which it keeps logs. ``is_complete`` is set
    at the end of the audit.
    """

    ladder: str
    name: str
    entries: int = 0
    results: int = 0
    verified: int = 0
    skipped: int = 0
    deleted: int = 0
    is_complete: bool = False
    count: int = 0
    differences: list[Difference] = field(default_factory=list)

    def add(self, found: Iterator[Difference]) -> bool:
        """Add differences. Return whether there were any."""
        before = self.count
        for difference in found:
            self.count += 1
            if len(self.differences) < MAX_KEPT:
                self.differences.append(difference)
        return self.count > before


class SignedLogs(Protocol):
    """Know which logs are signed. ``public_chain.ChainAudit`` does."""

    def find_problem(self, line: bytes | None, rows: list[bytes], /) -> str:
        """Return why a log with this signature line is not signed by the chain, or an empty text if it is."""


class VerifiedLogs:
    """Remember verified logs and the head of the chain in a file, to resume an audit. Without a file, forget them.

    A line has the digest of what the ledger says about a match: if that changes, the log is verified again. A line that
    begins with ``head:`` has a head; the last one counts.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        lines = path.read_text().split() if path is not None and path.exists() else []
        self._known = set(lines)
        heads = [_HEAD.fullmatch(line) for line in lines if line.startswith("head:")]
        if None in heads:
            raise BadResumeFile(
                f"{path} has a damaged line with the head of the chain. Remove the file to verify everything again."
            )
        self.head = ChainHead(int(heads[-1][1]), heads[-1][2]) if heads and heads[-1] else None

    def has(self, facts: Json) -> bool:
        return _digest(facts) in self._known

    def add(self, facts: Json) -> None:
        self._append(_digest(facts))

    def note_head(self, head: ChainHead) -> None:
        """Remember the head of a chain that was verified."""
        if head != self.head:
            self.head = head
            self._append(f"head:{head.number}:{head.digest}")

    def _append(self, line: str) -> None:
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(line + "\n")


def select_ladders(api: Api, wanted: Sequence[str]) -> list[Json]:
    """Return the ladders with these names or ids, or all ladders. Raise ``NoSuchLadder``."""
    ladders = list(api.items(f"/ladders?limit={ROWS_PER_PAGE}"))
    if not wanted:
        return ladders
    found = []
    for text in wanted:
        named = [ladder for ladder in ladders if text in (ladder["id"], ladder["name"])] or _find_unlisted(api, text)
        if not named:
            known = ", ".join(ladder["name"] for ladder in islice(ladders, 20)) or "none"
            raise NoSuchLadder(f"Unknown ladder {text!r}. Available: {known}.")
        found += named
    return found


def _find_unlisted(api: Api, ladder_id: str) -> list[Json]:
    """Return the ladder with this id, which the list of ladders leaves out, or [] if there is none."""
    try:
        return [api.get(f"/ladders/{quote(ladder_id, safe='')}?limit=1")]
    except ApiRefusal as refusal:
        if refusal.status != NOT_FOUND:
            raise
        return []


def audit_ladder(api: Api, ladder: Json, verified: VerifiedLogs, chain: SignedLogs, report: LadderAudit) -> None:
    """Recompute a ladder from its ledger file, compare it with the rows shown, and verify the log of every result.

    ``report`` gets each difference as it is found, so that it is of use even if the audit is interrupted. Each log
    must be signed by an entry of ``chain``. The file is on disk and logs are read one at a time. Raise
    ``ApiUnreachable`` if the service stops answering.
    """
    with tempfile.TemporaryDirectory() as folder, progress_bar(ladder["name"], lines=True) as update:
        shown, as_of = _load_rows(api, ladder["id"])  # before the file, which then contains all its entries
        file = _download(api, ladder["id"], Path(folder) / "ledger.csv", update)
        if file.last_seq < as_of:
            raise BadLedgerFile(f"the ledger file of {ladder['name']} ends at entry {file.last_seq}, not {as_of}")
        report.entries, report.results = file.entries, file.results
        replay = FileReplay(file)
        report.add(replay.check(ladder["id"], as_of, partial(_compare_rows, ladder["id"], shown)))
        results = (entry for entry in file.read() if entry.kind == EntryKind.RESULT)
        for done, entry in enumerate(results):
            update(done, file.results, "logs")
            facts = _facts(entry, ladder)
            if verified.has(facts):
                report.skipped += 1
                continue
            try:
                is_valid = not report.add(_check_log(api, entry.match_id, facts, ladder["id"], chain))
            except ApiRefusal as refusal:
                if refusal.code != LOG_DELETED:
                    raise
                report.deleted += 1
                continue
            if is_valid:
                report.verified += 1
                verified.add(facts)
    report.is_complete = True


def _load_rows(api: Api, ladder_id: str) -> tuple[list[Json], int]:
    """Return all rows that the ladder shows now, and the ledger entry as of which they are."""
    page = api.get(f"/ladders/{ladder_id}?limit={ROWS_PER_PAGE}")
    rows, as_of = list(page["items"]), int(page["as_of_seq"])
    while page["next"] is not None:
        path = f"/ladders/{ladder_id}?limit={ROWS_PER_PAGE}&as_of={as_of}&cursor={page['next']}"
        page = api.get(path)
        rows += page["items"]
    return rows, as_of


def _download(api: Api, ladder_id: str, path: Path, update: UpdateBar) -> LedgerFile:
    """Download the ledger of a ladder. Raise ``ApiUnreachable`` if the download breaks off."""
    with api.stream(f"/api/v1/ladders/{ladder_id}/results.csv") as response, path.open("wb") as file:
        size = 0
        while chunk := response.read(CHUNK_BYTES):
            file.write(chunk)
            size += len(chunk)
            update(size, max(size, 1), "ledger (bytes)")
    return LedgerFile(path)


def _compare_rows(ladder_id: str, shown: Sequence[Json], replay: RatingReplay) -> Iterator[Difference]:
    """Yield differences between the rows that the ladder shows and the ratings that follow from its ledger."""
    follows = {bot: (state.value, state.games) for bot, state in replay.ratings.items() if state.games}
    ascending = sorted(value for value, _ in follows.values())
    stands = {row["bot"]: row for row in shown}
    for bot in sorted(follows.keys() | stands.keys()):
        row, expected = stands.get(bot), follows.get(bot)
        found = None if row is None else (row["rank"], row["rating_micro"], row["games"])
        derived = None
        if expected is not None:
            better = len(ascending) - bisect_right(ascending, expected[0])
            derived = (better + 1, *expected)
        if found != derived:
            yield Difference("rating", bot, _row_text(found), _row_text(derived), ladder_id)


def _row_text(row: tuple[int, int, int] | None) -> str:
    return "no row" if row is None else "rank {}, rating_micro {}, games {}".format(*row)


def _facts(entry: FileEntry, ladder: Json) -> Json:
    """Return what the log of a result must say, from the ledger and the terms of the ladder."""
    rows = sorted(entry.rows, key=lambda row: int(row["seat"]))
    versions = [row["version"].removeprefix("'") or None for row in rows]  # the apostrophe escapes a formula
    facts: Json = {"match": entry.match_id, "bots": [row["bot"] for row in rows], "versions": versions}
    facts |= {name: [int(row[name]) for row in rows] for name in ("placement", "returns")}
    return facts | {name: ladder[name] for name in ("game", "options", "seats")}


def _check_log(api: Api, match_id: str, facts: Json, ladder_id: str, chain: SignedLogs) -> Iterator[Difference]:
    """Yield what is wrong with the log of a result.

    It may be missing, invalid, not signed, or about something else than the ledger says.
    """
    try:
        lines, signature = split_signature(_fetch_log(api, match_id).splitlines())
    except ApiRefusal as error:
        if error.status not in (NOT_FOUND, BROKEN) and error.code not in ("log_not_ready", "log_damaged"):
            raise  # also for a log that was deleted, which is no difference
        yield Difference("log", match_id, f"no log ({error.detail})", "a valid log", ladder_id)
        return
    report = verify(lines)
    if not report.ok or not report.revealed:
        reason = f"row {report.row}: {report.reason}" if not report.ok else "the reveal row is missing"
        yield Difference("log", match_id, reason, "a valid log", ladder_id)
        return
    problem = chain.find_problem(signature, lines)
    if problem:
        yield Difference("signature", match_id, problem, "the signature of an entry of the chain", ladder_id)
    try:
        said = _facts_of_log(lines)
    except (KeyError, TypeError, ValueError, BadLog) as error:
        yield Difference("log", match_id, f"header or result cannot be read: {error!r}", "a valid log", ladder_id)
        return
    for name, value in facts.items():
        if said[name] != value:
            yield Difference("result", match_id, f"{name} {value} in the ledger", f"{said[name]} in its log", ladder_id)


def _facts_of_log(lines: Sequence[bytes]) -> Json:
    header, result = parse_row(lines[0]), parse_row(lines[-2])  # the last row is the reveal
    players = header["players"]
    facts = {"match": header["match"], "bots": [player["bot"] for player in players]}
    facts |= {"versions": [player["version"] for player in players]}
    facts |= {"placement": result["placements"], "returns": result["returns"]}
    return facts | {name: header[name] for name in ("game", "options", "seats")}


def _fetch_log(api: Api, match_id: str) -> bytes:
    """Return a log. Repeat the request after an interruption or a limit, up to ``ATTEMPTS`` times."""
    for attempt in range(ATTEMPTS):
        try:
            return api.fetch(f"/api/v1/matches/{match_id}/log")
        except (ApiRefusal, ApiUnreachable) as error:
            is_broken = isinstance(error, ApiRefusal) and error.status == BROKEN
            if is_broken or not is_transient(error) or attempt == ATTEMPTS - 1:
                raise
            time.sleep(PAUSE_S * 2**attempt)
    raise AssertionError


def _digest(facts: Json) -> str:
    return hashlib.sha256(dumps(facts)).hexdigest()


def to_json(reports: Sequence[LadderAudit], chain: Json | None, *, interrupted: bool) -> dict[str, Any]:
    """Return the reports as one JSON object. ``holds`` is false if anything differs, or if the audit is incomplete.

    ``chain`` is None if its audit was interrupted.
    """
    ladders = [asdict(report) for report in reports]
    holds = not interrupted and chain is not None and not chain["differences"]
    holds = holds and not any(report.count for report in reports)
    return {"holds": holds, "interrupted": interrupted, "chain": chain, "ladders": ladders}
