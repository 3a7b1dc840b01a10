"""Lists are paged by the keys of their rows, in any order."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import case, select

from referee.accounts.tables import Account
from referee.db.paging import load_page
from referee.errors import BadOption
from tests.database.world import World

NAME, MOMENT, ID = Account.name, Account.created_at, Account.id
ORDERS = {
    "a key": (NAME,),
    "falling": (MOMENT.desc(), ID.desc()),
    "rising": (MOMENT, NAME),
    "first falling": (MOMENT.desc(), NAME),
    "last falling": (MOMENT, NAME.desc()),
    "an expression": (case((NAME.endswith("1"), 0), else_=1).desc(), NAME),
}


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
@pytest.mark.parametrize("columns", [(Account,), (Account, NAME)], ids=["objects", "tuples"])
def test_E11_pages_follow_one_another_without_gap_or_overlap(
    world: World, columns: tuple[Any, ...], order: tuple[Any, ...]
) -> None:
    for number in range(9):
        world.account()
        world.clock.moment += timedelta(hours=number % 3)
    query = select(*columns)
    seen: list[Any] = []
    cursor = None

    with world.database.read() as session:
        whole = load_page(session, query, *order, limit=100, cursor=None)
        while not seen or cursor is not None:
            page = load_page(session, query, *order, limit=2, cursor=cursor)
            seen += page.items
            cursor = page.next
        by_hand = session.scalars(select(ID).order_by(*order)).all()

    assert seen == whole.items
    assert [(row if len(columns) == 1 else row[0]).id for row in seen] == by_hand
    assert whole.next is None


@pytest.mark.parametrize(
    "cursor", [[], ["x", "y"], [1, "x"], ["2026-01-01", "x"], ["2026-01-01T00:00:00+00:00"], [None, None], [True, "x"]]
)
def test_E11_a_cursor_of_another_list_is_refused(world: World, cursor: list[Any]) -> None:
    with world.database.read() as session, pytest.raises(BadOption, match="cursor"):
        load_page(session, select(Account), MOMENT, ID, limit=2, cursor=cursor)


@pytest.mark.parametrize("limit", [0, -1, 101, 10**9])
def test_E11_pages_have_a_largest_size(world: World, limit: int) -> None:
    with world.database.read() as session, pytest.raises(BadOption, match="limit"):
        load_page(session, select(Account), ID, limit=limit, cursor=None)
