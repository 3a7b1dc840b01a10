"""Define the schemas of accounts and tokens."""

from marshmallow import ValidationError, validate

from api import fields
from api.fields import Changes, Name, PlainText, Strict, StrictBool, StrictInt, UtcDateTime, View
from api.messages import Length
from referee.accounts.accounts import MAX_LIFETIME_DAYS, is_secret_text
from referee.accounts.entry_consent import EntryConsent
from referee.accounts.recovery_codes import CODE_PREFIX
from referee.accounts.roles import Role
from referee.accounts.scopes import MEANINGS, Scope

ACCOUNT = PlainText(64, "Id or present name of the account.", required=True)


class NewAccount(Strict):
    name = Name(required=True)


class NewDeviceToken(Strict):
    name = Name(required=True, metadata={"example": "Firefox on Linux 2026-11-27"})


class NewToken(Strict):
    name = Name(required=True, metadata={"example": "laptop"})
    scopes = fields.List(
        fields.OneOf(Scope),
        "What the token may do. "
        + " ".join(f"`{scope}`: {meaning[0].lower()}{meaning[1:]}" for scope, meaning in MEANINGS.items()),
        load_default=lambda: [Scope.ALL.value],
        validate=Length(1, len(Scope)),
    )
    expires_in_days = StrictInt(
        1,
        MAX_LIFETIME_DAYS,
        "Days after which the token is no longer accepted; null for a token that never expires.",
        allow_none=True,
        load_default=None,
    )


ENTRY_CONSENT = (
    "Whether organisers may enter your bots in tournaments: `everybody` (without asking), `ask` (only when you accept) "
    "or `nobody`. With `ask`, an operator who created the account for a class need not ask."
)


class AccountChanges(Changes):
    name = Name()
    entry_consent = fields.OneOf(EntryConsent, ENTRY_CONSENT)


class Deletion(Strict):
    name = fields.String(
        "The present name, to confirm the deletion, which cannot be undone.", required=True, validate=Length(1, 64)
    )


class AccountDeletion(Deletion):
    end_tournaments = StrictBool(
        "Whether tournaments that only you run are cancelled even if others have entered bots.", load_default=False
    )


class FormerNameView(View):
    name = fields.String()
    until = UtcDateTime("When the name was changed.", attribute="ended_at")


class DeletedAccountView(View):
    id = fields.String()
    name = fields.String("Neutral name that is shown from now on.")
    deleted_at = UtcDateTime()


class AccountView(View):
    id = fields.String()
    name = fields.String()
    role = fields.OneOf(Role)
    entry_consent = fields.OneOf(EntryConsent, ENTRY_CONSENT)
    created_at = UtcDateTime()


class OwnAccountView(AccountView):
    recovery_code_created_at = UtcDateTime(
        "When the recovery code was made; null if the account has none.", allow_none=True
    )


class TokenView(View):
    id = fields.String()
    name = fields.String()
    hint = fields.String("Beginning and end of the token, which distinguish it from others.")
    scopes = fields.List(fields.OneOf(Scope))
    created_at = UtcDateTime()
    expires_at = UtcDateTime("Time from which the token is not accepted; null if it never expires.", allow_none=True)
    last_used_at = UtcDateTime("Time of the last use, accurate to an hour; null if never used.", allow_none=True)
    revoked_at = UtcDateTime(allow_none=True)
    parent_id = fields.String(
        "Id of the token that made this device token, which ends with it; null for other tokens.", allow_none=True
    )


class FreshToken(TokenView):
    token = fields.String("The token, returned only in this response. The service stores only its hash.")


RECOVERY_CODE = fields.String(
    "With this code and the name of the account, its owner gets a new token if all are lost. Returned only in this "
    "response, so keep it, apart from the token. The service stores only its hash."
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
    bot = PlainText(64, "Id or name of a bot of this account.", required=True)
    challenge = fields.String(
        required=True,
        validate=validate.Regexp(r"[0-9a-f.]{1,200}\Z", error="Must be a challenge as it was returned."),
    )
    proof = fields.String(
        "The hexadecimal HMAC-SHA512 of the text `referee-account-recovery|` and the challenge, under the bytes of "
        "the bot's secret (base64 after `whsec_`).",
        required=True,
        validate=validate.Regexp(r"[0-9a-f]{128}\Z", error="Must be 128 hexadecimal digits, 0 to 9 and a to f."),
    )
