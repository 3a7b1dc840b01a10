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
PRODUCT = ("referee", "api", "workers", "referee_extras")
PACKAGES = (*PRODUCT, "bench", "bots", "deploy", "docs", "examples", "tests", "tools")
NEEDED = (
    *PACKAGES,
    *("CHANGELOG.md", "CONTRIBUTING.md", "Dockerfile", "MANIFEST.in", "Makefile", "README.md", "docker-compose.yml"),
    *("openapi.yaml", "pyproject.toml", "setup.py", "requirements.lock", "requirements-dev.lock"),
)
START_S = 60.0  # limit of CPU time for tests that have not been measured yet


class Copy:
    """Manage a copy of the project, and a process in it that runs tests without importing pytest again."""

    def __init__(
        self, folder: Path, committed: bool, *, fresh: bool = True, compiled: Sequence[str] = PACKAGES
    ) -> None:
        """Copy the project to this folder and compile a part, or use the copy that an earlier process left there."""
        self.folder = folder
        if fresh:
            self._copy_project(committed)
            subprocess.run([sys.executable, "-m", "compileall", "-q", *compiled], cwd=folder, check=True)
        surroundings = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        surroundings["PYTHONPATH"] = str(folder)  # for the processes that tests start
        surroundings.pop("PYTEST_ADDOPTS", None)
        self._warm = subprocess.Popen(
            [sys.executable, "-m", "tools.mutants.warm"],
            cwd=folder,
            env=surroundings,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def _copy_project(self, committed: bool) -> None:
        folder = self.folder
        if committed:
            archive = subprocess.Popen(["git", "archive", "HEAD", *NEEDED], cwd=ROOT, stdout=subprocess.PIPE)
            subprocess.run(["tar", "-x", "-C", folder], stdin=archive.stdout, check=True)
            assert archive.wait() == 0
            # Use the tools of the working tree, which need not be committed.
            shutil.rmtree(folder / "tools", ignore_errors=True)
        for name in ["tools"] if committed else NEEDED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name)  # with dates and compiled modules
            else:
                shutil.copy2(ROOT / name, folder / name)

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
        """Replace the content of this file while the block runs. Afterwards its date fits its compiled module again."""
        file = self.folder / path
        before, was = file.read_text(), file.stat()
        file.write_text(source)
        try:
            yield
        finally:
            file.write_text(before)
            os.utime(file, ns=(was.st_atime_ns, was.st_mtime_ns))

    def run(self, arguments: Sequence[str], cpu_s: float = START_S, *, rules: bool = True) -> dict[str, Any]:
        """Run pytest with these arguments, on the ``rules`` without database fixtures and with little memory.

        Return ``cpu_s`` and, as ``caught``, the first test that failed or "".
        """
        assert self._warm.stdin is not None
        assert self._warm.stdout is not None
        print(json.dumps({"arguments": arguments, "cpu_s": cpu_s, "rules": rules}), file=self._warm.stdin, flush=True)
        answer = self._warm.stdout.readline()
        assert answer, "the process that runs the tests has ended"
        result: dict[str, Any] = json.loads(answer)
        return result
