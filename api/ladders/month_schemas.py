"""Define the schemas of the closed months of ladders."""

from api import fields
from api.ladders.schemas import RatingErrorField


class MonthRowView(fields.View):
    rank = fields.Integer("Rank at the end of the month. Bots with equal ratings share a rank.")
    bot = fields.String(attribute="bot_id")
    name = fields.String("Name of the bot when the month was closed.")
    owner = fields.String("Id of the account that owned the bot.", attribute="owner_id")
    owner_name = fields.String("Public name of the owner when the month was closed.")
    rating = fields.Points("value", "Rating in points, to one decimal.")
    rating_micro = fields.Micro("value", "The exact rating, in millionths of a point.")
    rating_error = RatingErrorField()
    games = fields.Integer("Matches that counted until the end of the month.")
    matches = fields.Integer("Matches of the month that counted.")


class MonthView(fields.View):
    month = fields.String("The month in UTC, such as `2026-11`.", attribute="name")
    champion = fields.Nested(
        MonthRowView,
        "The best bot that had at least 10 matches in the month and whose rating was not provisional; null if none.",
        allow_none=True,
    )
    bots = fields.Integer("Number of bots on the ladder.", attribute="month.bots")
    matches = fields.Integer("Number of results of the month.", attribute="month.matches")
    as_of_seq = fields.Integer(
        "The last ledger entry of the month, from whose ratings the standings follow.", attribute="month.as_of_seq"
    )
    closed_at = fields.UtcDateTime(attribute="month.closed_at")


class MonthPageView(MonthView):
    ladder = fields.String(attribute="ladder.id")
    ladder_name = fields.String(attribute="ladder.name")
    game = fields.String(attribute="ladder.game")
    items = fields.List(fields.Nested(MonthRowView), "The final standings, best first; at most 10,000 rows.")
    next = fields.String("The cursor of the next page; null on the last page.", allow_none=True)
