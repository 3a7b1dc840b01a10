"""Copy the project, plant faults in the copy and run tests there. The project itself is never changed."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).parent.parent.parent
NEEDED = ("referee", "tests", "tools", "docs", "pyproject.toml", "CONTRIBUTING.md")
START_S = 60.0  # limit of CPU time for tests that have not been measured yet


class Copy:
    """Manage a copy of the project, and a process in it that runs tests without importing pytest again."""

    def __init__(self, folder: Path, committed: bool) -> None:
        self.folder = folder
        if committed:
            archive = subprocess.Popen(["git", "archive", "HEAD", *NEEDED], cwd=ROOT, stdout=subprocess.PIPE)
            subprocess.run(["tar", "-x", "-C", folder], stdin=archive.stdout, check=True)
            assert archive.wait() == 0
            # Use the tools of the working tree, which need not be committed.
            shutil.rmtree(folder / "tools", ignore_errors=True)
        for name in ["tools"] if committed else NEEDED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / name, folder / name)
        # Compare compiled modules by hash, not by date, because a fault is planted and removed within a second.
        by_hash = ["-q", "--invalidation-mode", "checked-hash"]
        subprocess.run(
            [sys.executable, "-m", "compileall", *by_hash, "referee", "tests", "tools"], cwd=folder, check=True
        )
        surroundings = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        surroundings.pop("PYTEST_ADDOPTS", None)
        self._warm = subprocess.Popen(
            [sys.executable, "-m", "tools.mutants.warm"],
            cwd=folder,
            env=surroundings,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._warm.stdin is not None
        assert self._warm.stdout is not None
        self._warm.stdin.close()
        self._warm.terminate()
        self._warm.wait()
        self._warm.stdout.close()

    def source(self, path: str) -> str:
        return (self.folder / path).read_text()

    @contextmanager
    def with_source(self, path: str, source: str) -> Iterator[None]:
        """Replace the content of this file while the block runs."""
        before = self.source(path)
        (self.folder / path).write_text(source)
        try:
            yield
        finally:
            (self.folder / path).write_text(before)

    def run(self, arguments: Sequence[str], cpu_s: float = START_S) -> dict[str, Any]:
        """Run pytest with these arguments. Return ``cpu_s`` and, as ``caught``, the first test that failed or ""."""
        assert self._warm.stdin is not None
        assert self._warm.stdout is not None
        print(json.dumps({"arguments": arguments, "cpu_s": cpu_s}), file=self._warm.stdin, flush=True)
        answer = self._warm.stdout.readline()
        assert answer, "the process that runs the tests has ended"
        result: dict[str, Any] = json.loads(answer)
        return result
