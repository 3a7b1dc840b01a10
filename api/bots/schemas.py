"""Define the schemas of bots (as everyone and as owners see them), of certificates, and of reasons for waiting."""

from marshmallow import ValidationError, fields, validate, validates_schema

from api.accounts.schemas import FormerNameView
from api.fields import Address, CheckedText, Id, Name, Points, QueryInt, Strict, UtcDateTime, View, describe, member_of
from api.games.schemas import GAMES
from api.matches.schemas import UnratedReason
from api.pagination import PageQuery
from referee.bots import profiles
from referee.bots.states import BotState, CertificateEnd, CheckState
from referee.db.texts import MAX_LINK_LENGTH, validate_link
from referee.ladders.directory import MAX_DAYS
from referee.ladders.kinds import Level
from referee.workflows.explaining.waiting_reasons import REASONS


class BotProfile(Strict):
    """Describe what an owner says about a bot in public."""

    summary = CheckedText(
        profiles.validate_summary, profiles.MAX_SUMMARY_LENGTH, "One sentence about the bot; null for none."
    )
    language = CheckedText(
        profiles.validate_language, profiles.MAX_LANGUAGE_LENGTH, "Programming language of the bot; null for none."
    )
    link = CheckedText(
        validate_link,
        MAX_LINK_LENGTH,
        "An https or http URL, such as that of the source code, shown as a link and never fetched; null for none.",
    )


class NewBot(BotProfile):
    name = Name(required=True)
    url = Address(is_bot=True, required=True)


class BotChanges(BotProfile):
    name = Name()
    url = Address(
        is_bot=True,
        metadata=describe(
            "After a change of the URL, the bot is unverified until the new URL has answered the challenge."
        ),
    )

    @validates_schema
    def holds_something(self, changes: dict[str, object], **_: object) -> None:
        if not changes:
            raise ValidationError("Give at least one field to change.")


class BotQuery(PageQuery):
    owner = Id("acc", attribute="owner_id", metadata=describe("Return only bots of this account."))
    status = fields.String(validate=member_of(BotState))
    game = fields.String(
        validate=validate.OneOf(GAMES), metadata=describe("Return only bots whose manifest lists this game.")
    )
    level = fields.String(
        validate=member_of(Level),
        metadata=describe(
            "Return only bots with such a rating, in points, on the official ladder of `game` or, without `game`, of "
            "any game; `unrated`: bots with none."
        ),
    )
    active_days = QueryInt(
        1, MAX_DAYS, metadata=describe("Return only bots of which a rating has changed in this number of days.")
    )


class OfficialRatingView(View):
    ladder = fields.String(attribute="ladder_id")
    game = fields.String()
    rating = Points("value", metadata=describe("Rating in points, to one decimal."))
    games = fields.Integer(metadata=describe("Number of the bot's games that count."))


class BotView(View):
    id = fields.String()
    name = fields.String()
    owner = fields.String(attribute="owner_id", metadata=describe("Id of the owner's account."))
    owner_name = fields.String(metadata=describe("Public name of the owner."))
    summary = fields.String(allow_none=True, metadata=describe("What the owner says about the bot."))
    language = fields.String(allow_none=True, metadata=describe("Programming language, as the owner says."))
    link = fields.String(
        allow_none=True, metadata=describe("A URL that the owner gives. The service never fetches it.")
    )
    status = fields.String(validate=member_of(BotState))
    version = fields.String(allow_none=True, metadata=describe("Version that the manifest declares."))
    games = fields.List(fields.String(), metadata=describe("Games that the manifest declares."))
    max_concurrent_requests = fields.Integer(
        metadata=describe("Number of concurrent requests that the bot accepts, as declared in the manifest.")
    )
    certified = fields.List(
        fields.String(), metadata=describe("Games in which the bot has a valid certificate and may play rated matches.")
    )
    ratings = fields.List(fields.Nested(OfficialRatingView), metadata=describe("Ratings on official ladders, by game."))
    rated_at = UtcDateTime(
        allow_none=True, metadata=describe("When a rating of the bot changed last, on any ladder; null if never.")
    )
    created_at = UtcDateTime()
    deleted_at = UtcDateTime(allow_none=True, metadata=describe("When its owner deleted it; null if it is not."))


class WholeBotView(BotView):
    former_names = fields.List(
        fields.Nested(FormerNameView), metadata=describe("Names that the bot had before, the latest first.")
    )


class OwnerView(View):
    id = fields.String(metadata=describe("Id of the account."))
    name = fields.String(metadata=describe("Public name of the account."))
    bots = fields.Integer(metadata=describe("Number of bots, without retired ones."))
    registered_bots = fields.Integer(metadata=describe("Number of bots, with retired ones."))
    deleted_at = UtcDateTime(allow_none=True, metadata=describe("When the account was deleted; null if it is not."))
    former_names = fields.List(
        fields.Nested(FormerNameView), metadata=describe("Names that the account had before, the latest first.")
    )


class OwnBotView(WholeBotView):
    """Represent a bot as its owner sees it. Nobody else receives the fields whose attributes begin with ``own``."""

    optional = ("url", "verified_url", "status_reason", "handshake", "check", "previous_secret_until")
    url = fields.String(attribute="own.url")
    verified_url = fields.String(
        attribute="own.verified_url", allow_none=True, metadata=describe("The URL that answered the challenge.")
    )
    status_reason = fields.String(attribute="own.status_reason", allow_none=True)
    handshake = fields.Nested(
        lambda: HandshakeView(),
        attribute="own",
        metadata=describe("The last handshake, and what was wrong with the bot's response."),
    )
    check = fields.Nested(
        lambda: CheckView(),
        attribute="own.check",
        metadata=describe("Progress of the conformance check, and the report of the last check that ended."),
    )
    previous_secret_until = UtcDateTime(
        attribute="own.previous_secret_until",
        allow_none=True,
        metadata=describe("Time until which requests are signed with both secrets; null if there is only one."),
    )


class HandshakeView(View):
    state = fields.String(attribute="handshake_state", validate=member_of(CheckState))
    ended_at = UtcDateTime(attribute="handshake_ended_at", allow_none=True)
    report = fields.Dict(attribute="handshake_report", allow_none=True)


class CheckView(View):
    state = fields.String(validate=member_of(CheckState))
    questions_sent = fields.Integer(metadata=describe("Number of questions sent so far, updated about twice a second."))
    questions_total = fields.Integer()
    current_step = fields.String(metadata=describe("The game or rule being checked now."))
    version = fields.String(allow_none=True, metadata=describe("Version of the bot in the last check that ended."))
    ended_at = UtcDateTime(allow_none=True)
    report = fields.Dict(
        attribute="last_report",
        allow_none=True,
        metadata=describe(
            "The result of the last check: `verdict`; `findings`, one for each cause, each with `severity`, `expected`,"
            " `came`, `cause` (what went wrong over HTTP, or empty), `same_cause` (other rules broken by it), `advice`"
            " and `curl` (`curl_cut`: it was too long); `latency` by part of a call; `coverage` by game; `seed` for"
            " `referee check --seed`. Null while a check is due or running. It may contain untrusted text of the bot."
        ),
    )


class CertificateView(View):
    id = fields.String()
    bot = fields.String(attribute="bot_id")
    version = fields.String(metadata=describe("Version of the bot."))
    rules = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        metadata=describe("Games in which the bot passed, with the versions of their rules."),
    )
    fits = fields.List(
        fields.String(),
        metadata=describe(
            "Games for which the certificate is valid now: it has not ended, and bot version, rules and protocol match."
        ),
    )
    warnings = fields.List(fields.String(), metadata=describe("Recommended rules that the bot does not follow."))
    protocol = fields.String()
    engine_version = fields.String()
    issued_at = UtcDateTime()
    ended_at = UtcDateTime(
        allow_none=True, metadata=describe("When a later check of this version ended this certificate.")
    )
    ended_reason = fields.String(allow_none=True, validate=member_of(CertificateEnd))


class SecretBotView(OwnBotView):
    secret = fields.String(
        metadata=describe("The secret (`whsec_…`) that signs every call, returned only in this response.")
    )


class ReasonView(View):
    code = fields.String(
        validate=validate.OneOf(list(REASONS)), metadata=describe("Code of the reason, from a closed list.")
    )
    text = fields.String(metadata=describe("An explanation for people."))
    ahead = fields.Integer(allow_none=True, metadata=describe("Number of matches ahead of this one in the queue."))
    seat = fields.Integer(allow_none=True, metadata=describe("Seat of the opponent that has no free capacity."))
    tournament_round = fields.Integer(
        allow_none=True, metadata=describe("Number of the round that the reason refers to, from 1.")
    )
    at = UtcDateTime(allow_none=True, metadata=describe("When the wait ends, if that is known."))


class OpenMatchView(View):
    match = fields.String(attribute="match_id")
    tournament = fields.String(attribute="tournament_id", allow_none=True)
    ladder = fields.String(
        attribute="ladder_id",
        allow_none=True,
        metadata=describe("The official ladder for which the service made the match; null for other matches."),
    )
    unrated_reason = UnratedReason("Why the match is unrated; null if it is rated.")
    position = fields.Integer(
        allow_none=True,
        metadata=describe("Position in the queue of due matches, from 1; null if the match is not due."),
    )
    reason = fields.Nested(
        ReasonView, allow_none=True, metadata=describe("Why the match waits; null if it is in progress.")
    )


class WaitingTournamentView(View):
    tournament = fields.String(attribute="tournament_id")
    reason = fields.Nested(ReasonView)


class WaitingLadderView(View):
    ladder = fields.String(attribute="ladder_id")
    reason = fields.Nested(ReasonView)


class WaitingView(View):
    bot = fields.String(attribute="bot_id")
    playing = fields.Integer(metadata=describe("Number of its matches in progress."))
    open = fields.Integer(metadata=describe("Number of its matches that are not over."))
    reason = fields.Nested(
        ReasonView, allow_none=True, metadata=describe("The most important reason; null while the bot is playing.")
    )
    matches = fields.List(fields.Nested(OpenMatchView), metadata=describe("The first 20 matches that are not over."))
    tournaments = fields.List(
        fields.Nested(WaitingTournamentView),
        metadata=describe("Tournaments in which the bot has no match now."),
    )
    ladders = fields.List(
        fields.Nested(WaitingLadderView),
        metadata=describe("Official ladders of its games on which the bot has no match now."),
    )
