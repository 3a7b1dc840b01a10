"""Run ``referee`` for the service under test: its host name has no entry in any name server.

``python client.py ARGUMENT…`` resolves the name to this machine and then is the command of the version on the path.
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
