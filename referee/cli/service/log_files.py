"""Open files of logs, and verify the logs in them. ``referee.match.log_bundle`` reads them."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import RawIOBase
from itertools import islice
from pathlib import Path
from typing import IO, Final
from urllib.parse import urlsplit

from referee.cli.service.api_client import Api, ApiRefusal, ApiUnreachable, BadServiceUrl
from referee.match.kinds import LogRemark
from referee.match.log_bundle import StoredLog, Unreadable, split_logs
from referee.match.signature import BadSignature, split_signature
from referee.match.signing_keys import KeyRing
from referee.match.verification import VerificationReport, verify

CHUNK_BYTES: Final = 64 << 10


def verify_stored_log(log: StoredLog, keys: KeyRing | None = None) -> VerificationReport:
    """Verify a log. One that is cut short is valid if its remark says that the match was cancelled.

    With ``keys``, a valid log must be signed with one of them.
    """
    report = verify(log.lines)
    if log.remark == LogRemark.CANCELLED and report.cut_short:
        report = replace(report, ok=True)
    if log.remark and not log.lines:
        report = replace(report, reason=f"there is no log ({log.remark})")
    if keys is not None and report.ok:
        try:
            _check_signature(report, keys)
        except BadSignature as error:
            return replace(report, ok=False, row=report.rows, reason=str(error))
    return report


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
