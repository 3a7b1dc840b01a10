"""Validate what organisers say about a tournament or a series in Markdown."""

import unicodedata
from typing import Final

from referee.errors import BadOption

MAX_DESCRIPTION_LENGTH: Final = 4000


def validate_description(text: str) -> str:
    """Return the text in NFC with Unix line ends. Raise ``BadOption`` if it is too long, blank or not printable."""
    lines = unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\t", "    ").strip("\n").split("\n")
    cleaned = "\n".join(lines)
    if not cleaned.strip() or len(cleaned) > MAX_DESCRIPTION_LENGTH:
        raise BadOption("description", f"must have 1 to {MAX_DESCRIPTION_LENGTH} characters")
    for number, line in enumerate(lines, 1):
        if not line.isprintable():
            raise BadOption(
                "description", f"line {number} has a control character or one that changes direction; remove it"
            )
    return cleaned
