"""Add a form for the names of a class to the operator's page."""

from markupsafe import Markup

from api.pages.page import Pages
from api.pages.page_places import render_section

pages = Pages("classes", __name__, template_folder="templates")  # has no page of its own


def section() -> Markup:
    """Return the section with the form."""
    return render_section("classes/section.html")
