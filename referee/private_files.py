"""Write files that only their owner can read, and that survive a power cut."""

import os
import secrets
from pathlib import Path
from typing import Final

DRAFT: Final = ".part"  # the suffix of a file that is not complete


def write_private_file(path: Path, content: bytes) -> None:
    """Write or replace a file, which appears once it is complete and on the disk. Leave nothing behind on failure."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}{DRAFT}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def sync_to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, would survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
