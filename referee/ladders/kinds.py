"""Kinds of entries of the rating ledger. The values are stored, and shown by the API."""

from enum import StrEnum


class EntryKind(StrEnum):
    RESULT = "result"
    VOID = "void"
    REPAIR = "repair"
