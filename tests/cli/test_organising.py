"""`referee tournament` for organisers: announcements, entries under conditions, and what follows from them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.hall import Hall, hall

SHORT = ("--game", "saint-poker", "--seats", "2", "--option", "rounds=1")


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    with hall(tmp_path_factory.mktemp("hall")) as opened:
        yield opened


def test_a_tournament_is_announced_and_the_announcement_is_changed(there: Hall, tmp_path: Path) -> None:
    text = tmp_path / "text.md"
    text.write_text("# Welcome\n\nBring *one* bot.\n")
    options = (
        "--description-file",
        str(text),
        "--prizes",
        "A mug",
        "--contact",
        "Ada",
        "--link",
        "https://example.org/",
    )

    event = there.json("create", "Announced cup", *SHORT, *options)["id"]
    shown = there.says("show", event).stdout
    there.says("edit", event, "--prizes", "Two mugs", "--contact", "")
    again = there.json("show", event)
    refused = there.says("edit", event, "--link", "javascript:alert(1)", status=1).stderr

    assert "  # Welcome\n  \n  Bring *one* bot." in shown or "  # Welcome\n\n  Bring *one* bot." in shown
    assert "A mug" in shown
    assert (again["prizes"], again["contact"], again["link"]) == ("Two mugs", None, "https://example.org/")
    assert refused.startswith("Error: --link: must ")
