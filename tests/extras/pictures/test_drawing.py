"""Pictures have their size, refer to nothing, escape names, and stay within their frame; what the fonts have."""

import hashlib
import struct
from xml.etree import ElementTree

import pytest

from referee_extras.pictures.contents import DRAWING_VERSION, HEIGHT, WIDTH, PictureContent, Player, Row
from referee_extras.pictures.drawing import draw_png, draw_svg
from referee_extras.pictures.fonts import FILES, FOLDER, can_draw, measure, shorten
from tools.pictures.__main__ import ROOT, draw_files

BOT = "bot_" + "0" * 26
HOSTILE = '</text><image href="http://x.example/"/>&"\'\0\x1b'
NAMES = ["W" * 32, "محمد العربي " * 2, "日本語カード名人" * 4, "שלום עולם", "한국어 카드 봇", "ไทยบอท", "Ada", HOSTILE]


def picture(title: str = "Pool Nap", count: int = 2, **more: object) -> PictureContent:
    players = [
        Row(Player(BOT, NAMES[place % len(NAMES)]), f"{place + 1}th", "12 345", "± 345") for place in range(count)
    ]
    return PictureContent(**{"label": "Match", "title": title, "subject": BOT, "rows": players, **more})  # type: ignore[arg-type]


def texts(svg: str) -> list[ElementTree.Element]:
    return [element for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("text")]


@pytest.mark.parametrize("rows", range(11))
def test_every_text_is_within_the_frame_and_above_the_bottom(rows: int) -> None:
    for title in (NAMES[0], NAMES[2], HOSTILE, "A tournament of eighty characters, " * 3):
        svg = draw_svg(picture(title, rows, lines=["x" * 200, "second"], remark="y" * 200))

        for element in texts(svg):
            width = measure(element.text or "", float(element.get("font-size", 0)))
            right = float(element.get("x", 0)) + (0 if element.get("text-anchor") == "end" else width)
            left = right - width
            assert left >= 60, element.text
            assert right <= WIDTH - 60, element.text
            assert float(element.get("y", 0)) < HEIGHT - 30


def test_a_picture_is_a_png_of_its_size_and_the_same_for_the_same_content() -> None:
    png = draw_png(picture(count=10))

    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", png[16:24]) == (WIDTH, HEIGHT)
    assert len(png) < 200_000
    assert draw_png(picture(count=10)) == png


def test_names_are_escaped_and_nothing_is_referred_to() -> None:
    svg = draw_svg(picture(HOSTILE, 8, lines=[HOSTILE], emblem_of=BOT))

    tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(svg).iter()}
    assert tags <= {"svg", "g", "rect", "path", "text", "circle"}
    assert "href" not in "".join(element for element in svg.split(">") if "<text" not in element and "<" in element)


def test_a_name_that_the_fonts_lack_is_drawn_as_the_id() -> None:
    svg = draw_svg(picture("ไทย", 0, rows=[Row(Player(BOT, "ไทยบอท"))]))

    assert [element.text for element in texts(svg)][-2:] == [BOT, BOT]


def test_a_hidden_seat_has_neither_name_nor_emblem() -> None:
    known, hidden = (
        draw_svg(picture(rows=[Row(player, "Seat 1")], remark="")) for player in (Player(BOT, "Ada"), Player())
    )

    assert ("Ada" in known, "hsl(" in known) == (True, True)
    assert ("Ada" in hidden, "hsl(" in hidden) == (False, False)


def test_contents_that_differ_have_different_digests() -> None:
    assert picture().digest() == picture().digest()
    assert picture().digest() != picture(count=3).digest()
    assert picture().digest() != picture(is_live=True).digest()


def test_pictures_that_are_drawn_in_another_way_have_another_version() -> None:
    hidden = Row(Player(), "Seat 1", is_first=True)
    contents = [picture(), picture(count=10), picture(rows=[hidden], lines=["a", "b"], remark="c", is_live=True)]

    drawn = hashlib.sha256("".join(map(draw_svg, contents)).encode()).hexdigest()

    # If it fails: raise the version, so that stored pictures are drawn again.
    assert (DRAWING_VERSION, drawn[:16]) == (1, "125f292b1dfb2e78")


def test_the_committed_pictures_are_those_that_are_drawn() -> None:
    for name, content in draw_files():
        assert (ROOT / name).read_bytes() == content, "run: python -m tools.pictures"


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
