"""Open files of logs, and verify the logs in them. ``referee.match.log_bundle`` reads them."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import RawIOBase
from itertools import islice
from pathlib import Path
from typing import IO, Final
from urllib.parse import urlsplit

from referee.cli.api_client import Api, ApiRefusal, ApiUnreachable, BadServiceUrl
from referee.match.kinds import LogRemark
from referee.match.log_bundle import StoredLog, Unreadable, split_logs
from referee.match.signature import BadSignature, split_signature
from referee.match.signing_keys import KeyRing
from referee.match.verification import VerificationReport, verify

CHUNK_BYTES: Final = 64 << 10


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
    is_cut_short = log.remark == LogRemark.CANCELLED and report.cut_short
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
    try:
        with _open_stream(file) as stream:
            yield from split_logs(read_chunks(stream), file)
    except OSError as error:
        raise Unreadable(f"{file} cannot be read: {error.strerror or error}") from error
    except (ApiRefusal, ApiUnreachable, BadServiceUrl) as error:
        raise Unreadable(f"{file}: {error}") from error


def read_single_log(file: str) -> list[bytes]:
    """Return the rows, without signature, of a file with one log; raise ``Unreadable`` for any other file."""
    log, *others = islice(read_logs(file), 2)
    if others:
        raise Unreadable(f"{file} contains several logs, but one is expected. `referee verify` accepts several.")
    return split_signature(log.lines)[0]


def read_chunks(stream: IO[bytes] | RawIOBase) -> Iterator[bytes]:
    """Yield the content of a stream in pieces."""
    return iter(lambda: stream.read(CHUNK_BYTES) or b"", b"")


@contextmanager
def _open_stream(file: str) -> Iterator[IO[bytes] | RawIOBase]:
    if file.startswith(("http://", "https://")):
        with Api(file) as api, api.stream(_path(file)) as response:
            yield response
    elif file == "-":
        yield sys.stdin.buffer
    else:
        with Path(file).open("rb") as stream:
            yield stream


def _path(url: str) -> str:
    return urlsplit(url)._replace(scheme="", netloc="", fragment="").geturl()
