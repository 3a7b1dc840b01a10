"""Let templates name places, to which extras add HTML."""

from typing import Any

from flask import Flask
from markupsafe import Markup

from referee import plugs
from referee.plugs import PagePlace


def install(app: Flask) -> None:
    """Let templates call ``place``."""
    app.jinja_env.globals["place"] = added_to_place


def added_to_place(name: str, **context: Any) -> list[Markup]:
    """Return the HTML that each extra adds to a place. Strings that are not marked as HTML are escaped."""
    return [Markup.escape(added) for added in plugs.call_at(PagePlace(name), **context)]
