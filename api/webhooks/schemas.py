"""Webhooks: what their owners set and see, and what was sent to them. Nobody else sees any of it."""

from marshmallow import ValidationError, fields, validate, validates_schema

from api.fields import Address, Strict, StrictBool, UtcDateTime, Utf8
from referee.webhooks.outbox import NOTIFICATION_TYPES
from referee.webhooks.tables import DELIVERY_STATES, WEBHOOK_STATES
from referee.webhooks.webhooks import SUBSCRIBABLE_TYPES


class Choice(fields.List[str]):
    """The events an owner wants to be told."""

    def __init__(self, *, required: bool = False) -> None:
        super().__init__(
            fields.String(validate=validate.OneOf(SUBSCRIBABLE_TYPES)),
            required=required,
            validate=validate.Length(1, len(SUBSCRIBABLE_TYPES)),
            metadata={"description": "what it is told; pings come besides, when asked for"},
        )


class NewWebhook(Strict):
    url = Address(required=True)
    events = Choice(required=True)


class WebhookChanges(Strict):
    url = Address(metadata={"description": "another address is told nothing but a ping until it has answered that"})
    events = Choice()
    enabled = StrictBool(metadata={"description": "false disables it; true sends a ping, whose answer makes it active"})

    @validates_schema
    def holds_something(self, changes: dict[str, object], **_: object) -> None:
        if not changes:
            raise ValidationError("give at least one field to change")


class WebhookView(Strict):
    id = fields.String(required=True)
    url = fields.String(required=True)
    events = fields.List(fields.String(validate=validate.OneOf(SUBSCRIBABLE_TYPES)), required=True)
    status = fields.String(required=True, validate=validate.OneOf(WEBHOOK_STATES))
    status_reason = fields.String(required=True, allow_none=True)
    failing_since = UtcDateTime(
        required=True, allow_none=True, metadata={"description": "after a day of failing it is disabled"}
    )
    previous_secret_until = UtcDateTime(
        required=True, allow_none=True, metadata={"description": "until then both secrets sign"}
    )
    created_at = UtcDateTime(required=True)


class SecretWebhookView(WebhookView):
    secret = fields.String(required=True, metadata={"description": "whsec_…: signs every message; shown this once"})


class DeliveryView(Strict):
    id = fields.String(required=True, metadata={"description": "sent as webhook-id, the same at each attempt"})
    webhook = fields.String(attribute="webhook_id", required=True)
    event = fields.String(required=True, validate=validate.OneOf(NOTIFICATION_TYPES))
    status = fields.String(required=True, validate=validate.OneOf(DELIVERY_STATES))
    attempts = fields.Integer(required=True)
    response_status = fields.Integer(
        required=True, allow_none=True, metadata={"description": "HTTP status of the last answer, null without one"}
    )
    last_error = fields.String(required=True, allow_none=True, metadata={"description": "why the last attempt failed"})
    next_attempt_at = UtcDateTime(required=True, allow_none=True)
    created_at = UtcDateTime(required=True)
    delivered_at = UtcDateTime(required=True, allow_none=True)
    body = Utf8(required=True, metadata={"description": "the exact body, at most 16 KiB"})
