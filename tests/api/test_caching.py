"""Results are cached until the database changes, and expensive ones are not computed too often."""

from dataclasses import dataclass
from threading import Event, Thread

import pytest

from api.caching import EXPENSIVE_S, REST_FACTOR, Cache


@dataclass
class Workshop:
    """Compute numbered values; each takes a given time on the fake clock."""

    clock: float = 100.0
    made: int = 0
    changed: bool = False
    takes: float = 0.0

    def now(self) -> float:
        return self.clock

    def shelf(self, most: int = 10) -> Cache[int]:
        return Cache[int](most, lambda _: 1, clock=self.now)

    def __call__(self, before: int | None, *, patient: bool) -> int:
        if before is not None and (patient or not self.changed):
            return before
        self.made, self.changed = self.made + 1, False
        self.clock += self.takes
        return self.made


def test_it_is_made_once_until_something_changes() -> None:
    work = Workshop()
    shelf = work.shelf()

    first, second = shelf.get("a", work), shelf.get("a", work)
    parts = [first.part("half", lambda: first.made / 2), second.part("half", lambda: 0.0)]
    work.changed = True
    third = shelf.get("a", work)

    assert (first is second, third.made) == (True, 2)
    assert parts == [0.5, 0.5]
    assert third.part("half", lambda: third.made / 2) == 1.0


@pytest.mark.parametrize(("takes", "soon"), [(EXPENSIVE_S, 2), (2.0, 1)])
def test_what_is_expensive_is_made_no_more_often_than_it_may_cost(takes: float, soon: int) -> None:
    work = Workshop(takes=takes)
    shelf = work.shelf()

    shelf.get("a", work)
    work.changed = True
    work.clock += takes * REST_FACTOR - 0.25
    assert shelf.get("a", work).made == soon
    work.changed = True
    work.clock += takes * REST_FACTOR
    assert shelf.get("a", work).made == soon + 1


def test_what_was_asked_for_last_stays() -> None:
    work = Workshop()
    shelf = work.shelf(2)

    for key in ("a", "b", "a", "c"):
        shelf.get(key, work)

    assert (shelf.get("a", work).made, shelf.get("b", work).made) == (1, 4)  # b had to make room


def test_what_cannot_be_made_leaves_nothing_behind() -> None:
    work = Workshop()
    shelf = work.shelf(2)

    def fails(before: int | None, *, patient: bool) -> int:
        raise LookupError

    for _ in range(2):
        with pytest.raises(LookupError):
            shelf.get("a", fails)

    assert shelf.get("a", work).made == 1


def test_while_one_makes_what_is_expensive_others_get_the_one_before() -> None:
    work = Workshop(takes=2.0)
    shelf = work.shelf()
    shelf.get("a", work)
    begun, go_on, found = Event(), Event(), []

    def slow(before: int | None, *, patient: bool) -> int:
        begun.set()
        assert go_on.wait(30)
        return 99

    maker = Thread(target=lambda: found.append(shelf.get("a", slow).made))
    maker.start()
    assert begun.wait(30)
    meanwhile = shelf.get("a", slow).made
    go_on.set()
    maker.join()

    assert (meanwhile, found) == (1, [99])
