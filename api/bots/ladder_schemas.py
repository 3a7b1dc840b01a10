"""Define the schemas of a bot's play on official ladders."""

from typing import Final

from api import fields
from api.fields import Changes, Id, StrictInt, UtcDateTime, View
from api.games.schemas import GAMES
from api.messages import Length
from referee.ladders.kinds import LadderPlay
from referee.ladders.members import MAX_DAILY_MAXIMUM
from referee.pairing.official import VERSION_MATCHES, VERSIONS_A_DAY
from referee.ratings.elo import PROVISIONAL_GAMES

MAX_UNLISTED: Final = 50  # ladders


class LadderPlayChanges(Changes):
    play = fields.OneOf(
        (LadderPlay.ON, LadderPlay.OFF), "`off` lets the matches in progress end, and no new ones are made."
    )
    games = fields.List(
        fields.OneOf(GAMES),
        "Games to play on official ladders; null for all games of the manifest, also future ones.",
        allow_none=True,
        validate=Length(1, len(GAMES)),
    )
    unlisted = fields.List(
        Id("lad"),
        "Ids of unlisted ladders to play on. They do not depend on `games`. Default: none.",
        validate=Length(0, MAX_UNLISTED),
    )
    daily_maximum = StrictInt(
        1,
        MAX_DAILY_MAXIMUM,
        "Most matches a day, in UTC, on all official ladders together; null for their own pace.",
        allow_none=True,
    )


class MembershipView(View):
    ladder = fields.String(attribute="ladder.id")
    name = fields.String(attribute="ladder.name")
    game = fields.String(attribute="ladder.game")
    active = fields.Boolean("False after the bot has left the ladder.", attribute="is_active")
    joined_at = UtcDateTime(attribute="member.joined_at")
    matches = fields.Integer("Matches made by the service.", attribute="member.matches")
    matches_today = fields.Integer("Those made since midnight in UTC.")
    extra_today = fields.Integer(
        "Those of today that do not count towards the pace: of a new version that plays immediately or against one."
    )
    immediate_matches = fields.Integer(
        f"Matches left that follow one another immediately: {PROVISIONAL_GAMES} of a new bot, {VERSION_MATCHES} of "
        f"a new certified version, {VERSIONS_A_DAY} times in 24 hours at most."
    )
    daily_matches = fields.Integer(
        "The pace of the ladder: matches a day for each bot.", attribute="ladder.daily_matches"
    )
    last_match_at = UtcDateTime(attribute="member.last_match_at", allow_none=True)
    due_at = UtcDateTime(
        "The next match is made at this time or, if it has passed, as soon as the bot and opponents are free.",
        attribute="member.due_at",
        allow_none=True,
    )


class LadderPlayView(View):
    bot = fields.String(attribute="bot_id")
    play = fields.OneOf(LadderPlay, "Whether the bot plays on official ladders.")
    games = fields.List(fields.String(), "The games chosen by its owner; null for all.", allow_none=True)
    unlisted = fields.List(fields.String(), "Ids of the unlisted ladders chosen by its owner.")
    daily_maximum = fields.Integer(allow_none=True)
    ladders = fields.List(fields.Nested(MembershipView), "The official ladders that the bot has joined, by name.")
