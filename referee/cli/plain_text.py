"""Make text from outside safe to print on a terminal."""


def replace_control_characters(text: str) -> str:
    """Return ``text`` with control characters replaced, except line ends: they could move the cursor."""
    return "".join(
        character if character.isprintable() or character == "\n" else "\N{REPLACEMENT CHARACTER}" for character in text
    )


def one_line(text: str) -> str:
    """Return ``text`` on a single line, so that no part of it looks like a line of our own."""
    return replace_control_characters(text).replace("\n", " ")


def indent_lines(text: str) -> str:
    """Return ``text`` with all lines but the first indented, so that none of them looks like a line of our own."""
    return text.replace("\n", "\n    ")
