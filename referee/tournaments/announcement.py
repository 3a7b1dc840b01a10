"""Validate what organisers say about a tournament in public: a text in Markdown, a link, a contact, the prizes."""

import unicodedata
from collections.abc import Callable, Mapping
from typing import Final

from referee.db.texts import validate_line, validate_link, validate_texts
from referee.errors import BadOption

MAX_DESCRIPTION_LENGTH: Final = 4000
MAX_CONTACT_LENGTH: Final = 160
MAX_PRIZES_LENGTH: Final = 160


def validate_announcement(texts: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return the texts in canonical form; None stays None. Raise ``BadOption`` for a text that is not allowed.

    The keys are ``description``, ``link``, ``contact`` and ``prizes``; others are left out.
    """
    return validate_texts(texts, ANNOUNCEMENT)


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


def _validate_contact(text: str) -> str:
    return validate_line("contact", text, MAX_CONTACT_LENGTH)


def _validate_prizes(text: str) -> str:
    return validate_line("prizes", text, MAX_PRIZES_LENGTH)


ANNOUNCEMENT: Final[Mapping[str, Callable[[str], str]]] = {
    "description": validate_description,
    "link": validate_link,
    "contact": _validate_contact,
    "prizes": _validate_prizes,
}
