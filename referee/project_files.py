"""Find the files that the project keeps outside its packages: the documents in ``docs``, the starter bots in ``bots``.

A checkout has them beside the packages. ``setup.py`` copies them into the wheel, to ``referee/files``.
"""

from pathlib import Path
from typing import Final

_PACKAGE = Path(__file__).parent
_INSTALLED = _PACKAGE / "files"
_ROOT = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent

DOCS: Final = _ROOT / "docs"
BOTS: Final = _ROOT / "bots"
