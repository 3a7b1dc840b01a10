"""Define the schemas of accounts and tokens."""

from marshmallow import ValidationError, fields, validate, validates_schema

from api.fields import (
    Name,
    PlainText,
    Strict,
    StrictBool,
    StrictInt,
    UtcDateTime,
    View,
    describe,
    member_of,
)
from api.messages import Length
from referee.accounts.accounts import MAX_LIFETIME_DAYS, is_secret_text
from referee.accounts.entry_consent import EntryConsent
from referee.accounts.recovery_codes import CODE_PREFIX
from referee.accounts.roles import Role
from referee.accounts.scopes import MEANINGS, Scope

ACCOUNT = PlainText(64, required=True, metadata=describe("Id or present name of the account."))


class NewAccount(Strict):
    name = Name(required=True)


class NewDeviceToken(Strict):
    name = Name(required=True, metadata={"example": "Firefox on Linux 2026-11-27"})


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


ENTRY_CONSENT = describe(
    "Whether organisers may enter your bots in tournaments: `everybody` (without asking), `ask` (only when you accept) "
    "or `nobody`. With `ask`, an operator who created the account for a class need not ask."
)


class AccountChanges(Strict):
    name = Name()
    entry_consent = fields.String(validate=member_of(EntryConsent), metadata=ENTRY_CONSENT)

    @validates_schema
    def holds_something(self, changes: dict[str, object], **_: object) -> None:
        if not changes:
            raise ValidationError("Give at least one field to change.")


class Deletion(Strict):
    name = fields.String(
        required=True,
        validate=Length(1, 64),
        metadata=describe("The present name, to confirm the deletion, which cannot be undone."),
    )


class AccountDeletion(Deletion):
    end_tournaments = StrictBool(
        load_default=False,
        metadata=describe("Whether tournaments that only you run are cancelled even if others have entered bots."),
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
    entry_consent = fields.String(validate=member_of(EntryConsent), metadata=ENTRY_CONSENT)
    created_at = UtcDateTime()


class OwnAccountView(AccountView):
    recovery_code_created_at = UtcDateTime(
        allow_none=True, metadata=describe("When the recovery code was made; null if the account has none.")
    )


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
    parent_id = fields.String(
        allow_none=True,
        metadata=describe("Id of the token that made this device token, which ends with it; null for other tokens."),
    )


class FreshToken(TokenView):
    token = fields.String(
        metadata=describe("The token, returned only in this response. The service stores only its hash.")
    )


RECOVERY_CODE = fields.String(
    metadata=describe(
        "With this code and the name of the account, its owner gets a new token if all are lost. Returned only in this "
        "response, so keep it, apart from the token. The service stores only its hash."
    )
)


class FreshAccount(AccountView):
    token = fields.Nested(FreshToken)
    recovery_code = RECOVERY_CODE


class RecoveryCodeView(View):
    recovery_code = RECOVERY_CODE
    created_at = UtcDateTime(attribute="recovery_code_created_at")


class RecoveryChallengeView(View):
    challenge = fields.String()
    expires_at = UtcDateTime()


def _check_recovery_code(text: str) -> None:
    if not is_secret_text(text, CODE_PREFIX):
        raise ValidationError("This is not a recovery code (rcv_…). Check it for typing errors.")


class RecoveryByCode(Strict):
    account = ACCOUNT
    recovery_code = fields.String(
        required=True,
        validate=_check_recovery_code,
        metadata={"pattern": f"^{CODE_PREFIX}[0-9A-Za-z]{{49}}$"},
    )


class RecoveryByBot(Strict):
    account = ACCOUNT
    bot = PlainText(64, required=True, metadata=describe("Id or name of a bot of this account."))
    challenge = fields.String(
        required=True,
        validate=validate.Regexp(r"[0-9a-f.]{1,200}\Z", error="Must be a challenge as it was returned."),
    )
    proof = fields.String(
        required=True,
        validate=validate.Regexp(r"[0-9a-f]{128}\Z", error="Must be 128 hexadecimal digits, 0 to 9 and a to f."),
        metadata=describe(
            "The hexadecimal HMAC-SHA512 of the text `referee-account-recovery|` and the challenge, under the bytes of "
            "the bot's secret (base64 after `whsec_`)."
        ),
    )
