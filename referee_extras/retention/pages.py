"""Add the use of the disk to the operator's page."""

from markupsafe import Markup

from api.pages.page import Pages
from api.pages.page_places import render_section

pages = Pages("retention", __name__, template_folder="templates")  # has no page of its own


def section() -> Markup:
    """Return the section, which its script fills."""
    return render_section("retention/section.html")
