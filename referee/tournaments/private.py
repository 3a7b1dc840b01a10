"""Limit the tournaments that an account without the role of an organiser may run: unlisted, unrated, small."""

from collections.abc import Mapping
from typing import Any, Final

from referee.errors import BadOption, Forbidden

MAX_ENTRIES: Final = 50
MAX_CYCLES: Final = 2
MAX_BUDGET_MS: Final = 5000  # the limits of friendlies
MAX_BANK_MS: Final = 60_000


def complete_private_terms(terms: Mapping[str, Any]) -> dict[str, Any]:
    """Return the terms with the entry cap of private tournaments, unless they have a lower one."""
    return {**terms, "max_entries": terms.get("max_entries") or MAX_ENTRIES}


def check_private_terms(columns: Mapping[str, Any]) -> None:
    """Raise ``Forbidden`` for a tournament that is rated or listed, ``BadOption`` for one that is too large."""
    if columns["rated"] or columns["listed"]:
        raise Forbidden(
            "Without the role of an organiser, an account runs unrated and unlisted tournaments only. Set rated and "
            "listed to false, or ask for the role on the page /organise."
        )
    for field, most in (
        *(("max_entries", MAX_ENTRIES), ("cycles", MAX_CYCLES)),
        *(("budget_ms", MAX_BUDGET_MS), ("bank_ms", MAX_BANK_MS)),
    ):
        if columns[field] is None or columns[field] > most:
            name = f"time.{field}" if field.endswith("_ms") else field
            raise BadOption(name, f"must be at most {most} in a tournament of an account that is no organiser")
