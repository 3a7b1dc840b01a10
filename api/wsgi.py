"""What gunicorn serves: ``gunicorn api.wsgi:app``."""

import atexit

from api.app import create_app
from referee import journal
from referee.settings import Settings

journal.keep()
app = create_app(Settings.load())
atexit.register(app.extensions["referee.database"].dispose)
