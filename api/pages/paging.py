"""Numbered pages of long lists: which one a request asks for, and which rows are on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from api.errors import invalid
from api.pages.parameters import whole_number

Row = TypeVar("Row")

LAST_PAGE: Final = 9_999_999


@dataclass(frozen=True, slots=True)
class NumberedPage:
    """Page ``number``, from 1, of a list of ``length`` rows, of which ``size`` are on a page."""

    number: int
    size: int
    length: int

    @property
    def first(self) -> int:
        """The index of the first row, from 0."""
        return (self.number - 1) * self.size

    @property
    def pages(self) -> int:
        """How many pages there are; an empty list has one."""
        return max(1, -(-self.length // self.size))

    @property
    def cursor(self) -> list[int] | None:
        """The cursor of the store for rows that are numbered from 0."""
        return [self.first - 1] if self.first else None

    def rows(self, everything: Sequence[Row]) -> Sequence[Row]:
        """Return the rows of the page."""
        return everything[self.first : self.first + self.size]


def requested_number() -> int:
    """Return the page that is asked for with ``?page=``."""
    return whole_number("page", 1, LAST_PAGE)


def numbered_page(number: int, size: int, length: int) -> NumberedPage:
    """Return page ``number`` of a list; refuse one behind the last."""
    page = NumberedPage(number, size, length)
    if number > page.pages:
        raise invalid([("page", f"there are {page.pages}")])
    return page
