"""Add a form for the names of a class to the operator's page."""

from flask import render_template
from markupsafe import Markup

from api.pages.page import Pages

pages = Pages("classes", __name__, template_folder="templates")  # has no page of its own


def section() -> Markup:
    """Return the section with the form."""
    return Markup(render_template("classes/section.html"))  # noqa: S704  # the template escapes
