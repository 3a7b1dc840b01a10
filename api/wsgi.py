"""What gunicorn serves: ``gunicorn api.wsgi:app``."""

import atexit
import gc
import resource

from api.app import create_app
from api.streams import connections
from referee import journal
from referee.settings import Settings

journal.keep()
_, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))  # a viewer of an event costs one
app = create_app(Settings.load())
atexit.register(app.extensions["referee.database"].dispose)
atexit.register(connections.close, app)  # first: the last registered is the first called
gc.freeze()  # all this stays: garbage is looked for in what came later, and not at the end either
