"""The service over HTTP."""

import gc

# What is imported stays: to look through it for garbage again and again took a tenth of the time to start.
gc.set_threshold(10_000, 50, 100)

from api.app import create_app  # noqa: E402  # by the line above it is imported sooner

__all__ = ["create_app"]
