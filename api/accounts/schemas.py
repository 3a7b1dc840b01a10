"""Define the schemas of accounts and tokens."""

from marshmallow import fields

from api.fields import Name, Strict, StrictInt, UtcDateTime, View, describe, member_of
from api.messages import Length
from referee.accounts.accounts import MAX_LIFETIME_DAYS
from referee.accounts.roles import Role
from referee.accounts.scopes import MEANINGS, Scope


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


class FreshToken(TokenView):
    token = fields.String(
        metadata=describe("The token, returned only in this response. The service stores only its hash.")
    )


class FreshAccount(AccountView):
    token = fields.Nested(FreshToken)
