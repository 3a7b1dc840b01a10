"""Define the schemas of the closed months of ladders."""

from marshmallow import fields

from api.fields import Micro, Points, Rounded, UtcDateTime, View, describe
from api.ladders.schemas import StrengthErrorField


class MonthRowView(View):
    rank = fields.Integer(metadata=describe("Rank at the end of the month. Bots with equal ratings share a rank."))
    bot = fields.String(attribute="bot_id")
    name = fields.String(metadata=describe("Name of the bot when the month was closed."))
    owner = fields.String(attribute="owner_id", metadata=describe("Id of the account that owned the bot."))
    owner_name = fields.String(metadata=describe("Public name of the owner when the month was closed."))
    rating = Points("value", metadata=describe("Rating in points, to one decimal."))
    rating_micro = Micro("value", metadata=describe("The exact rating, in millionths of a point."))
    strength = Rounded(
        1,
        allow_none=True,
        metadata=describe(
            "Strength of the version of that time in points, fitted when the month was closed. It differs from "
            "`rating`; null if it was not known."
        ),
    )
    strength_error = StrengthErrorField()
    games = fields.Integer(metadata=describe("Matches that counted until the end of the month."))
    matches = fields.Integer(metadata=describe("Matches of the month that counted."))


class MonthView(View):
    month = fields.String(attribute="name", metadata=describe("The month in UTC, such as `2026-11`."))
    champion = fields.Nested(
        MonthRowView,
        allow_none=True,
        metadata=describe(
            "The best bot that had at least 10 matches in the month and whose rating was not provisional; null if none."
        ),
    )
    bots = fields.Integer(attribute="month.bots", metadata=describe("Number of bots on the ladder."))
    matches = fields.Integer(attribute="month.matches", metadata=describe("Number of results of the month."))
    as_of_seq = fields.Integer(
        attribute="month.as_of_seq",
        metadata=describe("The last ledger entry of the month, from whose ratings the standings follow."),
    )
    closed_at = UtcDateTime(attribute="month.closed_at")


class MonthPageView(MonthView):
    ladder = fields.String(attribute="ladder.id")
    ladder_name = fields.String(attribute="ladder.name")
    game = fields.String(attribute="ladder.game")
    items = fields.List(
        fields.Nested(MonthRowView), metadata=describe("The final standings, best first; at most 10,000 rows.")
    )
    next = fields.String(allow_none=True, metadata=describe("The cursor of the next page; null on the last page."))
