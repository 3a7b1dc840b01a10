"""Define the schemas of the closed months of ladders."""

from marshmallow import fields

from api import doc
from api.fields import Micro, Points, Rounded, UtcDateTime, View
from api.ladders.schemas import StrengthErrorField


class MonthRowView(View):
    rank = doc.integer("Rank at the end of the month. Bots with equal ratings share a rank.")
    bot = fields.String(attribute="bot_id")
    name = doc.text("Name of the bot when the month was closed.")
    owner = doc.text("Id of the account that owned the bot.", attribute="owner_id")
    owner_name = doc.text("Public name of the owner when the month was closed.")
    rating = doc.of(Points, "Rating in points, to one decimal.", "value")
    rating_micro = doc.of(Micro, "The exact rating, in millionths of a point.", "value")
    strength = doc.of(
        Rounded,
        "Strength of the version of that time in points, fitted when the month was closed. It differs from "
        "`rating`; null if it was not known.",
        1,
        null=True,
    )
    strength_error = StrengthErrorField()
    games = doc.integer("Matches that counted until the end of the month.")
    matches = doc.integer("Matches of the month that counted.")


class MonthView(View):
    month = doc.text("The month in UTC, such as `2026-11`.", attribute="name")
    champion = doc.nested(
        "The best bot that had at least 10 matches in the month and whose rating was not provisional; null if none.",
        MonthRowView,
        null=True,
    )
    bots = doc.integer("Number of bots on the ladder.", attribute="month.bots")
    matches = doc.integer("Number of results of the month.", attribute="month.matches")
    as_of_seq = doc.integer(
        "The last ledger entry of the month, from whose ratings the standings follow.", attribute="month.as_of_seq"
    )
    closed_at = UtcDateTime(attribute="month.closed_at")


class MonthPageView(MonthView):
    ladder = fields.String(attribute="ladder.id")
    ladder_name = fields.String(attribute="ladder.name")
    game = fields.String(attribute="ladder.game")
    items = doc.listing("The final standings, best first; at most 10,000 rows.", fields.Nested(MonthRowView))
    next = doc.text("The cursor of the next page; null on the last page.", null=True)
