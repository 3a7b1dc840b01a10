"""Let templates name places, to which extras add HTML."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from flask import Flask, g, render_template
from markupsafe import Markup
from sqlalchemy.orm import Session

from referee import plugs
from referee.db.engine import get_database
from referee.plugs import PagePlace


def install(app: Flask) -> None:
    """Let templates call ``place``."""
    app.jinja_env.globals["place"] = added_to_place


def added_to_place(name: str, **context: Any) -> list[Markup]:
    """Return the HTML that each extra adds to a place. Strings that are not marked as HTML are escaped."""
    return [Markup.escape(added) for added in plugs.call_at(PagePlace(name), _savepoint, **context)]


def render_section(template: str, **context: Any) -> Markup:
    """Return a rendered template for a place. The values in ``context`` are escaped."""
    return Markup(render_template(template, **context))  # noqa: S704  # the template escapes


def _savepoint() -> AbstractContextManager[Any]:
    """Return a savepoint on PostgreSQL, where a statement that fails would end the transaction of the page."""
    session: Session | None = g.get("session") if g else None
    if session is None or not session.in_transaction() or get_database(session).is_sqlite:
        return nullcontext()
    return session.begin_nested()
