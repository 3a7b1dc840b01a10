"""The page on webhooks: its examples have the form of real messages, its code works, its numbers are current."""

import json
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from referee.accounts.tables import Account
from referee.botclient.address_guard import Policy
from referee.bots import bots
from referee.protocol.signing import Signer, webhook_secret
from referee.workflows.accounts import account_recovery
from referee_extras.notifications import deliveries, inbox, outbox, result_messages, webhooks
from referee_extras.notifications.notification_types import SUBSCRIBABLE_TYPES, TYPES
from referee_extras.notifications.pruned_kinds import OFFERED
from referee_extras.notifications.schemas import NewWebhook
from referee_extras.notifications.states import WebhookState
from referee_extras.notifications.tables import Delivery
from tests.database.tournaments import answer_handshakes, entered, go_on, start
from tests.database.world import World
from tests.surroundings import MASTER_KEY, settings_for

PAGE = (Path(__file__).parents[3] / "docs" / "webhooks.md").read_text()
EXAMPLES = {
    event: json.loads(text) for event, text in re.findall(r"<!-- event: (\S+) -->\n```json\n(.*?)```", PAGE, re.DOTALL)
}
NULLABLE = ("tournament",)  # the page says where


def block(name: str) -> str:
    found = re.search(rf"<!-- {name} -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert found, name
    return found[1]


def form(value: Any) -> Any:
    """Return the form of a body: members and types; for a list, the form of its items."""
    match value:
        case dict():
            return {name: "some or null" if name in NULLABLE else form(inner) for name, inner in value.items()}
        case list():
            forms = [form(inner) for inner in value]
            assert all(one == forms[0] for one in forms)
            return forms[0]
    return type(value).__name__


@pytest.fixture
def verify() -> Callable[..., Any]:
    """Return the function on the page."""
    names: dict[str, Any] = {}
    exec(block("verify"), names)  # the page's own code is what is tested
    message: Callable[..., Any] = names["message"]
    return message


def test_the_code_of_the_page_takes_what_is_signed_and_nothing_else(verify: Callable[..., Any]) -> None:
    old, new, other = (webhook_secret(MASTER_KEY, "whk_1", generation) for generation in (1, 2, 3))
    body = json.dumps(EXAMPLES["ping"]).encode()

    def headers(moment: int) -> dict[str, str]:
        signature = Signer([old, new]).signature("dlv_1", moment, body)
        return {"webhook-id": "dlv_1", "webhook-timestamp": str(moment), "webhook-signature": signature}

    now = int(time.time())
    assert verify(old, headers(now), body) == verify(new, headers(now), body) == EXAMPLES["ping"]
    for refused in [(other, headers(now), body), (old, headers(now), body + b" "), (old, headers(now - 400), body)]:
        with pytest.raises(ValueError, match="not "):
            verify(*refused)


def test_the_tables_of_the_page_are_those_of_the_code(tmp_path: Path) -> None:
    assert set(EXAMPLES) == set(re.findall(r"^\| `([\w.]+)` \|", PAGE, re.MULTILINE)) == set(TYPES)
    assert all(example["type"] == event for event, example in EXAMPLES.items())
    app = Flask("page")
    app.config["POLICY"] = Policy.from_settings(settings_for(tmp_path))
    with app.app_context():
        assert NewWebhook().load(json.loads(block("request")))
    units = {"s": 1, "min": 60, "h": 3600}
    waits = re.findall(r"^\| (\d) \| (\d+) (s|min|h) \|", PAGE, re.MULTILINE)
    assert [(int(number), int(much) * units[unit]) for number, much, unit in waits] == [
        (number, delay_s) for number, delay_s in enumerate(deliveries.DELAYS_S, start=2)
    ]
    for said in (
        f"| webhooks per account | {webhooks.PER_ACCOUNT} |",
        f"| message body | {outbox.MAX_BODY_BYTES // 1024} KiB |",
        f"| concurrent calls to one URL | {deliveries.PER_TARGET}, or {deliveries.PER_FAILING_TARGET} while it fails |",
        f"| pending messages | {deliveries.MAX_QUEUE_LENGTH:,};",
        f"| concurrent calls for one account | {deliveries.PER_ACCOUNT} |",
        f"| deliveries are listed for | {OFFERED['deliveries'].default} |",
        f"is attempted at most {deliveries.VERIFICATION_ATTEMPTS} times",
    ):
        assert said in PAGE.replace("\n", " ")


def test_what_is_sent_has_the_form_of_the_examples_and_is_in_inboxes(world: World) -> None:
    organiser = world.account("organiser")
    tournament_id, (absent, present, third) = entered(world, 3, created_by=organiser)
    with world.database.write() as session:
        owners = [bots.get_bot(session, bot_id).owner_id for bot_id in (absent, present, third)]
        for account_id in (organiser, *owners[:2]):
            webhooks.create(
                session, account_id, "https://hooks.example.org", SUBSCRIBABLE_TYPES
            ).status = WebhookState.ACTIVE

    start(world, tournament_id)
    answer_handshakes(world.database, absent=[absent])
    go_on(world.database, tournament_id)
    (claim,) = world.claim(9)
    world.finish(claim)
    go_on(world.database, tournament_id)
    with world.database.write() as session:
        account_recovery.replace_tokens(session, session.get_one(Account, organiser), account_recovery.BY_CODE)
        account_recovery.make_code(session, organiser, "tok_1")

    with world.database.write() as session:
        result_messages.report_results(session)
        sent = [(delivery.event, json.loads(delivery.body)) for delivery in session.scalars(select(Delivery))]
    counted = Counter(event for event, _ in sent)
    assert counted == {
        **dict.fromkeys(["ping", "tournament.started", "tournament.finished"], 3),
        **dict.fromkeys(["account.recovered", "account.recovery_code_made", "bot.unhealthy", "match.finished"], 1),
    }
    for event, body in sent:
        assert form(body) == form(EXAMPLES[event]), event
    with world.database.read() as session:
        kept = [[entry.event for entry in inbox.list_entries(session, id).items] for id in (*owners, organiser)]
    assert kept == [
        ["tournament.finished", "bot.unhealthy"],
        ["tournament.finished"],  # its match belongs to the tournament
        ["tournament.finished"],  # without a webhook
        ["account.recovery_code_made", "account.recovered", "tournament.finished"],
    ]
