"""Validate what owners say in public about their bots: a sentence, the language they are written in, a link."""

import unicodedata
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlsplit

from referee.errors import BadOption

MAX_SUMMARY_LENGTH: Final = 160
MAX_LANGUAGE_LENGTH: Final = 40
MAX_LINK_LENGTH: Final = 300


def validate_profile(changes: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return the changes in canonical form. None removes a text. Raise ``BadOption`` for a text that is not allowed.

    The keys are ``summary``, ``language`` and ``link``.
    """
    return {field: None if text is None else _FIELDS[field](text) for field, text in changes.items()}


def validate_summary(text: str) -> str:
    """Return the sentence about a bot. Raise ``BadOption`` unless it is printable text on one line."""
    return _one_line("summary", text, MAX_SUMMARY_LENGTH)


def validate_language(text: str) -> str:
    """Return the name of a programming language. Raise ``BadOption`` unless it is printable text on one line."""
    return _one_line("language", text, MAX_LANGUAGE_LENGTH)


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


def _one_line(field: str, text: str, longest: int) -> str:
    line = unicodedata.normalize("NFC", text).strip(" ")
    if not 1 <= len(line) <= longest:
        raise BadOption(field, f"must have 1 to {longest} characters")
    if not line.isprintable():
        raise BadOption(field, "must be on one line, without control characters and characters that change direction")
    return line


_FIELDS: Final[Mapping[str, Callable[[str], str]]] = {
    "summary": validate_summary,
    "language": validate_language,
    "link": validate_link,
}
