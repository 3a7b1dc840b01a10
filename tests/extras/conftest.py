"""Let tests of extras start the service as the tests of the API do."""

from collections.abc import Callable

from sqlalchemy import Engine, event

from tests.api.conftest import admin as admin
from tests.api.conftest import apps as apps
from tests.api.conftest import mine as mine
from tests.api.conftest import no_connection_in_writes as no_connection_in_writes
from tests.api.conftest import organiser as organiser
from tests.api.conftest import owner as owner
from tests.api.conftest import record_folder as record_folder
from tests.api.conftest import service as service
from tests.api.conftest import settings as settings
from tests.api.conftest import start as start
from tests.api.conftest import theirs as theirs


def statements_of(work: Callable[[], object]) -> list[str]:
    """Return the first words of the statements on any database that ``work`` causes."""
    seen: list[str] = []

    def note(*said: object) -> None:
        seen.append(str(said[2]).split()[0])

    event.listen(Engine, "before_cursor_execute", note)
    try:
        work()
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    return [word for word in seen if word not in ("PRAGMA", "BEGIN")]
