"""How code is counted."""

from pathlib import Path

from tools.size.__main__ import list_commands, measure_rooms
from tools.size.python_code import CodeSize

SOURCE = '''"""A docstring
in two lines."""

import os  # not a comment line


# a comment
class Point:
    """Hold a point."""

    text = """in two
lines"""

    def move(self) -> None:
        """Move."""
        if os:

            return
'''


def test_code_is_what_is_neither_blank_nor_comment_nor_docstring() -> None:
    size = CodeSize.measure(SOURCE)

    assert size.lines == 7  # import, class, text (2), def, if, return
    assert size.statements == 6  # import, class, text, def, if, return
    assert size.functions == (3,)


def test_every_file_of_the_product_is_in_one_room() -> None:
    root = Path(__file__).parent.parent.parent
    counted = CodeSize.total(size for _, size in measure_rooms(root))

    assert counted.files == sum(
        len(list((root / top).rglob("*.py"))) for top in ("referee", "api", "workers", "referee_extras")
    )
    assert len(list(list_commands())) > 50
