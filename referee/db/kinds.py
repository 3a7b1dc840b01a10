"""List the kinds of objects that the search finds. The values are stored in the database and shown by the API."""

from enum import StrEnum


class SearchKind(StrEnum):
    BOT = "bot"
    OWNER = "owner"
    TOURNAMENT = "tournament"
