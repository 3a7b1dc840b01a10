"""The example of standings and figures on the page of formats runs."""

import doctest
import re
from pathlib import Path

PAGE = (Path(__file__).parents[3] / "docs" / "formats.md").read_text()


def test_the_example_of_the_page_runs() -> None:
    found = re.search(r"<!-- run by tests/extras/analysis/test_example.py -->\n```python\n(.*?)```", PAGE, re.DOTALL)
    assert found

    test = doctest.DocTestParser().get_doctest(found[1], {}, "formats.md", None, 0)
    ran = doctest.DocTestRunner(verbose=False).run(test)

    assert (ran.failed, ran.attempted) == (0, len(test.examples))
    assert ran.attempted >= 8
