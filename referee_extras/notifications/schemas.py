"""Define the schemas of webhooks, their deliveries and inboxes, which only their owners see."""

from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, validate

from api import fields
from api.fields import (
    Address,
    Changes,
    Id,
    OptionalBody,
    QueryBool,
    Strict,
    StrictBool,
    UtcDateTime,
    Utf8,
    View,
)
from api.messages import Length
from api.pagination import PageQuery
from referee.db.paging import MAX_PAGE_SIZE
from referee_extras.notifications.masked_urls import is_masked
from referee_extras.notifications.notification_types import SUBSCRIBABLE_TYPES, TYPES
from referee_extras.notifications.states import DeliveryState, WebhookKind, WebhookState


class Choice(fields.List):
    """Accept the types of notifications that a webhook receives."""

    def __init__(self, *, required: bool = False) -> None:
        super().__init__(
            fields.OneOf(SUBSCRIBABLE_TYPES),
            "Types of notifications to send. Pings are sent only on request.",
            required=required,
            validate=Length(1, len(SUBSCRIBABLE_TYPES)),
        )


class HookAddress(Address):
    """Accept the URL of a webhook. Refuse the masked form in which it is shown, which would replace the real one."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> str:
        if isinstance(value, str) and is_masked(value):
            raise ValidationError(
                "This URL is masked. Give the whole URL, or leave the field out to keep the present one."
            )
        return super()._deserialize(value, attr, data, **kwargs)


class NewWebhook(Strict):
    kind = fields.OneOf(
        WebhookKind,
        "Format of the messages. `signed`: Standard Webhooks. `discord` and `slack`: a text for the incoming "
        "webhook of a channel there.",
        load_default=WebhookKind.SIGNED.value,
    )
    url = HookAddress(required=True)
    events = Choice(required=True)


class WebhookChanges(Changes):
    url = HookAddress("After a change of the URL, the webhook receives only a ping until it has answered that ping.")
    events = Choice()
    enabled = StrictBool("False disables the webhook. True sends a ping; if it succeeds, the webhook becomes active.")


class WebhookView(View):
    id = fields.String()
    kind = fields.OneOf(WebhookKind)
    url = fields.String(
        "For `discord` and `slack` masked, since the URL is a password: only its host and its end.",
        attribute="masked_url",
    )
    events = fields.List(fields.String(validate=validate.OneOf(SUBSCRIBABLE_TYPES)))
    status = fields.OneOf(WebhookState)
    status_reason = fields.String(allow_none=True)
    failing_since = UtcDateTime(
        "Time since which deliveries have been failing. After a day, the webhook is disabled.", allow_none=True
    )
    previous_secret_until = UtcDateTime(
        "Time until which messages are signed with both secrets; null if there is only one.", allow_none=True
    )
    created_at = UtcDateTime()


class SecretWebhookView(WebhookView):
    secret = fields.String(
        "The secret (`whsec_…`) that signs every message, returned only in this response; null for the kinds "
        "`discord` and `slack`, whose messages are not signed.",
        allow_none=True,
    )


class DeliveryView(View):
    id = fields.String("Id of the delivery, sent as `webhook-id`, the same in each attempt.")
    webhook = fields.String(attribute="webhook_id")
    event = fields.OneOf(TYPES)
    status = fields.OneOf(DeliveryState)
    attempts = fields.Integer()
    response_status = fields.Integer("HTTP status of the last response; null if there was none.", allow_none=True)
    last_error = fields.String("Why the last attempt failed; null if it did not fail.", allow_none=True)
    next_attempt_at = UtcDateTime(allow_none=True)
    created_at = UtcDateTime()
    delivered_at = UtcDateTime(allow_none=True)
    body = Utf8("The exact body that is sent, at most 16 KiB.")


class InboxQuery(PageQuery):
    unread = QueryBool("Only entries that are unread, or only those that are read.")


class InboxEntryView(View):
    id = fields.String()
    event = fields.OneOf(TYPES)
    text = fields.String("A sentence for people. It may contain names that others chose.")
    path = fields.String("Path of the page that shows more.")
    data = fields.Dict("The data that webhooks get for this type.", attribute="payload")
    created_at = UtcDateTime()
    read_at = UtcDateTime("When it was marked as read; null if it is unread.", allow_none=True)


class ReadEntries(OptionalBody):
    ids = fields.List(
        Id("inb"),
        "Entries to mark; without them, all are marked.",
        allow_none=True,
        load_default=None,
        validate=Length(1, MAX_PAGE_SIZE),
    )


class UnreadView(View):
    unread = fields.Integer("Number of unread entries.")
