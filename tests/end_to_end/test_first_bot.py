"""The first ten minutes as the page tells them: every command is run, in order, from an empty directory."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from referee.conformance.positions import collect_questions, extreme_values, scenarios
from referee.games import game
from referee.match.time_limits import Limits
from tests.cli.running import PATIENCE_S, surroundings
from tests.deploy.processes import free_ports
from tests.machine import require

PAGE = Path(__file__).parents[2] / "docs" / "first-bot.md"
MARKED = re.compile(
    r"<!-- (run|start until \"(?P<until>[^\"]+)\"|put into (?P<file>\S+)) -->\n```\w+\n(?P<text>.*?)```", re.S
)
LONGEST_S = PATIENCE_S * 3
RAISED = re.compile(r"^Traceback \(most recent call last\):\n(?: .*\n)*([A-Za-z_][\w.]*(?::.*|$))", re.M)
SCENARIOS = 60  # of the bot's game; enough for the extremes of every option, in most combinations


def crashes(output: str) -> list[str]:
    """Return the exceptions raised, except those of a server when a connection is closed on purpose."""
    return [one for one in RAISED.findall(output) if not one.startswith(("BrokenPipe", "ConnectionReset"))]


@dataclass
class Walk:
    """A reader at work: a folder, what is exported, what runs in other terminals."""

    folder: Path
    ports: dict[str, str]
    environment: dict[str, str]
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)
    said: dict[str, str] = field(default_factory=dict)

    def run(self, text: str) -> None:
        """The commands of a block; what they export holds for the next."""
        text = self._here(text)
        done = subprocess.run(
            ["bash", "-ec", f"{text}\nenv -0 > .exported"],
            cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=LONGEST_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
        assert crashes(done.stderr) == [], f"{text}\n{done.stderr}"
        exported = (self.folder / ".exported").read_text().split("\0")
        self.environment |= dict(one.split("=", 1) for one in exported if one.startswith("REFEREE_"))
        self.said[text.strip().splitlines()[-1]] = done.stdout

    def start(self, text: str, until: str) -> None:
        """What the reader leaves running in a terminal, as soon as it has said this."""
        log = self.folder / f"terminal-{len(self.running)}.txt"
        with log.open("wb") as out:
            self.running.append(
                subprocess.Popen(
                    ["bash", "-c", f"exec {self._here(text)}" if "=" not in text else f"exec env {self._here(text)}"],
                    cwd=self.folder,
                    env=self.environment,
                    stdout=out,
                    stderr=out,
                    start_new_session=True,
                )
            )
        deadline = time.monotonic() + LONGEST_S
        while until not in log.read_text():
            assert self.running[-1].poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)

    def put(self, text: str, file: str) -> None:
        """Replaces the function of the same name in a file."""
        name = re.match(r"def (\w+)", text)
        assert name
        path = self.folder / self._here(file)
        changed, times = re.subn(
            rf"^def {name[1]}\(.*?\n\n", lambda _: f"{text}\n", path.read_text(), flags=re.S | re.M
        )
        assert times == 1
        path.write_text(changed)

    def terminals(self) -> list[str]:
        """Return what the commands in the other terminals have said."""
        return [log.read_text() for log in sorted(self.folder.glob("terminal-*.txt"))]

    def stop(self) -> None:
        for process in reversed(self.running):
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE_S)

    def _here(self, text: str) -> str:
        """The page's ports are others' here, so that nothing else on this machine is in the way."""
        for shown, ours in self.ports.items():
            text = text.replace(shown, ours)
        return text


@contextmanager
def reading(folder: Path) -> Iterator[Walk]:
    """Seat a reader in a new folder, with ports of their own. Stop what they started at the end."""
    for tool in ("bash", "curl"):
        require(tool, "the pages for newcomers")
    folder.mkdir()
    service, bot = free_ports(2)
    bin = Path(sys.executable).parent
    environment = surroundings(
        PATH=f"{bin}{os.pathsep}{os.environ['PATH']}",
        REFEREE_URL=f"http://127.0.0.1:{service}",
        XDG_CONFIG_HOME=str(folder / "config"),
    )
    ports = {
        "127.0.0.1:8000": f"127.0.0.1:{service}",
        "--start mybot": f"--start mybot --port {bot}",
        "--data data": f"--data data --port {service}",
    }
    reader = Walk(folder, ports, environment)
    try:
        yield reader
    finally:
        reader.stop()


def test_whoever_follows_the_page_has_a_certified_bot_with_a_rated_match(tmp_path: Path) -> None:
    with reading(tmp_path / "reader") as walk:
        follow_page(walk)


def follow_page(walk: Walk) -> None:
    """Run all blocks of the page, and check what the commands have said."""
    for block in MARKED.finditer(PAGE.read_text()):
        if block["until"]:
            walk.start(block["text"].strip(), block["until"])
        elif block["file"]:
            walk.put(block["text"], block["file"])
        else:
            walk.run(block["text"])

    said = "\n".join([*walk.said.values(), *walk.terminals()])
    assert re.search(r"mybot +[0-9-]+ +0$", said, re.M), "the bot had faults in its first match"
    assert "settled: mybot is better than house:1" in said
    assert re.search(r"^pass: 0 failures, \d+ warnings", said, re.M)
    assert re.search(r"certificate of \d{4}-\d\d-\d\d for version 1: .*saint-poker", said)
    assert "<!doctype html>" in (walk.folder / "replay.html").read_text()[:100].lower()
    assert (walk.folder / "other.ndjson").exists()
    ranked = said
    assert re.search(r"^ +\d+  My bot +\d+\.\d +(?:-|\d+ ± \d+) +[1-9]\d*$", ranked, re.M), ranked
    assert re.search(r"^My bot \(bot_\w+\): verified, version 1$", said, re.M)
    assert [crashes(text) for text in walk.terminals()] == [[], []]


def test_the_bot_of_the_page_decides_under_all_options_of_its_game() -> None:
    (block,) = (one for one in MARKED.finditer(PAGE.read_text()) if one["file"])
    page: dict[str, Any] = {"random": random}
    exec(block["text"], page)  # the code is ours
    rules, dice = game("pool-nap"), Random("first bot")
    drawn = list(islice(scenarios(rules, dice), SCENARIOS))

    asked = [json.loads(one.body) for scenario in drawn for one in collect_questions(scenario, Limits(), dice)]

    for spec in rules.option_specs:
        met = [scenario.options[spec.name] for scenario in drawn]
        assert all(value in met for value in extreme_values(spec)), spec.name
    bids = [one for one in asked if one["observation"]["phase"] == "bid"]
    assert any(one["legal_actions"][0].get("tricks", 0) > 0 for one in bids), "some dealer has to bid"
    assert [one for one in asked if page["choose"](one) not in one["legal_actions"]] == []


def test_every_command_of_the_page_is_run() -> None:
    text = PAGE.read_text()

    assert len(re.findall(r"^```(?:sh|python)$", text, re.M)) == len(MARKED.findall(text))
