"""The service over HTTP."""

from api.app import create_app

__all__ = ["create_app"]
