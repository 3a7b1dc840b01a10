"""Validate what owners say in public about their bots: a sentence, the language they are written in, a link."""

from collections.abc import Callable, Mapping
from typing import Final

from referee.db.texts import validate_line, validate_link, validate_texts

MAX_SUMMARY_LENGTH: Final = 160
MAX_LANGUAGE_LENGTH: Final = 40


def validate_profile(changes: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return the changes in canonical form. None removes a text. Raise ``BadOption`` for a text that is not allowed.

    The keys are ``summary``, ``language`` and ``link``.
    """
    return validate_texts(changes, _FIELDS)


def validate_summary(text: str) -> str:
    """Return the sentence about a bot. Raise ``BadOption`` unless it is printable text on one line."""
    return validate_line("summary", text, MAX_SUMMARY_LENGTH)


def validate_language(text: str) -> str:
    """Return the name of a programming language. Raise ``BadOption`` unless it is printable text on one line."""
    return validate_line("language", text, MAX_LANGUAGE_LENGTH)


_FIELDS: Final[Mapping[str, Callable[[str], str]]] = {
    "summary": validate_summary,
    "language": validate_language,
    "link": validate_link,
}
