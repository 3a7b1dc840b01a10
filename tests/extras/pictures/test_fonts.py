"""The fonts of pictures have the scripts of most names, and text is measured as it is drawn."""

import pytest

from referee_extras.pictures.fonts import FILES, FOLDER, can_draw, measure, shorten


@pytest.mark.parametrize(
    "name",
    ["Ada & Žluťoučký", "Привет Ελληνικά", "محمد العربي", "שלום 7", "日本語カード", "汉语漢語", "한국어", "ქართული"],
)
def test_names_in_these_scripts_can_be_drawn(name: str) -> None:
    assert can_draw(name)


@pytest.mark.parametrize("name", ["ไทย", "देवनागरी", "Ada \U0001f9a6"])
def test_a_character_that_the_fonts_lack_is_known(name: str) -> None:
    assert not can_draw(name)


def test_widths_are_those_of_the_fonts() -> None:
    assert measure("日本", 10) == 20  # Chinese characters are as wide as the size
    assert measure("iii", 10) < measure("WWW", 10) / 3
    assert measure("Ada", 20) == 2 * measure("Ada", 10)
    assert measure("A", 2048) == 1401  # of 2048 units, in DejaVu Sans


@pytest.mark.parametrize("text", ["W" * 80, "日" * 80, "محمد " * 16, "i" * 200])
def test_a_long_text_is_shortened_to_the_width(text: str) -> None:
    short = shorten(text, 30, 400)

    assert short.endswith("…")
    assert text.startswith(short[:-1])
    assert 400 - 60 < measure(short, 30) <= 400
    assert shorten("Ada", 30, 400) == "Ada"


def test_the_licence_of_each_font_is_beside_it() -> None:
    stated = (FOLDER / "LICENCES.txt").read_text()

    for file in FILES:
        assert file.name in stated
        assert (FOLDER / f"{file.stem}-LICENSE.txt").read_text().strip()
