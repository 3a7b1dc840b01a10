"""The example of standings on the page of formats runs, and its list of columns is complete."""

import doctest
import re
from pathlib import Path

from referee.standings import TIE_BREAKS
from referee.standings.table import COLUMNS, EXTERNAL_COLUMNS

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()


def test_the_example_of_the_page_runs() -> None:
    found = re.search(r"<!-- run by tests/standings/test_standings_page.py -->\n```python\n(.*?)```", PAGE, re.DOTALL)
    assert found

    test = doctest.DocTestParser().get_doctest(found[1], {}, "formats.md", None, 0)
    ran = doctest.DocTestRunner(verbose=False).run(test)

    assert (ran.failed, ran.attempted) == (0, len(test.examples))
    assert ran.attempted >= 8


def test_the_page_tells_the_columns_of_every_format_in_their_order() -> None:
    rows = dict(re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| ((?:`\w+`(?:, )?)+) \|$", PAGE, re.MULTILINE))

    documented = {
        format: tuple(re.findall(r"`(\w+)`", columns))
        for formats, columns in rows.items()
        for format in re.findall(r"`(\w+)`", formats)
    }

    assert documented == dict(TIE_BREAKS)


def test_the_page_explains_every_column() -> None:
    explained = set(re.findall(r"^\| `(\w+)` \| [^`]", PAGE, re.MULTILINE))

    assert explained >= {*COLUMNS, *EXTERNAL_COLUMNS, "head_to_head"}
