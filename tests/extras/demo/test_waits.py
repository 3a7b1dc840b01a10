"""The demo on a slow machine: it waits, and says what for."""

import io
from pathlib import Path

from rich.console import Console

from referee.runtime import waiting
from referee.runtime.processes import Signals
from referee_extras.demo.commands import Demonstration


def test_the_demo_waits_for_a_slow_service_and_says_so_every_30_s(tmp_path: Path) -> None:
    now, shown = [0.0], io.StringIO()

    def seconds() -> float:
        now[0] += waiting.SAY_EVERY_S / 2
        return now[0]

    with Signals() as signals:
        demonstration = Demonstration(Console(file=shown), tmp_path, None, signals, seconds=seconds)
        looks = iter([None] * 5 + ["http://127.0.0.1:8000"])
        found = demonstration._poll_until(lambda: next(looks), lambda: "the start of the service", every_s=0.0)

    assert found == "http://127.0.0.1:8000"
    assert shown.getvalue().splitlines() == [
        "still waiting after 30 s: the start of the service",
        "still waiting after 60 s: the start of the service",
    ]
