"""Define the schemas of searches and of what they find."""

from marshmallow import fields

from api.fields import View, describe, member_of
from api.pagination import PageQuery
from referee.db.kinds import SearchKind
from referee_extras.search.searching import MAX_QUERY_LENGTH, MAX_QUERY_WORDS


class SearchQuery(PageQuery):
    q = fields.String(
        required=True,
        metadata={
            "maxLength": MAX_QUERY_LENGTH,
            **describe(
                f"Up to {MAX_QUERY_WORDS} words. Case, accents and signs other than letters and digits do not matter."
            ),
        },
    )
    kind = fields.String(validate=member_of(SearchKind), metadata=describe("Return only objects of this kind."))


class FoundView(View):
    kind = fields.String(validate=member_of(SearchKind))
    id = fields.String()
    name = fields.String()
    status = fields.String(allow_none=True, metadata=describe("State of the bot or the tournament; null for an owner."))
    summary = fields.String(allow_none=True, metadata=describe("What the owner says about the bot."))
    owner = fields.String(attribute="owner_id", allow_none=True, metadata=describe("Id of the owner of the bot."))
    owner_name = fields.String(
        attribute="owner", allow_none=True, metadata=describe("Public name of the owner of the bot.")
    )
    games = fields.List(
        fields.String(), metadata=describe("Games of the bot's manifest, the game of the tournament, or none.")
    )
