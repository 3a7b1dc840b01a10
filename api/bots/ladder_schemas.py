"""Define the schemas of a bot's play on official ladders."""

from typing import Final

from marshmallow import ValidationError, fields, validate, validates_schema

from api.fields import Id, Strict, StrictInt, UtcDateTime, View, describe, member_of
from api.games.schemas import GAMES
from api.messages import Length
from referee.ladders.kinds import LadderPlay
from referee.ladders.members import MAX_DAILY_MAXIMUM
from referee.pairing.official import VERSION_MATCHES, VERSIONS_A_DAY
from referee.ratings.elo import PROVISIONAL_GAMES

MAX_UNLISTED: Final = 50  # ladders


class LadderPlayChanges(Strict):
    play = fields.String(
        validate=validate.OneOf([LadderPlay.ON.value, LadderPlay.OFF.value]),
        metadata=describe("`off` lets the matches in progress end, and no new ones are made."),
    )
    games = fields.List(
        fields.String(validate=validate.OneOf(GAMES)),
        allow_none=True,
        validate=Length(1, len(GAMES)),
        metadata=describe("Games to play on official ladders; null for all games of the manifest, also future ones."),
    )
    unlisted = fields.List(
        Id("lad"),
        validate=Length(0, MAX_UNLISTED),
        metadata=describe("Ids of unlisted ladders to play on. They do not depend on `games`. Default: none."),
    )
    daily_maximum = StrictInt(
        1,
        MAX_DAILY_MAXIMUM,
        allow_none=True,
        metadata=describe("Most matches a day, in UTC, on all official ladders together; null for their own pace."),
    )

    @validates_schema
    def holds_something(self, changes: dict[str, object], **_: object) -> None:
        if not changes:
            raise ValidationError("Give at least one field to change.")


class MembershipView(View):
    ladder = fields.String(attribute="ladder.id")
    name = fields.String(attribute="ladder.name")
    game = fields.String(attribute="ladder.game")
    active = fields.Boolean(attribute="is_active", metadata=describe("False after the bot has left the ladder."))
    joined_at = UtcDateTime(attribute="member.joined_at")
    matches = fields.Integer(attribute="member.matches", metadata=describe("Matches made by the service."))
    matches_today = fields.Integer(metadata=describe("Those made since midnight in UTC."))
    extra_today = fields.Integer(
        metadata=describe(
            "Those of today that do not count towards the pace: of a new version that plays immediately or against one."
        )
    )
    immediate_matches = fields.Integer(
        metadata=describe(
            f"Matches left that follow one another immediately: {PROVISIONAL_GAMES} of a new bot, {VERSION_MATCHES} of "
            f"a new certified version, {VERSIONS_A_DAY} times in 24 hours at most."
        )
    )
    daily_matches = fields.Integer(
        attribute="ladder.daily_matches", metadata=describe("The pace of the ladder: matches a day for each bot.")
    )
    last_match_at = UtcDateTime(attribute="member.last_match_at", allow_none=True)
    due_at = UtcDateTime(
        attribute="member.due_at",
        allow_none=True,
        metadata=describe(
            "The next match is made at this time or, if it has passed, as soon as the bot and opponents are free."
        ),
    )


class LadderPlayView(View):
    bot = fields.String(attribute="bot_id")
    play = fields.String(
        validate=member_of(LadderPlay), metadata=describe("Whether the bot plays on official ladders.")
    )
    games = fields.List(
        fields.String(), allow_none=True, metadata=describe("The games chosen by its owner; null for all.")
    )
    unlisted = fields.List(fields.String(), metadata=describe("Ids of the unlisted ladders chosen by its owner."))
    daily_maximum = fields.Integer(allow_none=True)
    ladders = fields.List(
        fields.Nested(MembershipView), metadata=describe("The official ladders that the bot has joined, by name.")
    )
