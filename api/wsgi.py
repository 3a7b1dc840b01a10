"""What gunicorn serves: ``gunicorn api.wsgi:app``."""

import atexit

from api.app import create_app
from referee.settings import Settings

app = create_app(Settings.load())
atexit.register(app.extensions["referee.database"].dispose)
