"""Add the inbox and the webhooks to the account page, and the number of unread notifications to every page."""

from markupsafe import Markup

from api.pages.page import Pages
from api.pages.page_places import render_section
from api.pages.static_files import url_of_static
from referee_extras.notifications.notification_types import SUBSCRIBABLE_TYPES

pages = Pages("notifications", __name__, template_folder="templates")  # no pages of its own


def show_inbox() -> Markup:
    """Return the section of the inbox. Its script fills it."""
    return render_section("notifications/inbox.html")


def show_webhooks() -> Markup:
    """Return the section of the webhooks. Its script fills it."""
    return render_section("notifications/webhooks.html", types=SUBSCRIBABLE_TYPES)


def name_counter() -> str:
    """Return the URL of the script that shows the number of unread notifications."""
    return url_of_static("notifications/inbox_count.js")
