"""Messages for chat services: their format, and names that mention nobody and format nothing."""

import json
from typing import Any

import pytest

from referee.errors import Conflict
from referee.match.canonical import dumps
from referee_extras.notifications import webhooks
from referee_extras.notifications.notification_types import TYPES
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


def test_a_message_to_discord_mentions_nobody_and_links_to_the_page() -> None:
    message = rendered(WebhookKind.DISCORD, "Ada")

    assert message == {
        "content": f"Ada did not answer\\: deadline\n<{URL}/bots/bot_{'0' * 26}>",
        "allowed_mentions": {"parse": []},
    }


def test_a_message_to_slack_is_plain_text_with_a_link() -> None:
    message = rendered(WebhookKind.SLACK, "Ada")

    assert message == {"text": f"Ada did not answer: deadline\n{URL}/bots/bot_{'0' * 26}", "mrkdwn": False}


@pytest.mark.parametrize("name", HOSTILE)
def test_E14_names_in_messages_to_discord_are_escaped(name: str) -> None:
    content = rendered(WebhookKind.DISCORD, name)["content"]
    text = content.rpartition("\n")[0]

    assert "\n" not in text
    assert "@" not in text.replace("@\u200b", "")
    unescaped = text.replace("\\\\", "")
    for sign in "*_~`|>#[]()<:":
        assert unescaped.count(sign) == unescaped.count(f"\\{sign}"), sign


@pytest.mark.parametrize("name", HOSTILE)
def test_E14_names_in_messages_to_slack_are_escaped(name: str) -> None:
    text = rendered(WebhookKind.SLACK, name)["text"].rpartition("\n")[0]

    assert not set("<>\n") & set(text)
    assert "@" not in text.replace("@\u200b", "")
    assert text.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "").count("&") == 0


@pytest.mark.parametrize("kind", [WebhookKind.DISCORD, WebhookKind.SLACK])
@pytest.mark.parametrize("event", list(TYPES))
def test_every_notification_is_rendered_within_the_limits(kind: WebhookKind, event: str) -> None:
    body = dumps({"type": event, "timestamp": "2026-01-31T18:00:05.010Z", "data": {"name": "*" * 15_000}})
    message = json.loads(render_body(kind, body, URL))

    assert 0 < len(message["content" if kind == WebhookKind.DISCORD else "text"]) <= 2_000


def test_what_is_signed_is_sent_unchanged() -> None:
    body = b'{"type":"ping","data":{}}'

    assert render_body(WebhookKind.SIGNED, body, URL) == body


def test_a_webhook_whose_messages_are_not_signed_has_no_secret(world: World) -> None:
    account_id = world.account()
    with world.database.write() as session:
        made = webhooks.create(session, account_id, URL, ["match.finished"], kind=WebhookKind.SLACK)
    with world.database.read() as session:
        assert webhooks.get_webhook(session, made.id).kind == WebhookKind.SLACK
    with pytest.raises(Conflict, match="not signed"), world.database.write() as session:
        webhooks.rotate_secret(session, made.id)
