"""Extend rows with related data for schemas."""

from typing import Any


class Extended:
    """Combine the attributes of ``base`` and ``more``; those of ``more`` take precedence."""

    def __init__(self, base: object, **more: Any) -> None:
        self.__dict__ |= more
        self._base = base

    def __getattr__(self, name: str) -> Any:
        return getattr(self._base, name)
