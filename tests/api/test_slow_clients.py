"""Which slow clients are disconnected, by a clock of the test. `test_many_clients.py` has real ones."""

import socket
import threading
from contextlib import ExitStack
from select import select

import pytest

from api.slow_clients import SlowClients


def test_those_that_were_waited_for_longest_are_disconnected_first(monkeypatch: pytest.MonkeyPatch) -> None:
    moment = 0.0
    clients = SlowClients(threads=4, request_timeout_s=60, seconds=lambda: moment)  # two may be slow
    pairs = [socket.socketpair() for _ in range(4)]

    with ExitStack() as served:
        for number, (ours, theirs) in enumerate(pairs):
            served.enter_context(theirs)
            served.enter_context(ours)
            monkeypatch.setattr(threading, "get_ident", lambda number=number: number)
            served.enter_context(clients.serve(ours))
            if number == 0:  # sends its request immediately, but reads slowly
                parts = clients.watch(lambda *_: [b"answer"])({"wsgi.input": None}, None)
            moment += 1
        next(iter(parts))
        moment = 6.5
        closed = clients.close_slow()
        readable = select([theirs for _, theirs in pairs], [], [], 0)[0]

        # They have been waited for during 2.5, 5.5, 4.5 and 3.5 s.
        assert (closed, readable) == (2, [theirs for _, theirs in pairs[1:3]])
