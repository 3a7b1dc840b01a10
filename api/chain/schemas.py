"""Define the schemas of public keys and of the chain of signatures."""

from marshmallow import ValidationError, fields, validates_schema

from api.fields import Id, QueryBool, QueryInt, UtcDateTime, View, describe
from api.pagination import PageQuery
from referee.match.signing_keys import ALGORITHM

LAST = 999_999_999


class ChainQuery(PageQuery):
    after = QueryInt(low=0, high=LAST, load_default=0, metadata=describe("Only entries with numbers above this one."))
    match = Id("mat", attribute="match_id", load_default=None, metadata=describe("Only the entry of this match."))
    head = QueryBool(load_default=False, metadata=describe("Only the head: the last entry of the chain."))

    @validates_schema
    def check_combination(self, query: dict[str, object], **_: object) -> None:
        """Refuse filters that exclude each other."""
        if sum(map(bool, (query.get("after"), query.get("match_id"), query.get("head")))) > 1:
            raise ValidationError("Pass only one of after, match and head.", "head")


class KeyView(View):
    id = fields.String(metadata=describe("First 16 hex digits of the SHA-256 of the key's 32 bytes."))
    algorithm = fields.String(metadata={"enum": [ALGORITHM], "description": "Ed25519, as in RFC 8032."})
    public_key = fields.String(metadata=describe("The 32 bytes of the public key, in hex."))
    current = fields.Boolean(metadata=describe("Whether logs are signed with it now; others signed earlier logs."))
    since = UtcDateTime(allow_none=True, metadata=describe("When it was first used; null if it was not used yet."))
    until = UtcDateTime(allow_none=True, metadata=describe("When another key followed; null if none did."))
    last_number = fields.Integer(
        allow_none=True,
        metadata=describe("The last entry of the chain that it signed. A later one with it is forged."),
    )


class SignatureView(View):
    number = fields.Integer(metadata=describe("Number of the entry in the chain, from 1."))
    match = fields.String(metadata=describe("Id of the match."))
    log = fields.String(metadata=describe("SHA-256 of the last row of its log, the reveal, in hex."))
    previous = fields.String(
        allow_none=True, metadata=describe("`digest` of the entry before; null in the first entry.")
    )
    key = fields.String(metadata=describe("Id of the key."))
    signature = fields.String(metadata=describe("Ed25519 signature in hex."))
    digest = fields.String(
        metadata=describe("SHA-256 of the line of the signature in the downloaded log, without its line end, in hex.")
    )
