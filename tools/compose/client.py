"""Run ``referee`` for the service under test: its host name has no entry in any name server.

``python -m tools.compose.client ARGUMENT…`` resolves the name to this machine and is otherwise the command.
"""

import socket
from typing import Any

from referee.cli import main

HOST = "referee.test"
_resolve = socket.getaddrinfo


def resolve(host: Any, *arguments: Any, **options: Any) -> Any:
    return _resolve("127.0.0.1" if host in (HOST, HOST.encode()) else host, *arguments, **options)


if __name__ == "__main__":
    socket.getaddrinfo = resolve
    main()
