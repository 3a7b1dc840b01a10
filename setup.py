"""Add the documents, the starter bots and the version to what is built; pyproject.toml contains everything else.

``referee/project_files.py`` finds the files, in a wheel as in a checkout, and ``referee/version.py`` the version.
"""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

COPIED = ("docs/*.md", "docs/games/*.md", "bots/*/bot.*", "bots/*/go.mod")
VERSION_FILE = "referee/version.txt"


class BuildWithFiles(build_py):
    """Copy the files into ``referee/files`` of what is built. An editable installation uses those of the checkout."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            for source, target in self._copies().items():
                self.mkpath(str(target.parent))
                self.copy_file(str(source), str(target))
            self._version_file().write_text(self.distribution.get_version() + "\n")

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        added = [] if self.editable_mode else map(str, [*self._copies().values(), self._version_file()])
        return [*super().get_outputs(include_bytecode), *added]

    def _copies(self) -> dict[Path, Path]:
        files = Path(self.build_lib, "referee", "files")
        return {source: files / source for pattern in COPIED for source in sorted(Path().glob(pattern))}

    def _version_file(self) -> Path:
        return Path(self.build_lib, VERSION_FILE)


class SdistWithVersion(sdist):
    """Write the version into the archive of the sources, which has no commits."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        Path(base_dir, VERSION_FILE).write_text(self.distribution.get_version() + "\n")


setup(cmdclass={"build_py": BuildWithFiles, "sdist": SdistWithVersion})
