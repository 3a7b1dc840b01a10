"""What gunicorn serves: ``gunicorn api.wsgi:app``."""

import atexit
import gc
import resource

from gunicorn.errors import AppImportError  # type: ignore[import-untyped]  # ships no types

from api.app import create_app
from api.streams import connections
from referee.db.engine import Database
from referee.db.revisions import usable_at_start
from referee.runtime import logging_setup
from referee.settings import Settings

logging_setup.configure()
_, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))  # a viewer of an event costs one
settings = Settings.load()
if not usable_at_start(Database.from_settings(settings)):
    raise AppImportError("the database cannot be used")  # ends gunicorn instead of trying it again
app = create_app(settings)
atexit.register(app.extensions["referee.database"].dispose)
atexit.register(connections.close, app)  # first: the last registered is the first called
gc.freeze()  # all this stays: garbage is looked for in what came later, and not at the end either
