"""Make the search for tables short in all tests of pairings."""

from collections.abc import Iterator

import pytest

from referee.pairing import table_search


@pytest.fixture(scope="module", autouse=True)
def _short_search() -> Iterator[None]:
    """Compare a tenth of the swaps: where no tables are perfect, a search ends only when it has compared them all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_search, "MOVES", 4_000)
        patch.setattr(table_search, "POLISH", 4_000)
        yield
