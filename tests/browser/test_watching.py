"""Pages that were open while something happened: tabs that nobody has seen."""

from tests.browser.conftest import PageAt
from tests.browser.record import Filled
from tests.browser.test_tournaments import look

HIDDEN = """Object.defineProperty(document, "hidden", { value: true, configurable: true });
Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });"""


# -- tabs --


def test_a_tab_that_was_never_seen_opens_no_stream(page_at: PageAt, filled: Filled) -> None:
    context = page_at.context()
    context.add_init_script(HIDDEN)
    streams: list[str] = []
    context.on("request", lambda request: streams.append(request.url) if "/events" in request.url else None)
    tabs = [context.new_page() for _ in range(7)]  # one more than a browser has connections

    for tab in tabs[1:]:
        tab.goto(f"/tournaments/{filled.tournaments['bracket']}")
    tabs[0].goto(f"/matches/{filled.matches['open']}")
    tabs[0].wait_for_selector(".felt", state="attached")
    assert streams == []

    look(tabs[0], hidden=False)
    tabs[0].wait_for_selector(".happenings button")
    assert len(streams) == 1
