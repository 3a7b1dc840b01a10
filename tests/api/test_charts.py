"""Charts: positions worked out by hand, and escaping. Emblems follow from ids alone and differ."""

import re
from xml.etree import ElementTree

import pytest
from markupsafe import Markup

from api.pages.charts.axes import Scale, round_outwards, step, ticks
from api.pages.charts.bars import StackPart, interval_bar, stacked_bar
from api.pages.charts.curves import RatingStep, rating_history, sparkline
from api.pages.charts.svg import drawing, number, tag
from api.pages.emblem import emblem
from api.pages.static_files import FOLDER
from referee.db.ids import new_id
from referee.emblems import HUES, emblem_pattern


def parsed(svg: Markup) -> ElementTree.Element:
    return ElementTree.fromstring(str(svg))


def shapes(svg: Markup, name: str, kind: str = "") -> list[dict[str, str]]:
    """Return the attributes of all elements with this name (and class), in order."""
    return [one.attrib for one in parsed(svg).iter(name) if not kind or one.get("class") == kind]


def test_ticks_are_the_round_figures_within_the_range_1_2_or_5_apart() -> None:
    for high, apart in ((10, 2), (11, 5), (1, 0.2), (100, 20), (101, 50)):
        assert step(0, high, 5) == pytest.approx(apart)
    assert (step(1450, 1560, 5), step(3, 3, 5)) == (50, 1)
    assert ticks(1460, 1560) == [1460, 1480, 1500, 1520, 1540, 1560]
    assert ticks(-30, 45) == [-20, 0, 20, 40]
    assert ticks(0, 2, whole=True) == [0, 1, 2]  # not 0.5
    assert ticks(7, 7) == [7]
    assert ticks(0, 0.3) == pytest.approx([0, 0.1, 0.2, 0.3])
    assert round_outwards(1463, 1559) == (1460, 1560)
    assert round_outwards(1500, 1500, least=40) == (1480, 1520)


def test_a_scale_runs_either_way_and_puts_a_single_figure_in_the_middle() -> None:
    down = Scale(0, 10, 100, 0)

    assert (down(0), down(5), down(10)) == (100, 50, 0)
    assert Scale(3, 3, 0, 90)(3) == 45


def test_coordinates_have_a_tenth_at_most() -> None:
    values = {0.04: "0", -0.04: "0", 1: "1", 2.25: "2.2", -3.14159: "-3.1", 120.0: "120"}
    assert {value: number(value) for value in values} == values


def test_what_is_handed_in_stays_text() -> None:
    payload = "\"><script>alert(1)</script>&'"

    made = drawing(10, 10, payload, [tag("text", payload, class_=payload)], class_="a", description=payload)
    root = parsed(made)

    assert "<script" not in made
    assert [root[0].text, root[1].text, root[2].text, root[2].get("class")] == [payload] * 4
    assert (root.get("role"), root.get("viewBox")) == ("img", "0 0 10 10")


def test_a_history_goes_level_and_then_up_or_down() -> None:
    # From 66 to 618 across two steps: 276 each. 1480 to 1520 from 234 up to 18: 5.4 a point.
    svg = rating_history([RatingStep(1500, 1520), RatingStep(1520, 1480)], "Rating")

    (line,) = shapes(svg, "path", "line")
    (end,) = shapes(svg, "circle")

    assert line["d"] == "M66,126H342V18H618V234"
    assert (end["cx"], end["cy"]) == ("618", "234")
    levels = ["1\u202f480", "1\u202f490", "1\u202f500", "1\u202f510", "1\u202f520"]
    assert [one.text for one in parsed(svg).iter("text")] == [*levels, "0", "1", "2"]
    assert parsed(svg)[1].text == "from 1\u202f500.0 to 1\u202f480.0, between 1\u202f480.0 and 1\u202f520.0, in 2 steps"


def test_versions_and_voids_are_marked_where_they_happened() -> None:
    moves = [
        RatingStep(1500, 1510, version="<2.0>"),
        RatingStep(1510, 1500, "void", label="void: a cable was cut"),
        RatingStep(1500, 1520),
    ]

    svg = rating_history(moves, "Rating")
    marks = list(parsed(svg).iter("g"))

    assert [one.get("class") for one in marks] == ["mark version", "mark void"]
    assert [one[0].text for one in marks] == ["version <2.0>", "void: a cable was cut"]
    assert marks[0][1].get("x1") == "250"  # 66 + 552 / 3
    assert marks[1][1].get("transform") == "translate(434 180)"  # 1490 to 1530 from 234 up to 18


def test_a_trend_fills_its_little_box_and_is_a_level_line_without_change() -> None:
    svg = sparkline([1500, 1510, 1490], "Recent rating")
    (line,) = shapes(svg, "polyline")
    (level,) = shapes(sparkline([1500, 1500], "Rating"), "polyline")

    assert line["points"] == "3,13 42,3 81,23"  # 84 x 26 with an edge of 3
    told = "Recent rating: from 1\u202f500.0 to 1\u202f490.0, between 1\u202f490.0 and 1\u202f510.0"
    assert parsed(svg)[0].text == told
    assert level["points"] == "3,13 81,13"


def test_an_interval_lies_on_the_scale_it_shares_and_ends_at_its_edge() -> None:
    # 1400 to 1528 across 64 units from 4: half a unit a point.
    svg = interval_bar(1500, 1450, 1520, (1400, 1528), "95 % interval")
    (bar,), (notch,) = shapes(svg, "rect"), shapes(svg, "line", "notch")
    (beyond,) = shapes(interval_bar(900, 800, 1500, (1400, 1528), "x"), "rect")

    assert (bar["x"], bar["width"], notch["x1"]) == ("29", "35", "54")
    assert parsed(svg)[0].text == "95 % interval: 1\u202f450 to 1\u202f520"
    assert (beyond["x"], beyond["width"]) == ("4", "50")


def test_parts_of_a_whole_lie_side_by_side_and_nothing_is_left_out_but_nothing() -> None:
    # 240 wide: 3 of 8 are 90, less the gap of 2.
    svg = stacked_bar(
        [StackPart("ahead: 3", 3, "ahead"), StackPart("level: 0", 0, "level"), StackPart("behind: 5", 5, "behind")], "x"
    )

    first, last = shapes(svg, "rect")

    assert (first["x"], first["width"], last["x"], last["width"]) == ("0", "88", "90", "150")
    assert [one.get("class") for one in parsed(svg).iter("g")] == ["ahead", "behind"]


ADA = "bot_" + "0" * 26


def test_an_emblem_follows_from_the_id_alone_is_small_and_differs_from_others() -> None:
    drawn = emblem(ADA)
    emblem.cache_clear()
    similar = {emblem(f"bot_{number:026d}") for number in range(200)}
    random = {emblem(new_id("bot")) for _ in range(300)}

    assert emblem(ADA) == drawn
    path, hue = emblem_pattern(ADA)
    start = f'<svg viewBox="0 0 5 5" class="emblem emblem-{hue}" aria-hidden="true"'
    assert drawn == f'{start}><path d="{path}"/></svg>'
    assert emblem(ADA, x=0, y=2).startswith(f'{start} x="0" y="2" width="15" height="15">')
    assert (len(similar) > 195, len(random) > 290) == (True, True)
    assert len({picture.partition("emblem-")[2][:2] for picture in random}) == len(HUES)
    assert all(picture.count("M") > 4 for picture in random)
    assert max(map(len, random)) < 500


@pytest.mark.parametrize(
    ("number", "filled", "hue"),
    [
        (19, "..... #...# #.#.# ..... #.#.#", 10),  # five of its 15 cells are filled
        (9, "..#.. ##### #.#.# #.#.# #####", 9),  # four were, and it is inverted
    ],
)
def test_a_bot_keeps_its_emblem(number: int, filled: str, hue: int) -> None:
    cells = ((x, y) for y, row in enumerate(filled.split()) for x, cell in enumerate(row) if cell == "#")

    assert emblem_pattern(f"bot_{number:026d}") == ("".join(f"M{x} {y}h1v1h-1z" for x, y in cells), hue)


def test_pictures_have_the_hues_of_the_style_sheet() -> None:
    styled = re.findall(r"\.emblem-(\d+) \{ --hue: (\d+); \}", (FOLDER / "site/site.css").read_text())

    assert [int(hue) for _, hue in sorted(styled, key=lambda pair: int(pair[0]))] == list(HUES)
