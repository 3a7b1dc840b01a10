"""Add the inbox and the webhooks to the account page, and the number of unread notifications to every page."""

from flask import render_template
from markupsafe import Markup

from api.pages.page import Pages
from api.pages.static_files import url_of_static
from referee_extras.notifications.notification_types import SUBSCRIBABLE_TYPES

pages = Pages("notifications", __name__, template_folder="templates")  # no pages of its own


def show_inbox() -> Markup:
    """Return the section of the inbox. Its script fills it."""
    return Markup(render_template("notifications/inbox.html"))  # noqa: S704  # the template escapes


def show_webhooks() -> Markup:
    """Return the section of the webhooks. Its script fills it."""
    return Markup(render_template("notifications/webhooks.html", types=SUBSCRIBABLE_TYPES))  # noqa: S704


def name_counter() -> str:
    """Return the URL of the script that shows the number of unread notifications."""
    return url_of_static("notifications/inbox_count.js")
