"""How code is counted."""

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
