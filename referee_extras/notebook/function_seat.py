"""Let a Python function play a seat of a local match, without HTTP."""

import json
import time
import traceback
from collections.abc import Callable
from typing import Any, Final

from referee.botclient.reply import Reply
from referee.match.canonical import Json
from referee.match.match import Answer, Request
from referee.protocol.messages import Questions

Choose = Callable[[Json], Json]  # takes a question, as bots get it, and returns an action

FRAMES_LEFT_OUT: Final = 1  # of a traceback: the call in this file


class FunctionSeat:
    """Represent the seat of a function, with the interface of ``client.BotSeat``.

    The function has no time limit, and its time is not part of the log, so that a function without randomness gives the
    same log for the same seed. ``error`` is the traceback of its last call, if it raised an exception; the default
    action is then played.
    """

    def __init__(self, choose: Choose, header: Json, seat: int) -> None:
        self.last: tuple[bytes, Reply] | None = None
        self.error = ""
        self._choose = choose
        self._questions = Questions(header, seat)

    async def ask(self, request: Request) -> Answer:
        _, body = self._questions.encode(request)
        action, detail, self.error = request.default_action, "", ""
        started_at_s = time.perf_counter()
        try:
            action, detail = _read_action(self._choose(json.loads(body)))
        except Exception as error:  # noqa: BLE001  # the function of the author may raise anything
            self.error = _format_traceback(error)
        ms = round(1000 * (time.perf_counter() - started_at_s))
        fault = "bad_schema" if detail else ""
        self.last = body, Reply(fault=fault, detail=detail, ms=ms, sent=True)
        return Answer(request.seat, None if detail else action, trouble=fault)

    def close(self) -> None:
        """Do nothing, because there are no connections."""


def _read_action(returned: Any) -> tuple[Json, str]:
    """Return the action, and what is wrong with it if it is not a JSON object."""
    if not isinstance(returned, dict):
        return {}, f"the function returned {returned!r:.200}, which is not an action; return one of legal_actions"
    try:
        action: Json = json.loads(json.dumps(returned, allow_nan=False))
    except (TypeError, ValueError) as error:
        return {}, f"the function returned an action that is not JSON: {error}"
    return action, ""


def _format_traceback(error: Exception) -> str:
    frames = error.__traceback__
    for _ in range(FRAMES_LEFT_OUT):
        frames = frames.tb_next if frames is not None else None
    return "".join(traceback.format_exception(type(error), error, frames)).rstrip()
