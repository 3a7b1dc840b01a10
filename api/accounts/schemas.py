"""Define the schemas of accounts and tokens."""

from marshmallow import fields, validate

from api.fields import Id, Name, OptionalBody, QueryBool, Strict, StrictInt, UtcDateTime, View, describe, member_of
from api.messages import Length
from api.pagination import PageQuery
from referee.accounts.accounts import MAX_LIFETIME_DAYS
from referee.accounts.roles import Role
from referee.accounts.scopes import MEANINGS, Scope
from referee.db.paging import MAX_PAGE_SIZE
from referee.webhooks.states import NotificationType


class NewAccount(Strict):
    name = Name(required=True)


class NewToken(Strict):
    name = Name(required=True, metadata={"example": "laptop"})
    scopes = fields.List(
        fields.String(validate=member_of(Scope)),
        load_default=lambda: [Scope.ALL.value],
        validate=Length(1, len(Scope)),
        metadata=describe(
            "What the token may do. "
            + " ".join(f"`{scope}`: {meaning[0].lower()}{meaning[1:]}" for scope, meaning in MEANINGS.items())
        ),
    )
    expires_in_days = StrictInt(
        1,
        MAX_LIFETIME_DAYS,
        allow_none=True,
        load_default=None,
        metadata=describe("Days after which the token is no longer accepted; null for a token that never expires."),
    )


class AccountChanges(Strict):
    name = Name(required=True)


class Deletion(Strict):
    name = fields.String(
        required=True,
        validate=Length(1, 64),
        metadata=describe("The present name, to confirm the deletion, which cannot be undone."),
    )


class FormerNameView(View):
    name = fields.String()
    until = UtcDateTime(attribute="ended_at", metadata=describe("When the name was changed."))


class DeletedAccountView(View):
    id = fields.String()
    name = fields.String(metadata=describe("Neutral name that is shown from now on."))
    deleted_at = UtcDateTime()


class AccountView(View):
    id = fields.String()
    name = fields.String()
    role = fields.String(validate=member_of(Role))
    created_at = UtcDateTime()


class TokenView(View):
    id = fields.String()
    name = fields.String()
    hint = fields.String(metadata=describe("Beginning and end of the token, which distinguish it from others."))
    scopes = fields.List(fields.String(validate=member_of(Scope)))
    created_at = UtcDateTime()
    expires_at = UtcDateTime(
        allow_none=True, metadata=describe("Time from which the token is not accepted; null if it never expires.")
    )
    last_used_at = UtcDateTime(
        allow_none=True, metadata=describe("Time of the last use, accurate to an hour; null if never used.")
    )
    revoked_at = UtcDateTime(allow_none=True)


class InboxQuery(PageQuery):
    unread = QueryBool(metadata=describe("Only entries that are unread, or only those that are read."))


class InboxEntryView(View):
    id = fields.String()
    event = fields.String(validate=validate.OneOf([event.value for event in NotificationType]))
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


class FreshToken(TokenView):
    token = fields.String(
        metadata=describe("The token, returned only in this response. The service stores only its hash.")
    )


class FreshAccount(AccountView):
    token = fields.Nested(FreshToken)
