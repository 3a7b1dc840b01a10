"""List what an owner decides about organisers who enter their bots in tournaments. The values are stored."""

from enum import StrEnum


class EntryConsent(StrEnum):
    """Say whether organisers may enter the bots of an owner: without asking, only if the owner accepts, or never."""

    EVERYBODY = "everybody"
    ASK = "ask"  # except the operator who created the account for a class
    NOBODY = "nobody"
