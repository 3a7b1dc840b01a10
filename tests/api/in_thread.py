"""Serve the API from a thread of the test's own process, for clients that need no other part of the service."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from werkzeug.serving import WSGIRequestHandler, make_server

from api import create_app
from referee.db.engine import Database
from tests.database.databases import write_upgraded
from tests.database.world import FakeClock, World
from tests.surroundings import settings_for


class _Silent(WSGIRequestHandler):
    def log(self, *_: Any) -> None: ...


@contextmanager
def api_in_thread(folder: Path, **changes: Any) -> Iterator[tuple[str, World]]:
    """Yield the URL of an API with an empty database in ``folder``, and what fills this database."""
    url = write_upgraded(folder / "referee.db")
    server = make_server("127.0.0.1", 0, lambda *_: [], threaded=True, request_handler=_Silent)
    settings = replace(settings_for(folder), public_url=f"http://127.0.0.1:{server.port}", **changes)
    app = server.app = create_app(settings)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    world = World(Database(url, clock=FakeClock()))
    try:
        yield settings.public_url, world
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        world.database.dispose()
        app.extensions["referee.database"].dispose()
