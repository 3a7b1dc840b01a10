"""Provide read-only JSON objects with their members as attributes."""

from collections.abc import Iterator, Mapping
from typing import Any

from referee.match.canonical import Json


class View(Mapping[str, Any]):
    """Represent a read-only JSON object. Members are read as ``view.hand`` or ``view["hand"]``; lists are tuples.

    A member named like a Python keyword (``from`` in Saint Poker's river) is available only as ``view["from"]``.
    """

    __slots__ = ("_members",)

    def __init__(self, members: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_members", {name: _read_only(value) for name, value in members.items()})

    def to_json(self) -> Json:
        """Return a copy as plain dicts and lists, which may be changed."""
        return {name: _plain(value) for name, value in self.items()}

    def __getitem__(self, name: str) -> Any:
        return self._members[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._members!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.to_json(),)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is read-only; to_json() returns a copy that can be changed")

    def __getattr__(self, name: str) -> Any:
        try:
            return object.__getattribute__(self, "_members")[name]
        except KeyError:
            known = ", ".join(self)
            raise AttributeError(f"{type(self).__name__} has no member {name!r}; it has {known}") from None


def _read_only(value: Any) -> Any:
    match value:
        case dict():
            return View(value)
        case list():
            return tuple(map(_read_only, value))
        case _:
            return value


def _plain(value: Any) -> Any:
    match value:
        case View():
            return value.to_json()
        case tuple():
            return list(map(_plain, value))
        case _:
            return value
