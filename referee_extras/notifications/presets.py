"""Render notifications for chat services in their own message formats.

Names and reasons were chosen by others. They are escaped, so that they neither mention anybody nor format anything.
"""

import json
import re
from typing import Final

from referee.match.canonical import dumps
from referee_extras.notifications.notification_types import describe_notification
from referee_extras.notifications.states import WebhookKind

MAX_TEXT_LENGTH: Final = 800  # of the sentence before it is escaped; Discord accepts 2,000 characters in all
_NO_MENTION: Final = "@\N{ZERO WIDTH SPACE}"
_DISCORD_SIGNS: Final = re.compile(r"([\\*_~`|>#\[\]()<:+\-!])")  # signs that begin formatting, mentions or links
_SLACK_SIGNS: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def render_body(kind: WebhookKind, body: bytes, public_url: str) -> bytes:
    """Return the body to send to a webhook of this kind. ``body`` is the message in the format of signed webhooks.

    ``public_url`` is the address of the service, to which the message links.
    """
    if kind == WebhookKind.SIGNED:
        return body
    message = json.loads(body)
    described = describe_notification(message["type"], message["data"])
    text, link = " ".join(described.text.split())[:MAX_TEXT_LENGTH], f"{public_url}{described.path}"
    if kind == WebhookKind.DISCORD:
        content = f"{escape_discord(text)}\n<{link}>"
        return dumps({"content": content, "allowed_mentions": {"parse": []}})
    return dumps({"text": f"{escape_slack(text)}\n{link}", "mrkdwn": False})


def escape_discord(text: str) -> str:
    """Return text that Discord shows as it is: without Markdown, links and mentions."""
    return _DISCORD_SIGNS.sub(r"\\\1", text).replace("@", _NO_MENTION)


def escape_slack(text: str) -> str:
    """Return text that Slack shows as it is: without links and mentions."""
    return "".join(_SLACK_SIGNS.get(sign, sign) for sign in text).replace("@", _NO_MENTION)
