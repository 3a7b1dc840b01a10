"""Create the application for gunicorn: ``gunicorn api.wsgi:app``."""

import atexit
import gc
import resource

from gunicorn.errors import AppImportError  # type: ignore[import-untyped]  # ships no types

from api import request_log
from api.app import create_app
from api.streams import connections
from referee.db.engine import Database
from referee.db.revisions import is_usable_at_start
from referee.runtime import logging_setup
from referee.runtime.starting import load_settings_at_start

logging_setup.configure()
_, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))  # each viewer of a stream needs a file descriptor
settings = load_settings_at_start()
if settings is None:
    raise AppImportError("The settings cannot be used; see the log.")
if not is_usable_at_start(Database.from_settings(settings)):
    raise AppImportError("The database cannot be used; see the log.")  # makes gunicorn exit instead of retrying
app = create_app(settings)
atexit.register(app.extensions["referee.database"].dispose)
atexit.register(request_log.close, app)
atexit.register(connections.close, app)  # runs first: handlers run in reverse order
gc.freeze()  # exclude all objects created so far from garbage collection
