"""Keep the user's tokens in private files, one for each service. `referee login` writes them; commands read them."""

import os
import stat
from pathlib import Path
from urllib.parse import quote, unquote

from referee.cli.service.api_client import parse_origin
from referee.errors import RefereeError
from referee.private_files import DRAFT, write_private_file
from referee.settings import user_config_dir


class TokenFileExposed(RefereeError):
    """Signal that other users of this machine can read the file of a token."""


class SeveralServices(RefereeError):
    """Signal that tokens of several services are saved, and that none of the services was named."""


def path_of(url: str) -> Path:
    """Return the file of the token for the service at ``url``. Raise ``ApiUnreachable`` if this is not a URL."""
    return _folder() / quote(parse_origin(url).lower(), safe="")


def find_service() -> str | None:
    """Return the service whose token is saved, or None if no token is. Raise ``SeveralServices`` if there are more."""
    folder = _folder()
    files = [path.name for path in folder.iterdir() if path.suffix != DRAFT] if folder.is_dir() else []
    services = sorted(map(unquote, files))
    if len(services) > 1:
        raise SeveralServices(
            f"You are signed in to several services: {', '.join(services)}. Pass one with --url or in $REFEREE_URL, "
            "or sign out of the others with `referee logout --url URL`."
        )
    return services[0] if services else None


def _folder() -> Path:
    return user_config_dir() / "tokens"


def load(url: str) -> str | None:
    """Return the saved token for a service, or None if there is none.

    Raise ``TokenFileExposed`` if the file is not private, and ``OSError`` if it cannot be read.
    """
    path = path_of(url)
    try:
        with path.open(encoding="ascii", errors="replace") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            text = file.readline().strip()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if mode & 0o077:
        raise TokenFileExposed(
            f"Other users of this machine can read your token in {path}. Make the file private (chmod 600 {path}); if "
            "another user may have read it, revoke it on the account page of the service."
        )
    return text or None


def save(url: str, token: str) -> Path:
    """Write the token for a service to its private file, replacing an earlier one, and return the file.

    Raise ``OSError`` if that fails; the earlier file is then unchanged.
    """
    path = path_of(url)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_private_file(path, f"{token}\n".encode())
    return path


def delete(url: str) -> Path | None:
    """Delete the saved token for a service. Return the file, or None if there was none."""
    path = path_of(url)
    try:
        path.unlink()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return path
