"""Provide the SDK for bot authors in Python, which handles HTTP, signatures and JSON. See `docs/sdk.md`."""

from referee_extras.sdk.bot import Bot, Question, decides
from referee_extras.sdk.replaying import Replayed, replay
from referee_extras.sdk.rules_pages import members
from referee_extras.sdk.serving import serve, serving
from referee_extras.sdk.views import View

__all__ = ["Bot", "Question", "Replayed", "View", "decides", "members", "replay", "serve", "serving"]
