"""The list of columns on the page of formats is complete."""

import re
from pathlib import Path

from referee.standings import TIE_BREAKS
from referee.standings.table import COLUMNS, EXTERNAL_COLUMNS

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()


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
