"""Record the claims of a work-horse in a file of its worker, so that its death ends them and nobody waits for leases.

The work-horse appends each claim; the kernel keeps what was written, whatever ends the process. A lock on the file
lasts as long as the worker or its work-horse lives. If both die, the next worker on this host finds the file unlocked.
"""

import fcntl
import logging
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

from sqlalchemy.orm import Session

from referee.db.engine import Database
from referee.db.leases import Fence
from referee.errors import Unavailable
from referee.matches.deals import deal_groups
from referee.matches.queue import claims
from referee.settings import Settings

log = logging.getLogger(__name__)

RecordClaims = Callable[[str, Sequence[Fence]], None]  # see ``ClaimFile.add``

BATCH_SIZE: Final = 500  # claims per statement, because databases limit the number of parameters
_EXPIRE: Final = {"match": claims.expire_claims, "deal_group": deal_groups.LEASES.expire}


class ClaimFile:
    """Hold the open and locked file of one worker. A forked work-horse shares it."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    @classmethod
    def create(cls, folder: Path) -> Self:
        """Create a file in ``folder``. Raise ``OSError`` if that is not possible."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / f"{secrets.token_hex(8)}.claims"
        draft = path.with_suffix(".new")  # renamed once it is locked: nobody may find it unlocked before
        descriptor = os.open(draft, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        draft.rename(path)
        return cls(path, descriptor)

    @classmethod
    def open_abandoned(cls, folder: Path) -> Iterator[Self]:
        """Open, one after the other, the files in ``folder`` whose processes have all died."""
        for path in sorted(folder.glob("*.claims")):
            with suppress(FileNotFoundError):  # another worker was faster
                descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    os.close(descriptor)
                else:
                    yield cls(path, descriptor)

    def add(self, kind: str, fences: Sequence[Fence]) -> None:
        """Append claims on matches or deal groups. Log an error: without the file, claims end with their leases."""
        try:
            os.write(self._descriptor, "".join(f"{kind} {key} {epoch}\n" for key, epoch in fences).encode())
        except OSError as error:
            log.warning("claims_not_recorded", extra={"reason": str(error)})

    def expire(self, database: Database) -> None:
        """Let the leases of all recorded claims that are still valid expire now, and clear the file."""
        found = self._read()
        try:
            if any(found.values()):
                with database.write() as session:
                    expired = sum(_expire(session, kind, fences) for kind, fences in found.items())
                log.info("lost_claims_expired", extra={"claims": expired})
        except Unavailable as error:
            log.warning("lost_claims_not_expired", extra={"reason": str(error)})
        except Exception:  # the worker must go on: the leases expire by themselves
            log.exception("lost_claims_not_expired")
        finally:
            database.dispose()  # the next work-horse cannot use its connections
        self.clear()

    def clear(self) -> None:
        """Forget all claims: they have ended or been released."""
        os.ftruncate(self._descriptor, 0)

    def delete(self) -> None:
        """Delete the file, and with it the lock."""
        self._path.unlink(missing_ok=True)
        os.close(self._descriptor)

    def _read(self) -> dict[str, list[Fence]]:
        text = os.pread(self._descriptor, os.fstat(self._descriptor).st_size, 0).decode()
        found: dict[str, list[Fence]] = {kind: [] for kind in _EXPIRE}
        for line in text.splitlines(keepends=True):
            match line.split(" "):
                case [kind, key, epoch] if line.endswith("\n") and kind in found:  # the last line may be incomplete
                    found[kind].append((key, int(epoch)))
        return found


def _expire(session: Session, kind: str, fences: Sequence[Fence]) -> int:
    batches = (fences[start : start + BATCH_SIZE] for start in range(0, len(fences), BATCH_SIZE))
    return sum(_EXPIRE[kind](session, batch) for batch in batches)


_current: ClaimFile | None = None


def open_for_worker(settings: Settings, database: Database) -> ClaimFile | None:
    """End the claims of dead workers of this host, then open the file of this worker, which its work-horses share.

    Return None if no file can be created: claims of a work-horse that dies then end with their leases.
    """
    global _current
    folder = settings.data_dir / "claims"
    try:
        expire_abandoned(folder, database)
        _current = ClaimFile.create(folder)
    except OSError as error:
        log.warning("claim_file_unavailable", extra={"reason": str(error)})
    return _current


def record_claims(kind: str, fences: Sequence[Fence]) -> None:
    """Append claims to the file of this worker, if there is one."""
    if _current is not None:
        _current.add(kind, fences)


def expire_abandoned(folder: Path, database: Database) -> None:
    """End the claims of workers of this host that died together with their work-horses."""
    for abandoned in ClaimFile.open_abandoned(folder):
        abandoned.expire(database)
        abandoned.delete()
