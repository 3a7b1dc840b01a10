"""Define the schemas of what owners gain from each other."""

from marshmallow import fields

from api.fields import Rounded, View, describe


class ExchangeView(View):
    owner = fields.String(attribute="owner_id", metadata=describe("Id of the account whose bots gained."))
    owner_name = fields.String()
    loser = fields.String(
        attribute="loser_id",
        allow_none=True,
        metadata=describe("Id of the account whose bots lost; null for the house players."),
    )
    loser_name = fields.String(allow_none=True)
    encounters = fields.Integer(metadata=describe("How often a bot of one met a bot of the other, or a house player."))
    points = Rounded(
        1,
        metadata=describe(
            "What the one gained from the other by the rating formula, before the daily caps. An owner who lost to the "
            "house players has a negative number."
        ),
    )
    chance = Rounded(
        1,
        metadata=describe("How many points chance explains: the standard deviation of the gain if ratings are right."),
    )
    deviation = Rounded(2, metadata=describe("`points` divided by `chance`; more than 4 deserves a look."))


class ExchangePageView(View):
    ladder = fields.String(attribute="id")
    ladder_name = fields.String(attribute="name")
    month = fields.String(metadata=describe("The month in UTC, such as `2026-11`."))
    items = fields.List(
        fields.Nested(ExchangeView), metadata=describe("Pairs of owners, those that chance explains least first.")
    )
    next = fields.String(allow_none=True, metadata=describe("The cursor of the next page; null on the last page."))
