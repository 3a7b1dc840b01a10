"""Define which pages have a preview picture."""

from enum import StrEnum


class PictureKind(StrEnum):
    """What a preview picture shows."""

    MATCH = "match"
    BOT = "bot"
    TOURNAMENT = "tournament"
    LADDER = "ladder"
