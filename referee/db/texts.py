"""Validate links and lines of text that people publish about their bots and tournaments."""

import unicodedata
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlsplit

from referee.errors import BadOption

MAX_LINK_LENGTH: Final = 300


def validate_texts(
    texts: Mapping[str, str | None], validators: Mapping[str, Callable[[str], str]]
) -> dict[str, str | None]:
    """Return the texts in canonical form; None stays None. Leave out those without a validator.

    Raise ``BadOption`` for a text that is not allowed.
    """
    return {
        field: None if text is None else validators[field](text) for field, text in texts.items() if field in validators
    }


def validate_link(text: str) -> str:
    """Return the link. Raise ``BadOption`` unless it is an http or https URL in ASCII without a user name."""
    if not 1 <= len(text) <= MAX_LINK_LENGTH:
        raise BadOption("link", f"must have 1 to {MAX_LINK_LENGTH} characters")
    if not (text.isascii() and text.isprintable()) or set(text) & set(' "<>\\^`{|}'):
        raise BadOption("link", "must consist of the ASCII characters of URLs; write others percent-encoded")
    try:
        parts = urlsplit(text)
        _ = parts.port  # raises for a bad port
    except ValueError:
        raise BadOption("link", "must be a URL such as https://example.org/my-bot") from None
    if parts.scheme not in ("http", "https") or not text.lower().startswith(f"{parts.scheme}://"):
        raise BadOption("link", "must begin with https:// or http://")
    if not parts.hostname or "@" in parts.netloc:
        raise BadOption("link", "must name a host, without a user name")
    return text


def validate_line(field: str, text: str, longest: int) -> str:
    """Return the text in NFC without spaces around it. Raise ``BadOption`` unless it is printable text on one line."""
    line = unicodedata.normalize("NFC", text).strip(" ")
    if not 1 <= len(line) <= longest:
        raise BadOption(field, f"must have 1 to {longest} characters")
    if not line.isprintable():
        raise BadOption(field, "must be on one line, without control characters and characters that change direction")
    return line
