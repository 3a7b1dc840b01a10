"""Define the schemas of ladders, ladder rows, ranks and rating changes."""

from api import fields
from api.games.schemas import GAMES
from api.pagination import PageQuery
from referee.bots.states import BotState
from referee.ladders.kinds import EntryKind

LAST_ACT = 999_999_999


class LadderQuery(PageQuery):
    game = fields.OneOf(GAMES)


class StandingQuery(PageQuery):
    as_of = fields.QueryInt(0, LAST_ACT, "Return the ladder as of this ledger entry (an `as_of_seq`).")


class HistoryQuery(PageQuery):
    bot = fields.Id("bot", attribute="bot_id", required=True)


class LadderView(fields.View):
    id = fields.String()
    name = fields.String("The unique name. That of a variant says what differs from the standard.")
    official = fields.Boolean("Whether this is an official ladder, for which the service makes matches.")
    unlisted = fields.Boolean("Whether the ladder and its matches are in no list, and bots join it by its id only.")
    daily_matches = fields.Integer(
        "Matches a day that the service makes for each bot; null for a variant.", allow_none=True
    )
    members = fields.Integer("Number of bots for which the service makes matches on this ladder; 0 for a variant.")
    game = fields.String()
    options = fields.Dict()
    seats = fields.Integer()
    created_at = fields.UtcDateTime()
    frozen_reason = fields.String(
        "What an audit found wrong; null if nothing. Ratings are frozen until this is corrected.", allow_none=True
    )


class RatedBotView(fields.View):
    bot = fields.String(attribute="bot_id")
    name = fields.String()
    owner = fields.String("Id of the owner's account.", attribute="owner_id")
    owner_name = fields.String("Public name of the owner.")
    status = fields.OneOf(BotState)
    rating = fields.Points("value", "Rating in points, to one decimal.")
    rating_micro = fields.Micro("value", "The exact rating, in millionths of a point.")
    games = fields.Integer()


class RatingErrorField(fields.Rounded):
    def __init__(self) -> None:
        text = "The ± of `rating`: half the width of its 95 % interval, in points; null for the first seconds after "
        text += "the first result of a bot."
        super().__init__(1, text, attribute="error", allow_none=True)


class LadderRow(RatedBotView):
    rank = fields.Integer("Rank on the ladder. Bots with equal ratings share a rank.")
    rating_error = RatingErrorField()


class LadderPageView(LadderView):
    as_of_seq = fields.Integer(
        "The last ledger entry that counts. Pages with the same value are consistent with each other."
    )
    items = fields.List(fields.Nested(LadderRow))
    next = fields.String("The cursor of the next page; null on the last page.", allow_none=True)


class BotRankView(RatedBotView):
    rating_error = RatingErrorField()
    as_of_seq = fields.Integer("The last ledger entry of the ladder.", attribute="last_seq")
    rank = fields.Integer("Rank on the ladder: one more than the number of bots with a better rating.")
    total = fields.Integer("Number of bots on the ladder.")
    owner_best = fields.Points(
        "owner_best",
        "Best rating that any bot of this owner had on the ladder in the last 90 days, in points; null if all were "
        "provisional. Use it, not `rating`, to keep strong bots out of a tournament for weak ones.",
        allow_none=True,
    )
    changed_seq = fields.Integer("The last ledger entry that changed the rating.")


class RatingChangeView(fields.View):
    seq = fields.Integer("Number of the ledger entry.")
    kind = fields.OneOf(
        [EntryKind.RESULT.value, EntryKind.VOID.value], "Kind of entry: a result, or a void of a result."
    )
    match = fields.String("Id of the match.", attribute="match_id")
    reason = fields.String("Reason for a void; null for a result.", allow_none=True)
    at = fields.UtcDateTime()
    games = fields.Integer("Number of the bot's games that count after this entry.")
    version = fields.String("Version of the bot in that match.", allow_none=True)
    version_changed = fields.Boolean("Whether the version differs from that of the previous result.")
    before = fields.Points("before")
    before_micro = fields.Micro("before")
    after = fields.Points("after")
    after_micro = fields.Micro("after")
