"""Define the schemas of head-to-head results of two bots."""

from marshmallow import fields

from api.fields import Rounded, View, describe


class SameCardsView(View):
    difference = Rounded(
        4,
        attribute="difference.value",
        metadata=describe("Mean points per match of the bot minus those of the opponent, with the same cards."),
    )
    error = Rounded(
        4,
        attribute="difference.error",
        allow_none=True,
        metadata=describe("Standard error of the difference; null if there is only one deal group."),
    )
    hands = fields.Integer(metadata=describe("Number of seats of deals that both bots had."))
    groups = fields.Integer(metadata=describe("Number of deal groups of these seats."))


class HeadToHeadView(View):
    matches = fields.Integer(metadata=describe("Matches in which both bots played."))
    ahead = fields.Integer(metadata=describe("Those in which the bot was placed ahead of the opponent."))
    level = fields.Integer(metadata=describe("Those in which their placements were equal."))
    behind = fields.Integer(metadata=describe("Those in which the bot was placed behind the opponent."))
    same_cards = fields.Nested(
        SameCardsView,
        allow_none=True,
        metadata=describe(
            "Comparison on the same seats of shared deals, at the same table or at different ones; null if the bots "
            "never had the same cards."
        ),
    )


class GameHeadToHeadView(HeadToHeadView):
    game = fields.String()


class NamedBotView(View):
    bot = fields.String(attribute="id")
    name = fields.String()


class ComparisonView(View):
    bot = fields.Nested(NamedBotView)
    opponent = fields.Nested(NamedBotView)
    total = fields.Nested(HeadToHeadView, metadata=describe("Results in all games."))
    games = fields.List(fields.Nested(GameHeadToHeadView), metadata=describe("Results by game, most played first."))
    complete = fields.Boolean(
        attribute="is_complete", metadata=describe("False if only the last 1,000 matches of both bots are counted.")
    )
