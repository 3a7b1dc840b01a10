"""Mask the URLs of chat webhooks. Everybody who knows such a URL can write to the channel, so it is a password."""

from typing import Final
from urllib.parse import unquote, urlsplit

from referee_extras.notifications.states import WebhookKind

MASK: Final = "…"
_SHOWN_END: Final = 4  # last characters, which distinguish the webhooks of a service
_CHAT_HOSTS: Final = ("discord.com", "discordapp.com", "hooks.slack.com")  # also of signed JSON
_SHORTEST: Final = 16  # a shorter path shows none of its characters


def mask_url(kind: WebhookKind, url: str) -> str:
    """Return the URL of a webhook as its owner sees it. For a chat service, this is only its host and its end."""
    parts = urlsplit(url)
    host = f".{parts.hostname}".rstrip(".")
    if kind == WebhookKind.SIGNED and not host.endswith(tuple(f".{chat_host}" for chat_host in _CHAT_HOSTS)):
        return url
    end = parts.path[-_SHOWN_END:] if len(parts.path) >= _SHORTEST else ""
    return f"{parts.scheme}://{parts.netloc}/{MASK}{end}"


def is_masked(text: str) -> bool:
    """Return whether the text is a masked URL, which is of no use as an address."""
    return MASK in unquote(text)
