"""Define the schemas of accounts and tokens."""

from marshmallow import fields

from api.fields import Name, Strict, UtcDateTime, View, describe, member_of
from referee.accounts.roles import Role


class NewAccount(Strict):
    name = Name(required=True)


class NewToken(Strict):
    name = Name(required=True, metadata={"example": "laptop"})


class AccountView(View):
    id = fields.String()
    name = fields.String()
    role = fields.String(validate=member_of(Role))
    created_at = UtcDateTime()


class TokenView(View):
    id = fields.String()
    name = fields.String()
    hint = fields.String(metadata=describe("Beginning and end of the token, which distinguish it from others."))
    created_at = UtcDateTime()
    last_used_at = UtcDateTime(
        allow_none=True, metadata=describe("Time of the last use, accurate to an hour; null if never used.")
    )
    revoked_at = UtcDateTime(allow_none=True)


class FreshToken(TokenView):
    token = fields.String(
        metadata=describe("The token, returned only in this response. The service stores only its hash.")
    )


class FreshAccount(AccountView):
    token = fields.Nested(FreshToken)
