"""Define the roles of accounts. The values are stored in the database and shown by the API."""

from enum import StrEnum
from typing import Final


class Role(StrEnum):
    OWNER = "owner"
    ORGANISER = "organiser"
    ADMIN = "admin"


ORGANISING: Final = frozenset({Role.ORGANISER, Role.ADMIN})
