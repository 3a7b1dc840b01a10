"""Messages for chat services: their format, and names that mention nobody and format nothing."""

import json
from typing import Any

import pytest

from referee.errors import Conflict
from referee.match.canonical import dumps
from referee_extras.notifications import webhooks
from referee_extras.notifications.notification_types import TYPES, describe_notification
from referee_extras.notifications.presets import render_body
from referee_extras.notifications.states import WebhookKind
from tests.database.world import World

URL = "https://referee.example.org"
HOSTILE = (
    "@everyone",
    "@here <@123> <@&456> <#789>",
    "<!channel> <!subteam^S1|x>",
    "[click](https://evil.example)",
    "**bold** `code` ~~gone~~ ||hidden|| > quote\n# title",
    "<https://evil.example|Referee> & \\<",
)


def rendered(kind: WebhookKind, name: str) -> dict[str, Any]:
    data = {"bot": f"bot_{'0' * 26}", "name": name, "tournament": None, "reason": "deadline"}
    body = dumps({"type": "bot.unhealthy", "timestamp": "2026-01-31T18:00:05.010Z", "data": data})
    message: dict[str, Any] = json.loads(render_body(kind, body, URL))
    return message


def test_a_message_links_to_the_page_and_what_is_signed_is_sent_unchanged() -> None:
    page, body = f"{URL}/bots/bot_{'0' * 26}", b'{"type":"ping","data":{}}'

    discord = {"content": f"Ada did not answer\\: deadline\n<{page}>", "allowed_mentions": {"parse": []}}
    assert rendered(WebhookKind.DISCORD, "Ada") == discord
    slack = {"text": f"Ada did not answer: deadline\n{page}", "mrkdwn": False}
    assert rendered(WebhookKind.SLACK, "Ada") == slack
    assert render_body(WebhookKind.SIGNED, body, URL) == body


@pytest.mark.parametrize("name", HOSTILE)
def test_E14_names_in_messages_are_escaped(name: str) -> None:
    content = rendered(WebhookKind.DISCORD, name)["content"]
    text = content.rpartition("\n")[0]

    assert "\n" not in text
    assert "@" not in text.replace("@\u200b", "")
    unescaped = text.replace("\\\\", "")
    for sign in "*_~`|>#[]()<:":
        assert unescaped.count(sign) == unescaped.count(f"\\{sign}"), sign

    text = rendered(WebhookKind.SLACK, name)["text"].rpartition("\n")[0]

    assert not set("<>\n") & set(text)
    assert "@" not in text.replace("@\u200b", "")
    assert text.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "").count("&") == 0


@pytest.mark.parametrize("event", list(TYPES))
def test_every_notification_has_a_sentence_within_the_limits_even_without_members(event: str) -> None:
    body = dumps({"type": event, "timestamp": "2026-01-31T18:00:05.010Z", "data": {"name": "*" * 15_000}})
    described = describe_notification(event, {})

    assert described.text
    assert described.path.startswith("/")
    for kind, member in ((WebhookKind.DISCORD, "content"), (WebhookKind.SLACK, "text")):
        assert 0 < len(json.loads(render_body(kind, body, URL))[member]) <= 2_000


def test_a_webhook_whose_messages_are_not_signed_has_no_secret(world: World) -> None:
    account_id = world.account()
    with world.database.write() as session:
        made = webhooks.create(session, account_id, URL, ["match.finished"], kind=WebhookKind.SLACK)
    with world.database.read() as session:
        assert webhooks.get_webhook(session, made.id).kind == WebhookKind.SLACK
    with pytest.raises(Conflict, match="not signed"), world.database.write() as session:
        webhooks.rotate_secret(session, made.id)
