"""Define the schemas of public keys and of the chain of signatures."""

from marshmallow import ValidationError, validates_schema

from api import fields
from api.fields import Id, QueryBool, QueryInt, UtcDateTime, View
from api.pagination import PageQuery
from referee.match.signing_keys import ALGORITHM

LAST = 999_999_999


class ChainQuery(PageQuery):
    after = QueryInt(0, LAST, "Only entries with numbers above this one.", load_default=0)
    match = Id("mat", "Only the entry of this match.", attribute="match_id", load_default=None)
    head = QueryBool("Only the head: the last entry of the chain.", load_default=False)

    @validates_schema
    def check_combination(self, query: dict[str, object], **_: object) -> None:
        """Refuse filters that exclude each other."""
        if sum(map(bool, (query.get("after"), query.get("match_id"), query.get("head")))) > 1:
            raise ValidationError("Pass only one of after, match and head.", "head")


class KeyView(View):
    id = fields.String("First 16 hex digits of the SHA-256 of the key's 32 bytes.")
    algorithm = fields.OneOf([ALGORITHM], "Ed25519, as in RFC 8032.")
    public_key = fields.String("The 32 bytes of the public key, in hex.")
    current = fields.Boolean("Whether logs are signed with it now; others signed earlier logs.")
    since = UtcDateTime("When it was first used; null if it was not used yet.", allow_none=True)
    until = UtcDateTime("When another key followed; null if none did.", allow_none=True)
    last_number = fields.Integer(
        "The last entry of the chain that it signed. A later one with it is forged.", allow_none=True
    )


class SignatureView(View):
    number = fields.Integer("Number of the entry in the chain, from 1.")
    match = fields.String("Id of the match.")
    log = fields.String("SHA-256 of the last row of its log, the reveal, in hex.")
    previous = fields.String("`digest` of the entry before; null in the first entry.", allow_none=True)
    key = fields.String("Id of the key.")
    signature = fields.String("Ed25519 signature in hex.")
    digest = fields.String("SHA-256 of the line of the signature in the downloaded log, without its line end, in hex.")
