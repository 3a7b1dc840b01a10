"""Define the kinds of entries of the rating ledger, and the choices of owners about official ladders.

The values are stored in the database and returned by the API.
"""

from enum import StrEnum


class EntryKind(StrEnum):
    RESULT = "result"
    VOID = "void"
    REPAIR = "repair"


class LadderPlay(StrEnum):
    """List what the owner of a bot has chosen about official ladders."""

    ON = "on"
    OFF = "off"


class Level(StrEnum):
    """List bands of ratings on an official ladder, in points. ``RATED`` has all of them."""

    UNRATED = "unrated"
    RATED = "rated"
    BELOW_1400 = "below_1400"
    FROM_1400_TO_1600 = "1400_to_1600"
    ABOVE_1600 = "above_1600"
