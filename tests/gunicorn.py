"""Start the API under gunicorn as it is shipped, for tests that need real sockets."""

import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.surroundings import MASTER_KEY


def started(
    folder: Path,
    listener: socket.socket,
    options: Sequence[str],
    settings: Mapping[str, str],
    **process: Any,
) -> subprocess.Popen[bytes]:
    """Start gunicorn on ``listener`` over the database in ``folder``.

    Only the ``REFEREE_`` variables in ``settings`` differ from the defaults; ``process`` goes to ``Popen``.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("REFEREE_", "REDIS_"))}
    inherited.pop("DATABASE_URL", None)
    command = [sys.executable, "-P", "-m", "gunicorn", "api.wsgi:app", "--bind", f"fd://{listener.fileno()}"]
    command += ["--worker-class", "api.gunicorn_worker.TimeoutWorker", "--no-control-socket", *options]
    return subprocess.Popen(
        command,
        cwd=folder,
        env=inherited | {"REFEREE_DATA": str(folder), "REFEREE_MASTER_KEY": MASTER_KEY.hex(), **settings},
        pass_fds=[listener.fileno()],
        **process,
    )
