"""Limit how long an exchange takes as a whole. The timeouts of sockets begin again with each byte that arrives."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

Result = TypeVar("Result")


def call_within(seconds: float, call: Callable[[], Result]) -> Result:
    """Return what ``call`` returns, or raise what it raises. Raise ``TimeoutError`` after ``seconds``.

    The call runs in a thread, which is then left alone and does not keep the process alive.
    """
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except Exception as error:  # noqa: BLE001  # the caller raises it
            future.set_exception(error)

    thread = threading.Thread(target=run, name="exchange", daemon=True)
    thread.start()
    thread.join(seconds)
    if not future.done():
        raise TimeoutError(f"no complete answer within {seconds:g} s")
    return future.result()
