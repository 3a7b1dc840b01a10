"""The worker of gunicorn while it loads the application."""

import threading
from types import SimpleNamespace

from api.gunicorn_worker import TimeoutWorker
from referee.settings import Settings


def test_a_worker_that_loads_slowly_tells_gunicorn_that_it_lives(settings: Settings) -> None:
    told = threading.Semaphore(0)
    heard: list[bool] = []

    def load() -> SimpleNamespace:
        heard.extend(told.acquire(timeout=60) for _ in range(2))
        return SimpleNamespace(config={"SETTINGS": settings})

    worker = TimeoutWorker.__new__(TimeoutWorker)
    worker.notify, worker.app, worker.cfg = told.release, SimpleNamespace(wsgi=load), SimpleNamespace(threads=1)
    worker.load_wsgi()

    assert heard == [True, True]
    assert "loading" not in [thread.name for thread in threading.enumerate()]
