"""Define the schemas of webhooks, their deliveries and inboxes, which only their owners see."""

from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, fields, validate

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
    describe,
    member_of,
)
from api.messages import Length
from api.pagination import PageQuery
from referee.db.paging import MAX_PAGE_SIZE
from referee_extras.notifications.masked_urls import is_masked
from referee_extras.notifications.notification_types import SUBSCRIBABLE_TYPES, TYPES
from referee_extras.notifications.states import DeliveryState, WebhookKind, WebhookState


class Choice(fields.List[str]):
    """Accept the types of notifications that a webhook receives."""

    def __init__(self, *, required: bool = False) -> None:
        super().__init__(
            fields.String(validate=validate.OneOf(SUBSCRIBABLE_TYPES)),
            required=required,
            validate=Length(1, len(SUBSCRIBABLE_TYPES)),
            metadata=describe("Types of notifications to send. Pings are sent only on request."),
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
    kind = fields.String(
        load_default=WebhookKind.SIGNED.value,
        validate=member_of(WebhookKind),
        metadata=describe(
            "Format of the messages. `signed`: Standard Webhooks. `discord` and `slack`: a text for the incoming "
            "webhook of a channel there."
        ),
    )
    url = HookAddress(required=True)
    events = Choice(required=True)


class WebhookChanges(Changes):
    url = HookAddress(
        metadata=describe(
            "After a change of the URL, the webhook receives only a ping until it has answered that ping."
        )
    )
    events = Choice()
    enabled = StrictBool(
        metadata=describe("False disables the webhook. True sends a ping; if it succeeds, the webhook becomes active.")
    )


class WebhookView(View):
    id = fields.String()
    kind = fields.String(validate=member_of(WebhookKind))
    url = fields.String(
        attribute="masked_url",
        metadata=describe("For `discord` and `slack` masked, since the URL is a password: only its host and its end."),
    )
    events = fields.List(fields.String(validate=validate.OneOf(SUBSCRIBABLE_TYPES)))
    status = fields.String(validate=member_of(WebhookState))
    status_reason = fields.String(allow_none=True)
    failing_since = UtcDateTime(
        allow_none=True,
        metadata=describe("Time since which deliveries have been failing. After a day, the webhook is disabled."),
    )
    previous_secret_until = UtcDateTime(
        allow_none=True,
        metadata=describe("Time until which messages are signed with both secrets; null if there is only one."),
    )
    created_at = UtcDateTime()


class SecretWebhookView(WebhookView):
    secret = fields.String(
        allow_none=True,
        metadata=describe(
            "The secret (`whsec_…`) that signs every message, returned only in this response; null for the kinds "
            "`discord` and `slack`, whose messages are not signed."
        ),
    )


class DeliveryView(View):
    id = fields.String(metadata=describe("Id of the delivery, sent as `webhook-id`, the same in each attempt."))
    webhook = fields.String(attribute="webhook_id")
    event = fields.String(validate=member_of(TYPES))
    status = fields.String(validate=member_of(DeliveryState))
    attempts = fields.Integer()
    response_status = fields.Integer(
        allow_none=True, metadata=describe("HTTP status of the last response; null if there was none.")
    )
    last_error = fields.String(
        allow_none=True, metadata=describe("Why the last attempt failed; null if it did not fail.")
    )
    next_attempt_at = UtcDateTime(allow_none=True)
    created_at = UtcDateTime()
    delivered_at = UtcDateTime(allow_none=True)
    body = Utf8(metadata=describe("The exact body that is sent, at most 16 KiB."))


class InboxQuery(PageQuery):
    unread = QueryBool(metadata=describe("Only entries that are unread, or only those that are read."))


class InboxEntryView(View):
    id = fields.String()
    event = fields.String(validate=member_of(TYPES))
    text = fields.String(metadata=describe("A sentence for people. It may contain names that others chose."))
    path = fields.String(metadata=describe("Path of the page that shows more."))
    data = fields.Dict(attribute="payload", metadata=describe("The data that webhooks get for this type."))
    created_at = UtcDateTime()
    read_at = UtcDateTime(allow_none=True, metadata=describe("When it was marked as read; null if it is unread."))


class ReadEntries(OptionalBody):
    ids = fields.List(
        Id("inb"),
        allow_none=True,
        load_default=None,
        validate=Length(1, MAX_PAGE_SIZE),
        metadata=describe("Entries to mark; without them, all are marked."),
    )


class UnreadView(View):
    unread = fields.Integer(metadata=describe("Number of unread entries."))
