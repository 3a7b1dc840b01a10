"""Define the schemas of matches in requests and responses. Cards and actions are only in the log."""

from typing import Any

from marshmallow import ValidationError, validate, validates_schema

from api import fields
from api.games.schemas import GAMES, check_options
from api.messages import Length
from api.pagination import PageQuery
from referee.match.reveal import OpeningFailure
from referee.match.time_limits import Limits
from referee.matches.lists.match_filters import BotResult
from referee.matches.queue.quotas import MAX_TIME
from referee.matches.states import DealGroupState, DealSharing, MatchState
from referee.pairing.table_sizes import MAX_SEATS
from referee.workflows.explaining.unrated import UNRATED_REASONS
from referee.workflows.voids.voiding import MAX_REASON_LENGTH

LAST_ROUND = 1_000_000
WHOLE_GROUP = "all matches that share their cards with this one"
DEFAULTS = Limits()
RESULT_NEEDS_BOT = "Is the result of a bot: give it as `bot`."


def check_distinct(ids: list[str]) -> None:
    """Raise ``ValidationError`` if an id is repeated."""
    if len(set(ids)) < len(ids):
        raise ValidationError("Name each bot only once.")


class TimeView(fields.Strict):
    budget_ms = fields.StrictInt(
        50,
        60_000,
        f"Time per decision in milliseconds; at most {MAX_TIME.budget_ms} in a friendly.",
        load_default=DEFAULTS.budget_ms,
    )
    bank_ms = fields.StrictInt(
        0,
        600_000,
        f"Bank of extra time per match in milliseconds; at most {MAX_TIME.bank_ms} in a friendly.",
        load_default=DEFAULTS.bank_ms,
    )


class FriendlyTerms(fields.Strict):
    """Describe a match that an owner arranges."""

    game = fields.OneOf(GAMES, required=True)
    bots = fields.List(
        fields.Id("bot"),
        "Ids of the bots, in order of seats, without repetition. At least one bot must be your own.",
        required=True,
        validate=[Length(1, MAX_SEATS), check_distinct],
    )
    options = fields.Dict("Options of the game; see GET /games.", keys=fields.String(), load_default=dict)
    time = fields.Nested(TimeView, load_default=lambda: TimeView().load({}))

    @validates_schema
    def fits_the_game(self, match: dict[str, Any], **_: object) -> None:
        check_options(match["game"], len(match["bots"]), match["options"], seats_field="bots")


class NewMatch(FriendlyTerms):
    rated = fields.StrictBool("Whether the match is rated. Only organisers may set this.", load_default=False)


class MatchQuery(PageQuery):
    status = fields.OneOf(MatchState)
    bot = fields.List(
        fields.Id("bot"),
        "Id of a bot that has a seat. Repeat it for matches of several bots: `bot=…&bot=…`.",
        attribute="bot_ids",
        validate=validate.And(Length(1, MAX_SEATS), check_distinct),
    )
    result = fields.OneOf(
        BotResult,
        "Result of the first `bot`, by placement: against the best of the other bots given or, if there are none, "
        "against the best opponent at the table. Only matches that count have a result.",
    )
    rated = fields.QueryBool("Whether the match is rated.")
    created_since = fields.QueryTime("Only matches created at this time or later.")
    created_before = fields.QueryTime("Only matches created before this time.")
    tournament = fields.Id("trn", attribute="tournament_id")
    tournament_round = fields.QueryInt(1, LAST_ROUND, "The number of the round, from 1.")
    game = fields.OneOf(GAMES)

    @validates_schema
    def says_whose_result(self, query: dict[str, Any], **_: object) -> None:
        if "result" in query and "bot_ids" not in query:
            raise ValidationError({"result": [RESULT_NEEDS_BOT]})


class CancelMatch(fields.OptionalBody):
    reason = fields.PlainText(MAX_REASON_LENGTH, "Reason, shown to everyone.", load_default="cancelled")
    whole_group = fields.StrictBool(f"Cancel {WHOLE_GROUP}. Required if there are any.", load_default=False)


class UnratedReason(fields.OneOf):
    """Serialise the reason why a match is unrated, one of ``UNRATED_REASONS``."""

    def __init__(self, about: str) -> None:
        listed = "; ".join(f"`{code}`: {text}" for code, text in UNRATED_REASONS.items())
        super().__init__(UNRATED_REASONS, f"{about} {listed}.", required=True, allow_none=True)


class SeatRatingView(fields.View):
    before = fields.Points("before", "Rating before the match in points, to one decimal.")
    before_micro = fields.Micro("before", "The same exactly, in millionths of a point.")
    change = fields.Points("change", "Change of the rating in points; 0 for an anchor.")
    change_micro = fields.Micro("change", "The same exactly, in millionths of a point.")
    expected = fields.Rounded(
        3,
        "Expected score by the ratings before the match: the mean over the other seats that count, where 1 is a "
        "better placement, 0.5 a tie and 0 a worse one.",
    )
    scored = fields.Rounded(3, "The actual score, on the same scale.")


class SeatView(fields.View):
    seat = fields.Integer()
    bot = fields.String(
        "Id of the bot. Null until the match is over if it is rated, of an `anonymous` tournament.",
        allow_none=True,
        attribute="bot_id",
    )
    name = fields.String(
        "Name of the bot when the match began; null if `bot` is null.", allow_none=True, attribute="bot_name"
    )
    version = fields.String(allow_none=True)
    entrant = fields.String(
        "Id of the entered bot, which differs from `bot` if a house bot substitutes for it.", allow_none=True
    )
    rated = fields.Boolean(
        "Whether the seat counts for ratings if the match is rated; null if `bot` is null.", allow_none=True
    )
    placement = fields.Integer(allow_none=True)
    returns = fields.Integer("Net result of the seat.", allow_none=True)
    rating = fields.Nested(
        SeatRatingView,
        "What the match changed on its ladder; null until it counts, and if it does not.",
        allow_none=True,
    )


class RevealView(fields.View):
    seed = fields.String("Seed of the deals: 32 bytes in hex.")
    nonces = fields.List(fields.String(), "Nonces of the bots, in the order of `entries`.")
    nonce_hashes = fields.List(fields.String())
    accepted = fields.List(
        fields.Boolean(allow_none=True),
        "Whether each bot confirmed that its nonce was used; null for a bot that did not answer, and null as a "
        "whole if the bots were not asked.",
        allow_none=True,
    )


class OpeningFailureView(fields.View):
    bot = fields.String("Id of the bot; null until the group is revealed.", allow_none=True)
    code = fields.OneOf(
        OpeningFailure,
        "`nonce_withheld`: the bot promised a nonce and did not give it. `nonces_refused`: it found its nonce "
        "missing or changed.",
    )


class EndedOpeningView(fields.View):
    id = fields.String("Id of the deal group that was closed without a deal.")
    commitment = fields.String("SHA-256 of the seed and this id.")
    seed = fields.String("Seed that was not used: 32 bytes in hex.")
    failures = fields.List(fields.Nested(OpeningFailureView), "The bots that ended the opening.")


class GroupView(fields.View):
    id = fields.String()
    kind = fields.OneOf(
        DealSharing,
        "Which matches share cards. `own`: none; `common`: a whole round; `duplicate`: the same bots reseated.",
    )
    state = fields.OneOf(DealGroupState)
    commitment = fields.String("SHA-256 of the seed and the group's id, published before the first draw.")
    entries = fields.List(
        fields.String(),
        "Ids of the bots in the order of their nonces; null until the group is revealed.",
        allow_none=True,
        attribute="revealed_entries",
    )
    openings = fields.List(
        fields.Nested(EndedOpeningView), "Earlier openings, which ended without a deal, oldest first."
    )
    reveal = fields.Nested(RevealView, "Seed and nonces; null until the group is revealed.", allow_none=True)


class RatedOnView(fields.View):
    id = fields.String()
    name = fields.String()


class MatchView(fields.View):
    id = fields.String()
    game = fields.String()
    rules_version = fields.Integer()
    options = fields.Dict()
    seats = fields.List(fields.Nested(SeatView))
    time = fields.Part(TimeView)
    rated = fields.Boolean()
    unrated_reason = UnratedReason("Why the match is unrated; null if it is rated.")
    rated_on = fields.Nested(
        RatedOnView,
        "The ladder for which the match is rated; null for an unrated match, and until the ladder has a result.",
        allow_none=True,
    )
    status = fields.OneOf(MatchState)
    reason = fields.String("Why the match was cancelled or does not count.", allow_none=True)
    tournament = fields.String(attribute="tournament_id", allow_none=True)
    tournament_round = fields.Integer(allow_none=True)
    table = fields.Integer("Table number in its round, from 1.", allow_none=True, attribute="table_no")
    leg = fields.Integer("Number among the matches at its table, from 1.", allow_none=True)
    ladder = fields.String(
        "The official ladder for which the service made the match; null for other matches.",
        allow_none=True,
        attribute="ladder_id",
    )
    rematch_of = fields.String("The voided or cancelled match that this match repeats.", allow_none=True)
    group_id = fields.String("Id of the deal group. The log can be read when the group is over.")
    created_at = fields.UtcDateTime()
    started_at = fields.UtcDateTime(allow_none=True)
    finished_at = fields.UtcDateTime(allow_none=True)
    log_deleted_at = fields.UtcDateTime(
        "When the log was deleted, by a rule of the operator for age or size; null if it is kept. The match is "
        "then signed, but not replayable.",
        allow_none=True,
    )
    log_deleted_rule = fields.String("The rule by which the log was deleted.", allow_none=True)


class WholeMatchView(MatchView):
    may_last_s = fields.Integer(
        "Seconds that this friendly may last while other matches wait for slots: the longer of 900 and three times "
        "the duration of a match with the default options in which every answer takes the whole budget. Then it is "
        "cancelled, and no bot is charged. Null for other matches.",
        allow_none=True,
    )
    group = fields.Nested(GroupView)
