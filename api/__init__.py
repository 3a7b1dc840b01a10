"""The HTTP side of the service: API, streams and pages."""

import gc

# Imported modules stay: collecting garbage among them took a tenth of the start-up time.
gc.set_threshold(10_000, 50, 100)

from api.app import create_app  # noqa: E402  # the line above speeds up this import

__all__ = ["create_app"]
