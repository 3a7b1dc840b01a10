"""Read and verify files that contain one match log, or all logs of a tournament as exported by a service.

Logs are NDJSON, either plain, gzipped or in a zip archive. A log may be followed by its signature, and by a remark: a
line that has no row number and says why the match does not count. The index of a zip contains the same remarks.
"""

import csv
import gzip
import io
import lzma
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final, cast
from urllib.parse import urlsplit

from referee.cli.api_client import Api, ApiRefusal, ApiUnreachable, BadServiceUrl
from referee.errors import RefereeError
from referee.match.canonical import Json
from referee.match.log import parse_row
from referee.match.signature import SIGNATURE_TYPE, BadSignature, split_signature
from referee.match.signing_keys import KeyRing
from referee.match.verification import VerificationReport, verify
from referee.matches.states import MatchState

LIMIT_BYTES: Final = 256 << 20  # maximum size of an uncompressed log; the longest match of any game needs far less
MIN_BYTES: Final = 100  # counted per line at least; about the size of the shortest row, and of a line in memory
REMARK_TYPES: Final = (MatchState.VOID, MatchState.CANCELLED, "damaged")
INDEX: Final = "index.csv"
DAMAGE_ERRORS: Final = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError)


class Unreadable(RefereeError):
    """Signal that a file is not a file of logs, or ends in the middle of a log."""


@dataclass(slots=True)
class StoredLog:
    """Hold a log of a file: the id of its match, its rows, followed by its signature if it has one, and a ``remark``
    (one of ``REMARK_TYPES``) if the match does not count. A downloaded log also has its ``packed`` bytes and their
    offset ``start`` in the file."""

    match: str
    lines: list[bytes] = field(default_factory=list)
    remark: str = ""
    is_only_log: bool = False
    start: int = 0
    packed: bytes = b""

    @property
    def end(self) -> int:
        return self.start + len(self.packed)


@dataclass(frozen=True, slots=True)
class LogVerdict:
    """Hold the result of verifying a stored log. ``row`` and ``reason`` locate and describe an error;
    ``is_cut_short`` marks a log without errors that ends early because its match was cancelled."""

    report: VerificationReport
    is_valid: bool
    is_cut_short: bool
    row: int | None
    reason: str


def verify_stored_log(log: StoredLog, keys: KeyRing | None = None) -> LogVerdict:
    """Verify a log. One that ends early is valid if its remark says that the match was cancelled.

    With ``keys``, a valid log must be signed with one of them.
    """
    report = verify(log.lines)
    is_cut_short = log.remark == MatchState.CANCELLED and report.cut_short
    if keys is not None and (report.ok or is_cut_short):
        try:
            _check_signature(report, keys)
        except BadSignature as error:
            return LogVerdict(report, False, False, report.rows, str(error))
    reason = f"there is no log ({log.remark})" if log.remark and not log.lines else report.reason
    return LogVerdict(report, report.ok or is_cut_short, is_cut_short, report.row, reason)


def _check_signature(report: VerificationReport, keys: KeyRing) -> None:
    if report.signature is None:
        raise BadSignature("the log has no signature after its last row")
    try:
        keys.check(report.signature)
    except BadSignature as error:
        raise BadSignature(f"the signature after the last row is wrong: {error}") from None


def read_logs(file: str) -> Iterator[StoredLog]:
    """Yield the logs of a file (a path, a URL, or - for standard input), each as soon as it is complete.

    Raise ``Unreadable`` if the file cannot be read any further, after yielding the logs before that point.
    """
    with _open_stream(file) as stream:
        if stream.peek(2).startswith(b"PK"):
            yield from _read_zip(file, stream)
        else:
            yield from _split(file, _lines(file, stream))


def read_single_log(file: str) -> list[bytes]:
    """Return the rows, without signature, of a file with one log; raise ``Unreadable`` for any other file."""
    log, *others = islice(read_logs(file), 2)
    if others:
        raise Unreadable(f"{file} contains several logs, but one is expected. `referee verify` accepts several.")
    return split_signature(log.lines)[0]


@contextmanager
def _open_stream(file: str) -> Iterator[io.BufferedReader]:
    try:
        with _raw(file) as raw:
            stream = io.BufferedReader(cast(Any, raw))
            try:
                yield stream
            finally:
                stream.detach()  # so that standard input stays open
    except OSError as error:
        raise Unreadable(f"{file} cannot be read: {error.strerror or error}") from error
    except (ApiRefusal, ApiUnreachable, BadServiceUrl) as error:
        raise Unreadable(f"{file}: {error}") from error


@contextmanager
def _raw(file: str) -> Iterator[IO[bytes]]:
    if file.startswith(("http://", "https://")):
        with Api(file) as api, api.stream(_path(file)) as response:
            yield cast(IO[bytes], response)
    elif file == "-":
        yield sys.stdin.buffer
    else:
        with Path(file).open("rb") as stream:
            yield stream


def _path(url: str) -> str:
    return urlsplit(url)._replace(scheme="", netloc="", fragment="").geturl()


def _lines(file: str, stream: Any) -> Iterator[bytes]:
    """Yield the lines of a stream without line ends. Raise ``Unreadable`` if a gzipped stream is damaged."""
    text = gzip.GzipFile(fileobj=stream) if stream.peek(2).startswith(b"\x1f\x8b") else stream
    while True:
        try:
            line = text.readline(LIMIT_BYTES + 1)
        except (gzip.BadGzipFile, zlib.error, EOFError) as error:
            raise Unreadable(f"{file} cannot be unpacked completely: {error}") from error
        if not line:
            return
        yield line.removesuffix(b"\n")


def _split(file: str, lines: Iterable[bytes]) -> Iterator[StoredLog]:
    """Split lines into logs. A log begins with its header, or with any line after the end of the previous log.

    Raise ``Unreadable`` for a log that is too long.
    """
    log, size, ended, signed = StoredLog("", is_only_log=True), 0, False, False
    try:
        for line in lines:
            row = _row(line)
            is_remark = "row" not in row and row.get("type") in REMARK_TYPES
            is_signature = "row" not in row and row.get("type") == SIGNATURE_TYPE
            follows = not ended or (is_signature and not signed and not log.remark)
            begins = log.match != row.get("match") if is_remark else not follows or row.get("type") == "header"
            if begins and (log.lines or log.remark):
                log.is_only_log = False
                yield log
                log, size, ended, signed = StoredLog(""), 0, False, False
            log.match = log.match or str(row.get("match", ""))
            if is_remark:
                log.remark, ended = row["type"], True
                continue
            log.lines.append(line)
            signed = is_signature
            size, ended = size + max(len(line), MIN_BYTES), signed or row.get("type") == "reveal"
            if size > LIMIT_BYTES:
                raise Unreadable(f"{file} contains a log of more than {LIMIT_BYTES >> 20} MiB. No match is that long.")
    except ApiUnreachable:  # the download broke off; the last log may have been complete by then
        if ended:
            yield log
        raise
    yield log


def _row(line: bytes) -> Json:
    """Return the row in a line, or an empty object if the line is not valid JSON."""
    try:
        return parse_row(line)
    except (ValueError, RecursionError):
        return {}


def _read_zip(file: str, stream: io.BufferedReader) -> Iterator[StoredLog]:
    """Yield the logs of a zip. A file in it that cannot be read as a log has the remark ``damaged``.

    Raise ``Unreadable`` if the zip itself cannot be read.
    """
    with tempfile.TemporaryFile() as spool:
        if not stream.seekable():
            shutil.copyfileobj(stream, spool)
        try:
            archive = zipfile.ZipFile(stream if stream.seekable() else spool)
        except DAMAGE_ERRORS as error:
            raise Unreadable(f"{file} cannot be unpacked: {error}") from error
        with archive:
            try:
                remarks = dict(_remarks(archive))
            except csv.Error as error:
                raise Unreadable(f"The {INDEX} of {file} cannot be read: {error}") from error
            names = [name for name in archive.namelist() if name != INDEX]
            for name in names:
                yield from _member(archive, name, remarks.pop(name, ""))
        yield from (StoredLog(match, remark=remark) for match, remark in remarks.items())
        if not names and not remarks:
            yield StoredLog("", is_only_log=True)


def _member(archive: zipfile.ZipFile, name: str, remark: str) -> Iterator[StoredLog]:
    try:
        with archive.open(name) as member:
            for log in _split(name, _lines(name, member)):
                log.match, log.remark, log.is_only_log = log.match or name, log.remark or remark, False
                yield log
    except (*DAMAGE_ERRORS, Unreadable):
        yield StoredLog(name, remark="damaged")


def _remarks(archive: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    """Yield each remark in the index of a zip, with the name of its file or, if it has none, the id of its match."""
    try:
        with archive.open(INDEX) as index:
            text = index.read(LIMIT_BYTES).decode()
    except (*DAMAGE_ERRORS, KeyError, ValueError):
        return
    for row in csv.DictReader(io.StringIO(text, newline="")):
        if row.get("status") in REMARK_TYPES:
            yield row.get("file") or str(row.get("match")), row["status"]
