"""Accounts and tokens."""

from marshmallow import fields

from api.fields import Name, Strict, UtcDateTime, member_of
from referee.accounts.roles import Role


class NewAccount(Strict):
    name = Name(required=True)


class NewToken(Strict):
    name = Name(required=True, metadata={"example": "laptop"})


class AccountView(Strict):
    id = fields.String(required=True)
    name = fields.String(required=True)
    role = fields.String(required=True, validate=member_of(Role))
    created_at = UtcDateTime(required=True)


class TokenView(Strict):
    id = fields.String(required=True)
    name = fields.String(required=True)
    hint = fields.String(required=True, metadata={"description": "beginning and end, to tell tokens apart"})
    created_at = UtcDateTime(required=True)
    last_used_at = UtcDateTime(required=True, allow_none=True, metadata={"description": "to the hour"})
    revoked_at = UtcDateTime(required=True, allow_none=True)


class FreshToken(TokenView):
    token = fields.String(required=True, metadata={"description": "shown this once; only a hash of it is kept"})


class FreshAccount(AccountView):
    token = fields.Nested(FreshToken, required=True)
