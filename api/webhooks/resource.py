"""Create, edit and delete webhooks; list and repeat their deliveries."""

from typing import Any

from api import etags, limits
from api.auth import current_account
from api.pagination import PageQuery, envelope, list_of, read_cursor
from api.presentation import Extended
from api.views import Resource, current_session, master_key
from api.webhooks.schemas import DeliveryView, NewWebhook, SecretWebhookView, WebhookChanges, WebhookView
from referee.protocol.signing import webhook_secret
from referee.webhooks import deliveries, webhooks
from referee.webhooks.tables import Webhook

resource = Resource("webhooks", "/api/v1", "Webhooks: notifications about your bots and tournaments.")


@resource.route("POST", "/webhooks")
@resource.owner
@resource.wakes_runner
@resource.body(NewWebhook)
@resource.limited(limits.count_check)
@resource.idempotent
@resource.response(SecretWebhookView, 201, secret=True)
def create(new_webhook: dict[str, Any]) -> Any:
    """Create a webhook

    It is `unverified` until its URL has answered a ping with 2xx. The secret is returned only in this response.
    """
    return attach_secret(
        webhooks.create(current_session(), current_account().id, new_webhook["url"], new_webhook["events"])
    )


@resource.route("GET", "/webhooks")
@resource.owner
@resource.query(PageQuery)
@resource.reads
@resource.response(list_of(WebhookView))
def list_webhooks(query: dict[str, Any]) -> Any:
    """List your webhooks, newest first"""
    found = webhooks.list_webhooks(
        current_session(), current_account().id, limit=query["limit"], cursor=read_cursor(query)
    )
    return envelope(found, query)


@resource.route("GET", '/webhooks/<id("whk"):webhook_id>')
@resource.owner
@resource.reads
@resource.response(WebhookView)
def show(webhook_id: str) -> Any:
    """Get one of your webhooks"""
    return get_own_webhook(webhook_id)


@resource.route("PATCH", '/webhooks/<id("whk"):webhook_id>')
@resource.owner
@resource.wakes_runner
@resource.body(WebhookChanges)
@resource.limited(limits.count_check, when=lambda changes: "url" in changes or changes.get("enabled", False))
@resource.conditional
@resource.writes
@resource.response(WebhookView)
def edit(changes: dict[str, Any], webhook_id: str) -> Any:
    """Edit a webhook: its URL, its notification types, enabled or disabled

    With a new URL, and when it is enabled again, it is `unverified` until it has answered a ping.
    """
    webhook = get_own_webhook(webhook_id)
    etags.require_match(WebhookView, webhook)
    return webhooks.edit(current_session(), webhook.id, revision=webhook.revision, **changes)


@resource.route("DELETE", '/webhooks/<id("whk"):webhook_id>')
@resource.owner
@resource.writes
@resource.response(None, 204)
def remove(webhook_id: str) -> None:
    """Delete a webhook

    Pending deliveries are dropped, and the list of its deliveries is deleted.
    """
    webhooks.remove(current_session(), get_own_webhook(webhook_id).id)


@resource.route("POST", '/webhooks/<id("whk"):webhook_id>/rotate-secret')
@resource.owner
@resource.idempotent
@resource.response(SecretWebhookView, secret=True)
def rotate_secret(webhook_id: str) -> Any:
    """Give a webhook a new secret

    For a day, messages are signed with both the old and the new secret. The secret is returned only in this response.
    """
    return attach_secret(webhooks.rotate_secret(current_session(), get_own_webhook(webhook_id).id))


@resource.route("POST", '/webhooks/<id("whk"):webhook_id>/ping')
@resource.owner
@resource.wakes_runner
@resource.limited(limits.count_check)
@resource.idempotent
@resource.response(DeliveryView, 202)
def ping(webhook_id: str) -> Any:
    """Send a ping

    If the URL answers with 2xx, an unverified webhook becomes active. This ping replaces one that is still pending.
    """
    return webhooks.ping(current_session(), get_own_webhook(webhook_id).id)


@resource.route("GET", '/webhooks/<id("whk"):webhook_id>/deliveries')
@resource.owner
@resource.query(PageQuery)
@resource.reads
@resource.response(list_of(DeliveryView))
def list_deliveries(query: dict[str, Any], webhook_id: str) -> Any:
    """List the deliveries of a webhook, sent and pending, newest first

    Deliveries are kept for 30 days.
    """
    found = deliveries.list_deliveries(
        current_session(), get_own_webhook(webhook_id).id, limit=query["limit"], cursor=read_cursor(query)
    )
    return envelope(found, query)


@resource.route("POST", '/deliveries/<id("dlv"):delivery_id>/redeliver')
@resource.owner
@resource.wakes_runner
@resource.limited(limits.count_check)
@resource.idempotent
@resource.response(DeliveryView, 202)
def redeliver(delivery_id: str) -> Any:
    """Repeat a delivery

    For a delivery that succeeded or failed for good, to an active webhook. Id and body stay the same.
    """
    return deliveries.redeliver(current_session(), delivery_id, account_id=current_account().id)


def get_own_webhook(webhook_id: str) -> Webhook:
    """Return the webhook. Raise ``NotFound`` if it is not the caller's."""
    return webhooks.get_webhook(current_session(), webhook_id, account_id=current_account().id)


def attach_secret(webhook: Webhook) -> Extended:
    return Extended(webhook, secret=webhook_secret(master_key(), webhook.id, webhook.secret_generation))
