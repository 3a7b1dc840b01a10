"""Extras plug in by a list: what fails is left out and counted, and what cannot be imported is named."""

import sqlite3
import sys
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace

import pytest
from click.testing import CliRunner
from flask import Flask, g
from markupsafe import Markup
from sqlalchemy import select, text, update
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

import referee_extras
from api.pages.page_places import added_to_place
from api.pages.static_files import CACHE_FOREVER, url_of_static
from api.requests import DOCS_POLICY
from referee import plugs
from referee.accounts.tables import Account
from referee.cli import main
from referee.db.engine import Database
from referee.db.reporting import notify
from referee.db.revisions import is_usable_at_start
from referee.errors import Unavailable
from referee.events import AccountDeleted, Event
from referee.metrics import process_metrics
from referee.plugs import BrokenExtra, Extra, PagePlace
from tests.api.conftest import Person, Service
from tests.database.world import World

Install = Callable[..., None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return a function that installs, in place of all extras, one for each that plugs in something at a point."""

    def put(point: PagePlace | type[Event] | str, **functions: object) -> None:
        for name, function in functions.items():
            module = ModuleType(f"referee_extras.{name}")
            reference = f"referee_extras.{name}:function"
            extra = Extra(
                name=name,
                places={point: reference} if isinstance(point, PagePlace) else {},
                events={point: reference} if isinstance(point, type) else {},
                export=reference if point == "export" else None,
            )
            vars(module).update(EXTRA=extra, function=function)
            monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setattr(referee_extras, "EXTRAS", tuple(functions))
        plugs.extras.cache_clear()

    # A service of an earlier test in this process may still report its counts now and then.
    monkeypatch.setattr(process_metrics, "plugs", SimpleNamespace(take_failures=dict))
    plugs.take_failures()
    yield put
    plugs.extras.cache_clear()
    plugs.take_failures()


def broken() -> object:
    raise LookupError("planted")


def test_extras_add_to_a_place_in_the_order_of_the_list(install: Install) -> None:
    install(PagePlace.HEAD, second=lambda: Markup("<b>2</b>"), none=lambda: None, first=lambda: "<1>")

    assert added_to_place("head") == [Markup("<b>2</b>"), Markup("&lt;1&gt;")]
    assert added_to_place("page_links") == []


def test_an_extra_that_fails_at_a_place_is_left_out_logged_and_counted(
    install: Install, caplog: pytest.LogCaptureFixture
) -> None:
    install(PagePlace.HEAD, bad=broken, good=lambda: "here")

    assert added_to_place("head") == [Markup("here")]

    assert [(record.msg, vars(record)["extra"], vars(record)["point"]) for record in caplog.records] == [
        ("extra_failed", "bad", "head")
    ]
    assert plugs.take_failures() == {("bad", "head"): 1}
    assert plugs.take_failures() == {}


def test_an_extra_that_fails_in_a_transaction_undoes_only_its_own_work(install: Install, world: World) -> None:
    owner = world.account()

    def rename(session: Session, deleted: AccountDeleted) -> None:
        session.execute(update(Account).where(Account.id == deleted.account).values(name="of the extra"))
        session.flush()

    def fail(session: Session, deleted: AccountDeleted) -> None:
        rename(session, deleted)
        session.execute(text("SELECT no_such_column FROM accounts"))

    def note(session: Session, deleted: AccountDeleted) -> None:
        names.append(session.scalars(select(Account.name).where(Account.id == deleted.account)).one())

    names: list[str] = []
    install(AccountDeleted, bad=fail, good=note)
    with world.database.write() as session:
        session.execute(update(Account).where(Account.id == owner).values(name="of the service"))
        notify(session, AccountDeleted(account=owner))

    with world.database.read() as session:
        assert session.get_one(Account, owner).name == "of the service"
    assert names == ["of the service"]
    assert plugs.take_failures() == {("bad", "AccountDeleted"): 1}


def test_an_outage_of_the_database_in_an_extra_fails_the_whole_transaction(install: Install, world: World) -> None:
    def fail(session: Session, deleted: AccountDeleted) -> None:
        raise OperationalError("UPDATE", {}, sqlite3.OperationalError("database is locked"))

    install(AccountDeleted, bad=fail)
    with pytest.raises(Unavailable), world.database.write() as session:
        notify(session, AccountDeleted(account="acc_x"))

    assert plugs.take_failures() == {}


def test_a_statement_of_an_extra_that_fails_at_a_place_ends_no_transaction(install: Install, world: World) -> None:
    def fail() -> None:
        g.session.execute(text("SELECT no_such_column FROM accounts"))

    install(PagePlace.HEAD, bad=fail, good=lambda: "here")
    with Flask("page").app_context(), world.database.read() as session:
        g.session = session
        assert session.scalar(select(1)) == 1
        assert added_to_place("head") == [Markup("here")]
        assert session.scalar(select(1)) == 1


def test_a_page_is_shown_without_what_an_extra_fails_to_add(install: Install, service: Service) -> None:
    client = service.anonymous()
    before = client.get("/tournaments")
    install(PagePlace.TOURNAMENTS_TOP, bad=broken, good=lambda: Markup("<p>added</p>"))

    page = client.get("/tournaments")

    assert (before.status_code, page.status_code) == (200, 200)
    assert ("<p>added</p>" in before.text, "<p>added</p>" in page.text) == (False, True)
    assert plugs.take_failures() == {("bad", "tournaments_top"): 1}


def test_an_export_names_the_section_of_an_extra_that_fails(install: Install, owner: Person) -> None:
    install("export", bad={"rows": (Account, lambda *_: broken())})

    exported = owner.get("/accounts/me/export").get_json()

    assert (exported["rows"], exported["missing_sections"]) == ([], ["rows"])
    assert exported["accounts"][0]["id"] == owner.id
    assert plugs.take_failures() == {("bad", "export"): 1}


def test_files_of_extras_are_below_their_names_and_in_the_version_of_all_static_files(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    for extra in plugs.extras():
        for kind in ("templates", "static"):
            assert {path.name for path in (extra.folder / kind).glob("*")} <= {extra.name}
    files = [f"{extra.name}/{path.name}" for extra in plugs.extras() for path in (extra.folder / "static").glob("*/*")]
    with service.app.test_request_context():
        paths = [url_of_static(name) for name in files]

    assert len({path.split("/")[2] for path in paths}) <= 1
    for path in paths:
        sent = service.anonymous().get(path)
        assert (sent.status_code, sent.headers["Cache-Control"]) == (200, CACHE_FOREVER)
        assert sent.headers["Content-Security-Policy"] == DOCS_POLICY


def test_a_place_that_does_not_exist_is_an_error(install: Install) -> None:
    with pytest.raises(ValueError, match="no_place"):
        added_to_place("no_place")


def test_an_extra_that_cannot_be_imported_is_named_and_refuses_the_start(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, database: Database
) -> None:
    monkeypatch.setattr(referee_extras, "EXTRAS", ("nowhere",))
    plugs.extras.cache_clear()

    with pytest.raises(BrokenExtra, match=r"The extra 'nowhere' cannot be used: .*No module named"):
        plugs.extras()

    assert not is_usable_at_start(database)
    assert "nowhere" in caplog.text
    helped = CliRunner().invoke(main, ["--help"])
    assert helped.exit_code == 1
    assert helped.stderr.startswith("Error: The extra 'nowhere' cannot be used: ")
    plugs.extras.cache_clear()


def test_a_service_without_the_package_has_no_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugs, "PACKAGE", "package_that_is_not_there")
    plugs.extras.cache_clear()

    assert plugs.extras() == ()

    plugs.extras.cache_clear()
