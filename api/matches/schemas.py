"""Define the schemas of matches in requests and responses. Cards and actions are only in the log."""

from typing import Any

from marshmallow import ValidationError, fields, validate, validates_schema

from api import doc
from api.fields import (
    Id,
    Micro,
    OptionalBody,
    Part,
    PlainText,
    Points,
    QueryBool,
    QueryInt,
    QueryTime,
    Rounded,
    Strict,
    StrictBool,
    StrictInt,
    UtcDateTime,
    View,
    describe,
    member_of,
)
from api.games.schemas import GAMES, check_options
from api.messages import Length
from api.pagination import PageQuery
from referee.match.reveal import OpeningFailure
from referee.match.time_limits import Limits
from referee.matches.match_filters import BotResult
from referee.matches.quotas import MAX_TIME
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


class TimeView(Strict):
    budget_ms = doc.of(
        StrictInt,
        f"Time per decision in milliseconds; at most {MAX_TIME.budget_ms} in a friendly.",
        low=50,
        high=60_000,
        load_default=DEFAULTS.budget_ms,
    )
    bank_ms = doc.of(
        StrictInt,
        f"Bank of extra time per match in milliseconds; at most {MAX_TIME.bank_ms} in a friendly.",
        low=0,
        high=600_000,
        load_default=DEFAULTS.bank_ms,
    )


class FriendlyTerms(Strict):
    """Describe a match that an owner arranges."""

    game = fields.String(required=True, validate=validate.OneOf(GAMES))
    bots = doc.listing(
        "Ids of the bots, in order of seats, without repetition. At least one bot must be your own.",
        Id("bot"),
        required=True,
        validate=Length(1, MAX_SEATS),
    )
    options = doc.mapping("Options of the game; see GET /games.", keys=fields.String(), load_default=dict)
    time = fields.Nested(TimeView, load_default=lambda: TimeView().load({}))

    @validates_schema
    def fits_the_game(self, match: dict[str, Any], **_: object) -> None:
        if len(set(match["bots"])) < len(match["bots"]):
            raise ValidationError({"bots": ["Name each bot only once."]})
        check_options(match["game"], len(match["bots"]), match["options"], seats_field="bots")


class NewMatch(FriendlyTerms):
    rated = doc.of(StrictBool, "Whether the match is rated. Only organisers may set this.", load_default=False)


class MatchQuery(PageQuery):
    status = fields.String(validate=member_of(MatchState))
    bot = doc.listing(
        "Id of a bot that has a seat. Repeat it for matches of several bots: `bot=…&bot=…`.",
        Id("bot"),
        attribute="bot_ids",
        validate=validate.And(Length(1, MAX_SEATS), check_distinct),
    )
    result = doc.text(
        "Result of the first `bot`, by placement: against the best of the other bots given or, if there are none, "
        "against the best opponent at the table. Only matches that count have a result.",
        validate=member_of(BotResult),
    )
    rated = doc.of(QueryBool, "Whether the match is rated.")
    created_since = doc.of(QueryTime, "Only matches created at this time or later.")
    created_before = doc.of(QueryTime, "Only matches created before this time.")
    tournament = Id("trn", attribute="tournament_id")
    tournament_round = doc.of(QueryInt, "The number of the round, from 1.", low=1, high=LAST_ROUND)
    game = fields.String(validate=validate.OneOf(GAMES))

    @validates_schema
    def says_whose_result(self, query: dict[str, Any], **_: object) -> None:
        if "result" in query and "bot_ids" not in query:
            raise ValidationError({"result": [RESULT_NEEDS_BOT]})


class CancelMatch(OptionalBody):
    reason = doc.of(PlainText, "Reason, shown to everyone.", MAX_REASON_LENGTH, load_default="cancelled")
    whole_group = doc.of(StrictBool, f"Cancel {WHOLE_GROUP}. Required if there are any.", load_default=False)


class UnratedReason(fields.String):
    """Serialise the reason why a match is unrated, one of ``UNRATED_REASONS``."""

    def __init__(self, description: str) -> None:
        listed = "; ".join(f"`{code}`: {text}" for code, text in UNRATED_REASONS.items())
        super().__init__(
            required=True,
            allow_none=True,
            validate=validate.OneOf(list(UNRATED_REASONS)),
            metadata=describe(f"{description} {listed}."),
        )


class SeatRatingView(View):
    before = doc.of(Points, "Rating before the match in points, to one decimal.", "before")
    before_micro = doc.of(Micro, "The same exactly, in millionths of a point.", "before")
    change = doc.of(Points, "Change of the rating in points; 0 for an anchor.", "change")
    change_micro = doc.of(Micro, "The same exactly, in millionths of a point.", "change")
    expected = doc.of(
        Rounded,
        "Expected score by the ratings before the match: the mean over the other seats that count, where 1 is a "
        "better placement, 0.5 a tie and 0 a worse one.",
        3,
    )
    scored = doc.of(Rounded, "The actual score, on the same scale.", 3)


class SeatView(View):
    seat = fields.Integer()
    bot = doc.text(
        "Id of the bot. Null until the match is over if it is rated, of an `anonymous` tournament.",
        null=True,
        attribute="bot_id",
    )
    name = doc.text("Name of the bot when the match began; null if `bot` is null.", null=True, attribute="bot_name")
    version = fields.String(allow_none=True)
    entrant = doc.text("Id of the entered bot, which differs from `bot` if a house bot substitutes for it.", null=True)
    rated = doc.flag("Whether the seat counts for ratings if the match is rated; null if `bot` is null.", null=True)
    placement = fields.Integer(allow_none=True)
    returns = doc.integer("Net result of the seat.", null=True)
    rating = doc.nested(
        "What the match changed on its ladder; null until it counts, and if it does not.", SeatRatingView, null=True
    )


class RevealView(View):
    seed = doc.text("Seed of the deals: 32 bytes in hex.")
    nonces = doc.listing("Nonces of the bots, in the order of `entries`.", fields.String())
    nonce_hashes = fields.List(fields.String())
    accepted = doc.listing(
        "Whether each bot confirmed that its nonce was used; null for a bot that did not answer, and null as a "
        "whole if the bots were not asked.",
        fields.Boolean(allow_none=True),
        null=True,
    )


class OpeningFailureView(View):
    bot = doc.text("Id of the bot; null until the group is revealed.", null=True)
    code = doc.text(
        "`nonce_withheld`: the bot promised a nonce and did not give it. `nonces_refused`: it found its nonce "
        "missing or changed.",
        validate=member_of(OpeningFailure),
    )


class EndedOpeningView(View):
    id = doc.text("Id of the deal group that was closed without a deal.")
    commitment = doc.text("SHA-256 of the seed and this id.")
    seed = doc.text("Seed that was not used: 32 bytes in hex.")
    failures = doc.listing("The bots that ended the opening.", fields.Nested(OpeningFailureView))


class GroupView(View):
    id = fields.String()
    kind = doc.text(
        "Which matches share cards. `own`: none; `common`: a whole round; `duplicate`: the same bots reseated.",
        validate=member_of(DealSharing),
    )
    state = fields.String(validate=member_of(DealGroupState))
    commitment = doc.text("SHA-256 of the seed and the group's id, published before the first draw.")
    entries = doc.listing(
        "Ids of the bots in the order of their nonces; null until the group is revealed.",
        fields.String(),
        null=True,
        attribute="revealed_entries",
    )
    openings = doc.listing(
        "Earlier openings, which ended without a deal, oldest first.", fields.Nested(EndedOpeningView)
    )
    reveal = doc.nested("Seed and nonces; null until the group is revealed.", RevealView, null=True)


class RatedOnView(View):
    id = fields.String()
    name = fields.String()


class MatchView(View):
    id = fields.String()
    game = fields.String()
    rules_version = fields.Integer()
    options = fields.Dict()
    seats = fields.List(fields.Nested(SeatView))
    time = Part(TimeView)
    rated = fields.Boolean()
    unrated_reason = UnratedReason("Why the match is unrated; null if it is rated.")
    rated_on = doc.nested(
        "The ladder for which the match is rated; null for an unrated match, and until the ladder has a result.",
        RatedOnView,
        null=True,
    )
    status = fields.String(validate=member_of(MatchState))
    reason = doc.text("Why the match was cancelled or does not count.", null=True)
    tournament = fields.String(attribute="tournament_id", allow_none=True)
    tournament_round = fields.Integer(allow_none=True)
    table = doc.integer("Table number in its round, from 1.", null=True, attribute="table_no")
    leg = doc.integer("Number among the matches at its table, from 1.", null=True)
    ladder = doc.text(
        "The official ladder for which the service made the match; null for other matches.",
        null=True,
        attribute="ladder_id",
    )
    rematch_of = doc.text("The voided or cancelled match that this match repeats.", null=True)
    group_id = doc.text("Id of the deal group. The log can be read when the group is over.")
    created_at = UtcDateTime()
    started_at = UtcDateTime(allow_none=True)
    finished_at = UtcDateTime(allow_none=True)
    log_deleted_at = doc.of(
        UtcDateTime,
        "When the log was deleted, by a rule of the operator for age or size; null if it is kept. The match is "
        "then signed, but not replayable.",
        null=True,
    )
    log_deleted_rule = doc.text("The rule by which the log was deleted.", null=True)


class WholeMatchView(MatchView):
    may_last_s = doc.integer(
        "Seconds that this friendly may last while other matches wait for slots: the longer of 900 and three times "
        "the duration of a match with the default options in which every answer takes the whole budget. Then it is "
        "cancelled, and no bot is charged. Null for other matches.",
        null=True,
    )
    group = fields.Nested(GroupView)
