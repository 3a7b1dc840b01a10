"""The chart of luck: positions worked out by hand."""

from referee_extras.analysis.luck_bar import luck_bar
from tests.api.test_charts import shapes


def test_luck_is_a_bar_from_zero_with_its_error_and_a_diamond_for_the_cards() -> None:
    # From -0.5 to 0.5 over 6 to 146: zero at 76, 0.25 at 111, -0.25 at 41.
    drawn = luck_bar(0.25, 0.1, -0.25, 0.5, "A <b>")

    (bar,), (error,), (cards,) = (shapes(drawn, "rect"), shapes(drawn, "line", "error"), shapes(drawn, "path"))
    assert (bar["class"], bar["x"], bar["width"]) == ("ahead", "76", "35")
    assert (error["x1"], error["x2"]) == ("97", "125")
    assert cards["d"].startswith("M41,3")
    assert "A &lt;b&gt;" in str(drawn)


def test_luck_below_zero_goes_to_the_left_and_may_have_no_error() -> None:
    drawn = luck_bar(-0.5, None, 0, 0.5, "A")

    (bar,) = shapes(drawn, "rect")
    assert (bar["class"], bar["x"], bar["width"]) == ("behind", "6", "70")
    assert shapes(drawn, "line", "error") == []
