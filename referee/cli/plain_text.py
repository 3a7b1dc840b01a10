"""Text that others wrote, as a terminal may show it."""


def plain(text: str) -> str:
    """Without signs that would move about in a terminal: people elsewhere wrote some of it."""
    return "".join(sign if sign.isprintable() or sign == "\n" else "\N{REPLACEMENT CHARACTER}" for sign in text)


def one_line(text: str) -> str:
    """Return ``text`` on a single line, so that no part of it passes for another line of ours."""
    return plain(text).replace("\n", " ")


def indent_lines(text: str) -> str:
    """Return ``text`` with all lines but the first moved in, so that none of them passes for a line of ours."""
    return text.replace("\n", "\n    ")
