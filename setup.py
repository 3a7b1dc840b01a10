"""Add the documents and the starter bots to the wheel; pyproject.toml contains everything else.

``referee/project_files.py`` finds them, in a wheel as in a checkout.
"""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

COPIED = ("docs/*.md", "docs/games/*.md", "bots/*/bot.*")


class BuildWithFiles(build_py):
    """Copy the files into ``referee/files`` of what is built. An editable installation uses those of the checkout."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            for source, target in self._copies().items():
                self.mkpath(str(target.parent))
                self.copy_file(str(source), str(target))

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        copies = [] if self.editable_mode else map(str, self._copies().values())
        return [*super().get_outputs(include_bytecode), *copies]

    def _copies(self) -> dict[Path, Path]:
        files = Path(self.build_lib, "referee", "files")
        return {source: files / source for pattern in COPIED for source in sorted(Path().glob(pattern))}


setup(cmdclass={"build_py": BuildWithFiles})
