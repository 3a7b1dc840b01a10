"""Audit ladders of a service from outside: recompute them from their public files, and verify every log."""

import hashlib
import re
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from referee.audit.chain_walk import ChainWalk
from referee.audit.findings import Difference, Findings, compare
from referee.audit.ladder_walk import check_values
from referee.audit.ledger_file import BadLedgerFile, LedgerFile
from referee.audit.log_facts import read_facts
from referee.cli.progress import UpdateBar, progress_bar
from referee.cli.public_chain import BROKEN, NOT_FOUND, PublicChain, load_keys
from referee.cli.service import lookup
from referee.cli.service.api_client import Api, ApiRefusal, ApiUnreachable
from referee.cli.service.log_files import CHUNK_BYTES
from referee.cli.service.remote import is_transient
from referee.errors import BadLog, RefereeError
from referee.match.canonical import Json, dumps
from referee.match.signature import ChainHead, split_signature
from referee.match.signing_keys import KeyRing

ATTEMPTS: Final = 7  # maximum number of requests for a log
PAUSE_S: Final = 0.5  # before the second attempt; doubled before each further one
ROWS_PER_PAGE: Final = 100
LOG_DELETED: Final = "log_deleted"  # code of the 410

_HEAD: Final = re.compile(r"head:([0-9]{1,18}):([0-9a-f]{64})")


class BadResumeFile(RefereeError):
    """Signal that the file of an earlier audit is damaged."""


@dataclass(slots=True)
class LadderAudit:
    """Report the audit of a ladder.

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
    found: Findings = field(default_factory=Findings)

    def to_json(self) -> Json:
        members = asdict(self)
        found = members.pop("found")
        return {**members, "count": found["count"], "differences": found["first"]}


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


class PublicAudit:
    """Audit the chain of signatures and ladders of a service. ``ladders`` has a report of each ladder begun.

    ``resume`` is the file of an earlier audit. Signatures are checked with ``keys``, or with those that the service
    publishes.
    """

    def __init__(self, api: Api, resume: Path | None, keys: KeyRing | None) -> None:
        self._api, self._verified = api, VerifiedLogs(resume)
        self.has_given_keys = keys is not None
        self.chain = PublicChain(api, ChainWalk(keys or KeyRing([])), self._verified.head)
        self.has_chain = self.is_interrupted = False
        self.ladders: list[LadderAudit] = []

    @property
    def holds(self) -> bool:
        """Return whether the audit is complete and nothing differs."""
        is_complete = self.has_chain and not self.is_interrupted
        return is_complete and not self.chain.differences and not any(report.found.count for report in self.ladders)

    def run(self, wanted: Sequence[str]) -> None:
        """Audit the ladders with these names or ids, or all listed ones. Raise ``NotFoundByName``."""
        api = self._api
        selected = [api.get(f"/ladders/{lookup.ladder_id(api, text)}?limit=1") for text in wanted]
        if not wanted:
            selected = list(api.items(f"/ladders?limit={ROWS_PER_PAGE}"))
        if not self.has_given_keys:
            self.chain.walk.keys = load_keys(api)
        with progress_bar("chain of signatures", lines=True) as update:
            self.chain.read_on(update)
        self.has_chain = True
        if self.chain.head is not None and not self.chain.differences:
            self._verified.note_head(self.chain.head)
        for ladder in selected:
            self.ladders.append(LadderAudit(ladder["id"], ladder["name"]))
            _audit_ladder(api, ladder, self._verified, self.chain, self.ladders[-1])

    def to_json(self) -> Json:
        """Return the reports as one JSON object. The chain is None if its audit was interrupted."""
        chain = self.chain.to_json() if self.has_chain else None
        ladders = [report.to_json() for report in self.ladders]
        return {"holds": self.holds, "interrupted": self.is_interrupted, "chain": chain, "ladders": ladders}


def _audit_ladder(api: Api, ladder: Json, verified: VerifiedLogs, chain: PublicChain, report: LadderAudit) -> None:
    """Recompute a ladder from its ledger file, compare it with the rows shown, and verify the log of every result.

    ``report`` gets each difference as it is found, so that it is of use even if the audit is interrupted. Each log
    must be signed by an entry of ``chain``. The file is on disk and logs are read one at a time. Raise
    ``ApiUnreachable`` if the service stops answering.
    """
    with tempfile.TemporaryDirectory() as folder, progress_bar(ladder["name"], lines=True) as update:
        shown, as_of = _load_rows(api, ladder["id"])  # before the file, which then contains all its entries
        path = Path(folder) / "ledger.csv"
        _download(api, ladder["id"], path, update)
        file = LedgerFile(path, ladder["id"], as_of, shown)
        report.entries, report.results = file.count, file.results
        try:
            report.found.add(check_values(file))
        except (ValueError, KeyError, IndexError, AssertionError) as error:
            raise BadLedgerFile(f"the ledger file of {ladder['name']} cannot be replayed: {error!r}") from error
        terms = {name: ladder[name] for name in ("game", "options", "seats")}
        for done, (match_id, facts) in enumerate(file.facts()):
            update(done, file.results, "logs")
            _audit_log(api, match_id, {"match": terms, "result": facts}, verified, chain, report)
    report.is_complete = True


def _audit_log(
    api: Api, match_id: str, stored: Mapping[str, Json], verified: VerifiedLogs, chain: PublicChain, report: LadderAudit
) -> None:
    """Verify the log of a result, unless an earlier run did, and count it."""
    if verified.has({"id": match_id, **stored}):
        report.skipped += 1
        return
    try:
        differs = report.found.add(_check_log(api, match_id, stored, report.ladder, chain))
    except ApiRefusal as refusal:
        if refusal.code != LOG_DELETED:
            raise
        report.deleted += 1
        return
    if not differs:
        report.verified += 1
        verified.add({"id": match_id, **stored})


def _load_rows(api: Api, ladder_id: str) -> tuple[dict[str, Json], int]:
    """Return all rows that the ladder shows now, keyed by bot id, and the ledger entry as of which they are."""
    page = api.get(f"/ladders/{ladder_id}?limit={ROWS_PER_PAGE}")
    rows, as_of = list(page["items"]), int(page["as_of_seq"])
    while page["next"] is not None:
        path = f"/ladders/{ladder_id}?limit={ROWS_PER_PAGE}&as_of={as_of}&cursor={page['next']}"
        page = api.get(path)
        rows += page["items"]
    return {row["bot"]: {name: row[name] for name in ("rank", "rating_micro", "games")} for row in rows}, as_of


def _download(api: Api, ladder_id: str, path: Path, update: UpdateBar) -> None:
    """Download the ledger of a ladder. Raise ``ApiUnreachable`` if the download breaks off."""
    with api.stream(f"/api/v1/ladders/{ladder_id}/results.csv") as response, path.open("wb") as file:
        size = 0
        while chunk := response.read(CHUNK_BYTES):
            file.write(chunk)
            size += len(chunk)
            update(size, max(size, 1), "ledger (bytes)")


def _check_log(
    api: Api, match_id: str, stored: Mapping[str, Json], ladder_id: str, chain: PublicChain
) -> Iterator[Difference]:
    """Yield what is wrong with the log of a result.

    It may be missing, invalid, not signed, or about something else than the ledger says.
    """
    try:
        lines, signature = split_signature(_fetch_log(api, match_id).splitlines())
        facts = read_facts(match_id, lines)
    except BadLog as error:
        yield Difference("log", match_id, str(error), "a valid log", ladder_id)
        return
    except ApiRefusal as error:
        if error.status not in (NOT_FOUND, BROKEN) and error.code not in ("log_not_ready", "log_damaged"):
            raise  # also for a log that was deleted, which is no difference
        yield Difference("log", match_id, f"no log ({error.detail})", "a valid log", ladder_id)
        return
    problem = chain.find_problem(signature, lines)
    if problem:
        yield Difference("signature", match_id, problem, "the signature of an entry of the chain", ladder_id)
    for kind, values in {"reveal": {"revealed": True}, **stored}.items():
        yield from compare(kind, {match_id: values}, {match_id: facts[kind]}, ladder_id)


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
