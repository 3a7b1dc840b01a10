"""Define the schemas of ladders, ladder rows, ranks, rating changes and strengths."""

from marshmallow import fields, validate

from api import doc
from api.fields import Id, Micro, Points, QueryInt, Rounded, UtcDateTime, View, describe, member_of
from api.games.schemas import GAMES
from api.pagination import PageQuery
from referee.bots.states import BotState
from referee.ladders.kinds import EntryKind

LAST_ACT = 999_999_999


class LadderQuery(PageQuery):
    game = fields.String(validate=validate.OneOf(GAMES))


class StandingQuery(PageQuery):
    as_of = doc.of(QueryInt, "Return the ladder as of this ledger entry (an `as_of_seq`).", low=0, high=LAST_ACT)


class HistoryQuery(PageQuery):
    bot = Id("bot", attribute="bot_id", required=True)


class LadderView(View):
    id = fields.String()
    name = doc.text("The unique name. That of a variant says what differs from the standard.")
    official = doc.flag("Whether this is an official ladder, for which the service makes matches.")
    unlisted = doc.flag("Whether the ladder and its matches are in no list, and bots join it by its id only.")
    daily_matches = doc.integer("Matches a day that the service makes for each bot; null for a variant.", null=True)
    members = doc.integer("Number of bots for which the service makes matches on this ladder; 0 for a variant.")
    game = fields.String()
    options = fields.Dict()
    seats = fields.Integer()
    created_at = UtcDateTime()
    frozen_reason = doc.text(
        "What an audit found wrong; null if nothing. Ratings are frozen until this is corrected.", null=True
    )


class RatedBotView(View):
    bot = fields.String(attribute="bot_id")
    name = fields.String()
    owner = doc.text("Id of the owner's account.", attribute="owner_id")
    owner_name = doc.text("Public name of the owner.")
    status = fields.String(validate=member_of(BotState))
    rating = doc.of(Points, "Rating in points, to one decimal.", "value")
    rating_micro = doc.of(Micro, "The exact rating, in millionths of a point.", "value")
    games = fields.Integer()


class StrengthField(Rounded):
    def __init__(self) -> None:
        text = "Strength of the present version in points, fitted to the newest results regardless of their order. It "
        text += "differs from `rating`; null for the first seconds after the first result of a bot."
        super().__init__(1, allow_none=True, metadata=describe(text))


class StrengthErrorField(Rounded):
    def __init__(self) -> None:
        text = "Half the width of the 95 % interval of `strength`, not of `rating`, in points; null without a strength."
        super().__init__(1, allow_none=True, metadata=describe(text))


class LadderRow(RatedBotView):
    rank = doc.integer("Rank on the ladder. Bots with equal ratings share a rank.")
    strength = StrengthField()
    strength_error = StrengthErrorField()


class LadderPageView(LadderView):
    as_of_seq = doc.integer(
        "The last ledger entry that counts. Pages with the same value are consistent with each other."
    )
    items = fields.List(fields.Nested(LadderRow))
    next = doc.text("The cursor of the next page; null on the last page.", null=True)


class BotRankView(RatedBotView):
    strength = StrengthField()
    strength_error = StrengthErrorField()
    as_of_seq = doc.integer("The last ledger entry of the ladder.", attribute="last_seq")
    rank = doc.integer("Rank on the ladder: one more than the number of bots with a better rating.")
    total = doc.integer("Number of bots on the ladder.")
    owner_best = doc.of(
        Points,
        "Best rating that any bot of this owner had on the ladder in the last 90 days, in points; null if all were "
        "provisional. Use it, not `rating`, to keep strong bots out of a tournament for weak ones.",
        "owner_best",
        null=True,
    )
    changed_seq = doc.integer("The last ledger entry that changed the rating.")


class RatingChangeView(View):
    seq = doc.integer("Number of the ledger entry.")
    kind = doc.text(
        "Kind of entry: a result, or a void of a result.",
        validate=validate.OneOf([EntryKind.RESULT.value, EntryKind.VOID.value]),
    )
    match = doc.text("Id of the match.", attribute="match_id")
    reason = doc.text("Reason for a void; null for a result.", null=True)
    at = UtcDateTime()
    games = doc.integer("Number of the bot's games that count after this entry.")
    version = doc.text("Version of the bot in that match.", null=True)
    version_changed = doc.flag("Whether the version differs from that of the previous result.")
    before = Points("before")
    before_micro = Micro("before")
    after = Points("after")
    after_micro = Micro("after")
