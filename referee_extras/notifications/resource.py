"""Create, edit and delete webhooks; list and repeat their deliveries."""

from typing import Any

from flask import current_app

from api import etags, limits
from api.auth import account, current_account
from api.extended import Extended
from api.views import Resource, current_session, master_key
from referee.accounts.scopes import Scope
from referee.db.paging import Page
from referee.protocol.signing import webhook_secret
from referee_extras.notifications import deliveries, webhooks
from referee_extras.notifications.presets import render_body
from referee_extras.notifications.schemas import (
    DeliveryView,
    NewWebhook,
    SecretWebhookView,
    WebhookChanges,
    WebhookView,
)
from referee_extras.notifications.states import WebhookKind
from referee_extras.notifications.tables import Delivery, Webhook

resource = Resource("webhooks", "/api/v1", "Webhooks: notifications about your bots and tournaments.")


@resource.post(
    "/webhooks",
    account,
    SecretWebhookView,
    wakes_runner=True,
    body=NewWebhook,
    limit=limits.count_outgoing_call,
    status=201,
    secret=True,
    scope=Scope.ALL,
)
def create(new_webhook: dict[str, Any]) -> Any:
    """Create a webhook

    A webhook is `unverified` until its URL has answered a ping with 2xx. The secret is returned only in this
    response.
    """
    kind = WebhookKind(new_webhook.pop("kind"))
    return attach_secret(webhooks.create(current_session(), current_account().id, **new_webhook, kind=kind))


@resource.get("/webhooks", account, items=WebhookView)
def list_webhooks(query: dict[str, Any]) -> Any:
    """List your webhooks, newest first

    Disabled webhooks are listed, too. Secrets are not shown.
    """
    return webhooks.list_webhooks(current_session(), current_account().id, **query)


@resource.get('/webhooks/<id("whk"):webhook_id>', account, WebhookView)
def show(webhook_id: str) -> Any:
    """Get one of your webhooks

    `status` says whether it is active, and `status_reason` why not. Webhooks of other accounts are a 404.
    """
    webhook = get_own_webhook(webhook_id)
    etags.split_etag(_edit_state(webhook))
    return webhook


@resource.patch(
    '/webhooks/<id("whk"):webhook_id>',
    account,
    WebhookView,
    wakes_runner=True,
    body=WebhookChanges,
    limit=limits.count_outgoing_call,
    limit_when=lambda changes: "url" in changes or changes.get("enabled", False),
    scope=Scope.ALL,
)
def edit(changes: dict[str, Any], webhook_id: str) -> Any:
    """Edit a webhook: its URL, its notification types, whether it is enabled

    After a change of the URL, and after it is enabled again, a webhook is `unverified` until it has answered a ping.
    """
    webhook = get_own_webhook(webhook_id)
    etags.require_edited_match(_edit_state(webhook))
    return webhooks.edit(current_session(), webhook.id, revision=webhook.revision, **changes)


@resource.delete('/webhooks/<id("whk"):webhook_id>', account, scope=Scope.ALL)
def remove(webhook_id: str) -> None:
    """Delete a webhook

    Pending deliveries are dropped, and the list of its deliveries is deleted.
    """
    webhooks.remove(current_session(), get_own_webhook(webhook_id).id)


@resource.post(
    '/webhooks/<id("whk"):webhook_id>/rotate-secret', account, SecretWebhookView, secret=True, scope=Scope.ALL
)
def rotate_secret(webhook_id: str) -> Any:
    """Give a webhook a new secret

    For a day, messages are signed with both the old and the new secret. The secret is returned only in this response.
    """
    return attach_secret(webhooks.rotate_secret(current_session(), get_own_webhook(webhook_id).id))


@resource.post(
    '/webhooks/<id("whk"):webhook_id>/ping',
    account,
    DeliveryView,
    wakes_runner=True,
    limit=limits.count_outgoing_call,
    status=202,
    scope=Scope.ALL,
)
def ping(webhook_id: str) -> Any:
    """Send a ping

    If the URL answers with 2xx, an unverified webhook becomes active. The ping replaces a ping that is still pending.
    """
    webhook = get_own_webhook(webhook_id)
    return present_delivery(webhooks.ping(current_session(), webhook.id), webhook)


@resource.get('/webhooks/<id("whk"):webhook_id>/deliveries', account, items=DeliveryView)
def list_deliveries(query: dict[str, Any], webhook_id: str) -> Any:
    """List the deliveries of a webhook, sent and pending, newest first

    Deliveries are kept for 30 days.
    """
    webhook = get_own_webhook(webhook_id)
    found = deliveries.list_deliveries(current_session(), webhook.id, **query)
    return Page([present_delivery(delivery, webhook) for delivery in found.items], found.next)


@resource.post(
    '/deliveries/<id("dlv"):delivery_id>/redeliver',
    account,
    DeliveryView,
    wakes_runner=True,
    limit=limits.count_outgoing_call,
    status=202,
    scope=Scope.ALL,
)
def redeliver(delivery_id: str) -> Any:
    """Repeat a delivery

    The delivery must have succeeded or failed for good, and the webhook must be active. Id and body stay the same.
    """
    delivery = deliveries.redeliver(current_session(), delivery_id, account_id=current_account().id)
    return present_delivery(delivery, get_own_webhook(delivery.webhook_id))


def get_own_webhook(webhook_id: str) -> Webhook:
    """Return the webhook. Raise ``NotFound`` if it is not the caller's."""
    return webhooks.get_webhook(current_session(), webhook_id, account_id=current_account().id)


def _edit_state(webhook: Webhook) -> dict[str, Any]:
    """Return what decides about an edit: the revision, since different URLs may look the same once they are masked."""
    return {"id": webhook.id, "revision": webhook.revision}


def attach_secret(webhook: Webhook) -> Extended:
    if webhook.kind != WebhookKind.SIGNED:
        return Extended(webhook, secret=None)
    return Extended(webhook, secret=webhook_secret(master_key(), webhook.id, webhook.secret_generation))


def present_delivery(delivery: Delivery, webhook: Webhook) -> Extended:
    """Return a delivery with the body that is sent."""
    public_url = current_app.config["SETTINGS"].public_url
    return Extended(delivery, body=render_body(webhook.kind, delivery.body, public_url))
