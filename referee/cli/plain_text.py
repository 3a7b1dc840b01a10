"""Text that others wrote, as a terminal may show it."""


def plain(text: str) -> str:
    """Without signs that would move about in a terminal: people elsewhere wrote some of it."""
    return "".join(sign if sign.isprintable() or sign == "\n" else "\N{REPLACEMENT CHARACTER}" for sign in text)
