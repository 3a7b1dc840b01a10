"""Readers of a page of the documentation: they run its commands, on their own machine and in several terminals."""

import re
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tests.cli.running import PATIENCE_S

DOCS = Path(__file__).parents[2] / "docs"
MARKED = re.compile(
    r'<!-- (?P<who>\w+)(?:: start)?(?: until "(?P<until>[^"]+)"| into (?P<file>\S+))? -->\n```\w+\n(?P<text>.*?)```',
    re.S,
)
LONGEST_S = PATIENCE_S * 4
RAISED = re.compile(r"^Traceback \(most recent call last\):\n(?: .*\n)*([A-Za-z_][\w.]*(?::.*|$))", re.M)


class Block(NamedTuple):
    """Text of a page that is marked as run by somebody, as left running once it says something, or put into a file."""

    who: str
    until: str
    file: str
    text: str


def blocks(page: str) -> list[Block]:
    return [Block(*(part or "" for part in found.groups())) for found in MARKED.finditer((DOCS / page).read_text())]


def crashes(output: str) -> list[str]:
    """Return the exceptions raised, except those of a server when a connection is closed on purpose."""
    return [one for one in RAISED.findall(output) if not one.startswith(("BrokenPipe", "ConnectionReset"))]


@dataclass
class Reader:
    """A reader with a folder, with what was exported, and with other terminals.

    What ``changes`` has is another on this machine, and commands are run by ``within``.
    """

    folder: Path
    environment: dict[str, str]
    changes: Mapping[str, str] = field(default_factory=dict)
    within: tuple[str, ...] = ()
    running: list[tuple["subprocess.Popen[bytes]", Path]] = field(default_factory=list)

    def follow(self, block: Block) -> str:
        """Do what the block says, and return what it wrote."""
        text = self._here(block.text)
        if block.until:
            self.start(text.strip(), block.until)
        elif block.file:
            self._put(block.text, self.folder / self._here(block.file))
        else:
            return self.run(text)
        return ""

    def run(self, text: str, status: int = 0) -> str:
        """Run the lines, keep what they export for the next, and return what they wrote."""
        done = subprocess.run(
            [*self.within, "bash", "-ec", f"{text}\nenv -0 > .exported"],
            cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=LONGEST_S, check=False,
        )  # fmt: skip
        said = f"{done.stdout}\n{done.stderr}"
        assert (done.returncode, crashes(said)) == (status, []), f"{text}\n{said}"
        if not status:
            exported = (self.folder / ".exported").read_text().split("\0")
            self.environment |= dict(one.split("=", 1) for one in exported if one.startswith("REFEREE_"))
        return said

    def start(self, text: str, until: str) -> None:
        """Leave the command running, as soon as it has written this."""
        log = self.folder / f"terminal-{len(self.running)}.txt"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [*self.within, "bash", "-c", f"exec env {text}"],
                cwd=self.folder, env=self.environment, stdout=out, stderr=out, start_new_session=True,
            )  # fmt: skip
        self.running.append((process, log))
        end = time.monotonic() + LONGEST_S
        while until not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.05)

    def said(self) -> str:
        """Return what the commands in the other terminals have written."""
        return "\n".join(log.read_text() for _, log in self.running)

    def stop(self) -> None:
        for process, _ in reversed(self.running):
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE_S)

    def _put(self, text: str, path: Path) -> None:
        """Replace the function of the same name in a file."""
        name = re.match(r"def (\w+)", text)
        assert name
        function = re.compile(rf"^def {name[1]}\(.*?\n\n", re.S | re.M)
        changed, times = function.subn(lambda _: f"{text}\n", path.read_text())
        assert times == 1
        path.write_text(changed)

    def _here(self, text: str) -> str:
        for shown, ours in self.changes.items():
            text = text.replace(shown, ours)
        return text
