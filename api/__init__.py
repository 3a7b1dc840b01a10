"""Serve the API, the streams and the pages over HTTP."""

import gc

# Imported modules are never freed, and searching them for garbage took a tenth of the start-up time.
gc.set_threshold(10_000, 50, 100)

from api.app import create_app  # noqa: E402  # the line above speeds up this import

__all__ = ["create_app"]
