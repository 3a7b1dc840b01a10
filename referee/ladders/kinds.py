"""Define the kinds of entries of the rating ledger. The values are stored in the database and returned by the API."""

from enum import StrEnum


class EntryKind(StrEnum):
    RESULT = "result"
    VOID = "void"
    REPAIR = "repair"
