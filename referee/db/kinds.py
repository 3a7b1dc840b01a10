"""List the kinds of objects that the search finds, and of those whose names are unique.

The values are stored in the database and shown by the API.
"""

from enum import StrEnum


class SearchKind(StrEnum):
    BOT = "bot"
    OWNER = "owner"
    TOURNAMENT = "tournament"


class NamedKind(StrEnum):
    ACCOUNT = "account"
    BOT = "bot"
