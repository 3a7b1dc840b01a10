"""Add the use of the disk to the operator's page."""

from flask import render_template
from markupsafe import Markup

from api.pages.page import Pages

pages = Pages("retention", __name__, template_folder="templates")  # has no page of its own


def section() -> Markup:
    """Return the section, which its script fills."""
    return Markup(render_template("retention/section.html"))  # noqa: S704  # the template escapes
