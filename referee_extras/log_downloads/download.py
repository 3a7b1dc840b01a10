"""Download many logs into a file that can be continued, and verify them."""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from io import RawIOBase
from itertools import pairwise
from pathlib import Path
from typing import IO
from urllib.parse import urlencode

from referee.cli.plain_text import note
from referee.cli.progress import UpdateBar, progress_bar
from referee.cli.service.api_client import Api, ApiRefusal, ApiUnreachable
from referee.cli.service.log_files import read_chunks, verify_stored_log
from referee.cli.service.remote import Remote, RequestRefused, is_transient
from referee.match.canonical import Json
from referee.match.log_bundle import CutOff, StoredLog, Unreadable, split_logs

ATTEMPTS = 7  # maximum number of consecutive attempts without a new log
PAUSE_S = 0.5  # before the second attempt; doubled before each further one
FAILURES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class LogSource:
    """Name where logs are downloaded from: a path of the API, such as ``/bots/bot_…``, and a span of time.

    ``title`` names the file.
    """

    path: str
    title: str
    span: Mapping[str, str] = field(default_factory=dict)

    def url(self, after: str = "") -> str:
        """Return the path and query of a download that continues after the match ``after``."""
        query = urlencode({**self.span, **({"after": after} if after else {})})
        return f"/api/v1{self.path}/logs" + (f"?{query}" if query else "")


@dataclass(slots=True)
class DownloadReport:
    """Count the logs in the downloaded file, and collect those that fail verification."""

    path: Path
    verifies: bool
    logs: int = 0
    last: str = ""  # id of the last match in the file
    end: int = 0  # offset at which its log ends, in bytes
    verified: int = 0
    broken_off: int = 0  # incomplete logs of cancelled matches
    left_out: int = 0  # logs that are not public yet
    deleted: int = 0  # logs that the service no longer keeps
    failed: list[Json] = field(default_factory=list)

    def read_headers(self, headers: Mapping[str, str]) -> None:
        """Read how many logs a response leaves out."""
        self.left_out = int(headers.get("Referee-Left-Out", 0))
        self.deleted = max(self.deleted, int(headers.get("Referee-Deleted", 0)))  # a later response counts fewer

    def add(self, log: StoredLog) -> None:
        self.logs, self.last, self.end = self.logs + 1, log.match, log.end or 0
        if not self.verifies:
            return
        report = verify_stored_log(log)
        row, reason = report.row, report.reason
        if report.ok and report.cut_short:
            self.broken_off += 1
        elif report.ok and report.revealed:
            self.verified += 1
        else:
            if report.ok:
                row, reason = report.rows, "the reveal row is missing"
            self.failed.append({"match": log.match, "row": row, "reason": reason})


def download_logs(remote: Remote, source: LogSource, *, out: Path | None, verifies: bool) -> None:
    """Download logs to a file, and print a report. Raise ``RequestRefused`` if a verified log fails.

    Continue a file that exists at its end. Resume if the connection breaks, up to ``ATTEMPTS`` times without progress.
    """
    report = DownloadReport(_choose_path(source.title, out), verifies)
    with progress_bar("logs") as update:
        _fetch(remote.api, source, report, update)
    _show_report(remote, report)


def _fetch(api: Api, source: LogSource, report: DownloadReport, update: UpdateBar) -> None:
    report.path.touch()
    with report.path.open("r+b") as file:
        with suppress(CutOff):
            for log, _ in pairwise(_split(read_chunks(file), report)):  # the last log may be incomplete
                report.add(log)
        attempt = 0
        while True:
            before = report.logs
            try:
                _append(api, source, report, file, update)
                return
            except (ApiUnreachable, ApiRefusal) as error:
                attempt = 1 if report.logs > before else attempt + 1
                if not is_transient(error) or attempt == ATTEMPTS:
                    note(f"{report.path} has {report.logs} logs; run the same command to resume the download")
                    raise
                time.sleep(PAUSE_S * 2**attempt / 2)


def _append(api: Api, source: LogSource, report: DownloadReport, file: IO[bytes], update: UpdateBar) -> None:
    """Append the logs that follow those in the file.

    Write complete logs only, so that the file can be read at any time.
    """
    file.seek(report.end)
    file.truncate()
    received = bytearray()

    def receive(response: RawIOBase) -> Iterator[bytes]:
        for chunk in read_chunks(response):
            received.extend(chunk)
            yield chunk

    with api.stream(source.url(after=report.last)) as response:
        total = report.logs + int(response.headers.get("Referee-Logs", 0))
        report.read_headers(response.headers)
        for log in _split(receive(response), report):
            before = report.end
            report.add(log)
            file.write(received[: report.end - before])
            file.flush()
            del received[: report.end - before]
            update(report.logs, total, "logs")


def _split(chunks: Iterator[bytes], report: DownloadReport) -> Iterator[StoredLog]:
    """Yield the complete logs of a bundle. Raise ``Unreadable`` if it is none."""
    for log in split_logs(chunks, str(report.path), start=report.end):
        if log.may_lack_end or not (log.lines or log.remark):
            continue
        if log.end is None or not log.match:
            raise Unreadable(f"{report.path} is not a gzip file of logs")
        yield log


# -- the report --


def file_name(title: str) -> str:
    """Return a title in a form that can be part of the name of a file or directory."""
    return re.sub(r"[^\w.-]+", "-", title).strip("-.").lower()


def _choose_path(title: str, out: Path | None) -> Path:
    name = f"{file_name(title)}.ndjson.gz"
    if out is None:
        return Path(name)
    return out / name if out.is_dir() else out


def _show_report(remote: Remote, report: DownloadReport) -> None:
    size = report.path.stat().st_size
    document: Json = {"file": str(report.path), "bytes": size, "logs": report.logs, "left_out": report.left_out}
    document["deleted"] = report.deleted
    lines = [f"{report.path}: {report.logs} logs, {size} bytes"]
    if report.verifies:
        document |= {"verified": report.verified, "broken_off": report.broken_off, "failed": report.failed}
        lines[0] += f", {report.verified} verified"
    if report.broken_off:
        lines.append(f"{report.broken_off} logs of cancelled matches are incomplete")
    if report.left_out:
        lines.append(f"{report.left_out} more are not public yet; the same command downloads them later")
    if report.deleted:
        lines.append(f"{report.deleted} more were deleted after the time for which the service keeps logs")
    for failure in report.failed[:FAILURES_SHOWN]:
        lines.append(f"FAILED  {failure['match']}: row {failure['row']}: {failure['reason']}")
    remote.show(document, "\n".join(lines))
    if report.failed:
        raise RequestRefused(f"{len(report.failed)} of {report.logs} logs failed verification.")
