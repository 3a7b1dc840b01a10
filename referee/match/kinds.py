"""Enumerate why the match of a log does not count."""

from enum import StrEnum


class LogRemark(StrEnum):
    """List what a bundle says after a log, or in place of a damaged one."""

    VOID = "void"
    CANCELLED = "cancelled"
    DAMAGED = "damaged"
