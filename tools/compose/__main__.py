"""Run the stack of docker-compose.yml: ``python -m tools.compose [--cache DIR] [--skip STEP]``.

It prints what each step saw and how long it took. The exit status is 1 if a step failed, and 3 if no container engine
is available.
"""

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

from tools.compose.engine import CommandFailed, Engine, NoEngine
from tools.compose.images import Distribution
from tools.compose.stack import ROOT, Stack
from tools.compose.steps import STEPS, StepNotTested, take_down

NO_ENGINE = 3


def parse_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.compose", description=__doc__)
    parser.add_argument(
        "--cache", type=Path, default=ROOT / ".compose", help="Folder that keeps the base file system and the wheels."
    )
    parser.add_argument(
        "--skip",
        action="append",
        default=[],
        choices=[*STEPS],
        metavar="STEP",
        help=f"Skip this step, one of: {', '.join(STEPS)}. Repeatable.",
    )
    return parser.parse_args(arguments)


def main() -> int:
    options = parse_options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that containers and engine are removed
    try:
        with ExitStack() as stack:
            return _run(stack, options)
    except NoEngine as error:
        print(f"*** NOT TESTED: no container was started, because no engine is available: {error} ***")
        return NO_ENGINE
    except KeyboardInterrupt:
        print("interrupted; containers and engine were removed")
        return 130


def _run(stack: ExitStack, options: argparse.Namespace) -> int:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="compose")))
    folder.chmod(0o755)  # containers of other users read files in it
    engine = stack.enter_context(Engine(folder / "engine"))
    print("started a container engine", flush=True)
    services = Stack(engine, folder)
    stack.callback(_clean_up, services)
    workspace = folder / "images"
    workspace.mkdir()
    distribution = Distribution(options.cache, services.docker)
    if not report_step("prepare packages", distribution.prepare):
        return 1
    if not report_step("make base images", lambda: "".join(f"\n    {line}" for line in distribution.build(workspace))):
        return 1
    for name, step in STEPS.items():
        if name not in options.skip and not report_step(name, partial(step, services)):
            return 1
    return 0


def report_step(name: str, step: Callable[[], str]) -> bool:
    """Do a step and print what it saw. Return whether it succeeded or could not be tested."""
    began = time.monotonic()
    print(f"{time.strftime('%H:%M:%S')} {name} …", flush=True)
    try:
        saw = step()
    except StepNotTested as error:
        print(f"*** NOT TESTED: {name}: {error} ***", flush=True)
        return True
    except (AssertionError, CommandFailed, subprocess.TimeoutExpired) as error:
        print(f"FAILED after {time.monotonic() - began:.1f} s: {name}: {error}", flush=True)
        return False
    print(f"  {time.monotonic() - began:6.1f} s  {name}: {saw}", flush=True)
    return True


def _clean_up(services: Stack) -> None:
    with suppress(AssertionError, CommandFailed, subprocess.TimeoutExpired):
        take_down(services)


if __name__ == "__main__":
    sys.exit(main())
