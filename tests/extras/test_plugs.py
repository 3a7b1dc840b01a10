"""Extras plug in by a list: what fails is left out and counted, and what cannot be imported is named."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from markupsafe import Markup

import referee_extras
from api.pages.page_places import added_to_place
from referee import plugs
from referee.plugs import BrokenExtra, Extra, PagePlace

Install = Callable[..., None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return a function that installs, in place of all extras, one that adds the results of functions to the head."""

    def put(**functions: Callable[[], object]) -> None:
        for name, function in functions.items():
            module = ModuleType(f"referee_extras.{name}")
            extra = Extra(name=name, folder=Path(), places={PagePlace.HEAD: f"referee_extras.{name}:add"})
            vars(module).update(EXTRA=extra, add=function)
            monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setattr(referee_extras, "EXTRAS", tuple(functions))
        plugs.extras.cache_clear()

    yield put
    plugs.extras.cache_clear()
    plugs.take_failures()


def broken() -> object:
    raise LookupError("planted")


def test_extras_add_to_a_place_in_the_order_of_the_list(install: Install) -> None:
    install(second=lambda: Markup("<b>2</b>"), none=lambda: None, first=lambda: "<1>")

    assert added_to_place("head") == [Markup("<b>2</b>"), Markup("&lt;1&gt;")]
    assert added_to_place("page_links") == []


def test_an_extra_that_fails_at_a_place_is_left_out_logged_and_counted(
    install: Install, caplog: pytest.LogCaptureFixture
) -> None:
    install(bad=broken, good=lambda: "here")

    assert added_to_place("head") == [Markup("here")]

    assert [(record.msg, vars(record)["extra"], vars(record)["point"]) for record in caplog.records] == [
        ("extra_failed", "bad", "head")
    ]
    assert plugs.take_failures() == {("bad", "head"): 1}
    assert plugs.take_failures() == {}


def test_a_place_that_does_not_exist_is_an_error(install: Install) -> None:
    with pytest.raises(ValueError, match="no_place"):
        added_to_place("no_place")


def test_an_extra_that_cannot_be_imported_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(referee_extras, "EXTRAS", ("nowhere",))
    plugs.extras.cache_clear()

    with pytest.raises(BrokenExtra, match=r"The extra 'nowhere' cannot be used: .*No module named"):
        plugs.extras()

    plugs.extras.cache_clear()


def test_a_service_without_the_package_has_no_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugs, "PACKAGE", "package_that_is_not_there")
    plugs.extras.cache_clear()

    assert plugs.extras() == ()

    plugs.extras.cache_clear()
