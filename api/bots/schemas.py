"""Define the schemas of bots (as everyone and as owners see them), of certificates, and of reasons for waiting."""

from api import fields
from api.accounts.schemas import FormerNameView
from api.fields import Address, Changes, CheckedText, Id, Name, Points, QueryInt, Strict, UtcDateTime, View
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


class BotChanges(BotProfile, Changes):
    name = Name()
    url = Address(
        "After a change of the URL, the bot is unverified until the new URL has answered the challenge.", is_bot=True
    )


class BotQuery(PageQuery):
    owner = Id("acc", "Return only bots of this account.", attribute="owner_id")
    status = fields.OneOf(BotState)
    game = fields.OneOf(GAMES, "Return only bots whose manifest lists this game.")
    level = fields.OneOf(
        Level,
        "Return only bots with such a rating, in points, on the official ladder of `game` or, without `game`, of "
        "any game; `unrated`: bots with none.",
    )
    active_days = QueryInt(1, MAX_DAYS, "Return only bots of which a rating has changed in this number of days.")


class OfficialRatingView(View):
    ladder = fields.String(attribute="ladder_id")
    game = fields.String()
    rating = Points("value", "Rating in points, to one decimal.")
    games = fields.Integer("Number of the bot's games that count.")


class BotView(View):
    id = fields.String()
    name = fields.String()
    owner = fields.String("Id of the owner's account.", attribute="owner_id")
    owner_name = fields.String("Public name of the owner.")
    summary = fields.String("What the owner says about the bot.", allow_none=True)
    language = fields.String("Programming language, as the owner says.", allow_none=True)
    link = fields.String("A URL that the owner gives. The service never fetches it.", allow_none=True)
    status = fields.OneOf(BotState)
    version = fields.String("Version that the manifest declares.", allow_none=True)
    games = fields.List(fields.String(), "Games that the manifest declares.")
    max_concurrent_requests = fields.Integer(
        "Number of concurrent requests that the bot accepts, as declared in the manifest."
    )
    certified = fields.List(
        fields.String(), "Games in which the bot has a valid certificate and may play rated matches."
    )
    ratings = fields.List(fields.Nested(OfficialRatingView), "Ratings on official ladders, by game.")
    rated_at = UtcDateTime("When a rating of the bot changed last, on any ladder; null if never.", allow_none=True)
    created_at = UtcDateTime()
    deleted_at = UtcDateTime("When its owner deleted it; null if it is not.", allow_none=True)


class WholeBotView(BotView):
    former_names = fields.List(fields.Nested(FormerNameView), "Names that the bot had before, the latest first.")


class OwnerView(View):
    id = fields.String("Id of the account.")
    name = fields.String("Public name of the account.")
    bots = fields.Integer("Number of bots, without retired ones.")
    registered_bots = fields.Integer("Number of bots, with retired ones.")
    deleted_at = UtcDateTime("When the account was deleted; null if it is not.", allow_none=True)
    former_names = fields.List(fields.Nested(FormerNameView), "Names that the account had before, the latest first.")


class OwnBotView(WholeBotView):
    """Represent a bot as its owner sees it. Nobody else receives the fields whose attributes begin with ``own``."""

    optional = ("url", "verified_url", "status_reason", "handshake", "check", "previous_secret_until")
    url = fields.String(attribute="own.url")
    verified_url = fields.String("The URL that answered the challenge.", attribute="own.verified_url", allow_none=True)
    status_reason = fields.String(attribute="own.status_reason", allow_none=True)
    handshake = fields.Nested(
        lambda: HandshakeView(), "The last handshake, and what was wrong with the bot's response.", attribute="own"
    )
    check = fields.Nested(
        lambda: CheckView(),
        "Progress of the conformance check, and the report of the last check that ended.",
        attribute="own.check",
    )
    previous_secret_until = UtcDateTime(
        "Time until which requests are signed with both secrets; null if there is only one.",
        attribute="own.previous_secret_until",
        allow_none=True,
    )


class HandshakeView(View):
    state = fields.OneOf(CheckState, attribute="handshake_state")
    ended_at = UtcDateTime(attribute="handshake_ended_at", allow_none=True)
    report = fields.Dict(attribute="handshake_report", allow_none=True)


class CheckView(View):
    state = fields.OneOf(CheckState)
    questions_sent = fields.Integer("Number of questions sent so far, updated about twice a second.")
    questions_total = fields.Integer()
    current_step = fields.String("The game or rule being checked now.")
    version = fields.String("Version of the bot in the last check that ended.", allow_none=True)
    ended_at = UtcDateTime(allow_none=True)
    report = fields.Dict(
        "The result of the last check: `verdict`; `findings`, one for each cause, each with `severity`, `expected`,"
        " `came`, `cause` (what went wrong over HTTP, or empty), `same_cause` (other rules broken by it), `advice`"
        " and `curl` (`curl_cut`: it was too long); `latency` by part of a call; `coverage` by game; `seed` for"
        " `referee check --seed`. Null while a check is due or running. It may contain untrusted text of the bot.",
        attribute="last_report",
        allow_none=True,
    )


class CertificateView(View):
    id = fields.String()
    bot = fields.String(attribute="bot_id")
    version = fields.String("Version of the bot.")
    rules = fields.Dict(
        "Games in which the bot passed, with the versions of their rules.",
        keys=fields.String(),
        values=fields.Integer(),
    )
    fits = fields.List(
        fields.String(),
        "Games for which the certificate is valid now: it has not ended, and bot version, rules and protocol match.",
    )
    warnings = fields.List(fields.String(), "Recommended rules that the bot does not follow.")
    protocol = fields.String()
    engine_version = fields.String()
    issued_at = UtcDateTime()
    ended_at = UtcDateTime("When a later check of this version ended this certificate.", allow_none=True)
    ended_reason = fields.OneOf(CertificateEnd, allow_none=True)


class SecretBotView(OwnBotView):
    secret = fields.String("The secret (`whsec_…`) that signs every call, returned only in this response.")


class ReasonView(View):
    code = fields.OneOf(REASONS, "Code of the reason, from a closed list.")
    text = fields.String("An explanation for people.")
    ahead = fields.Integer("Number of matches ahead of this one in the queue.", allow_none=True)
    seat = fields.Integer("Seat of the opponent that has no free capacity.", allow_none=True)
    tournament_round = fields.Integer("Number of the round that the reason refers to, from 1.", allow_none=True)
    at = UtcDateTime("When the wait ends, if that is known.", allow_none=True)


class OpenMatchView(View):
    match = fields.String(attribute="match_id")
    tournament = fields.String(attribute="tournament_id", allow_none=True)
    ladder = fields.String(
        "The official ladder for which the service made the match; null for other matches.",
        attribute="ladder_id",
        allow_none=True,
    )
    unrated_reason = UnratedReason("Why the match is unrated; null if it is rated.")
    position = fields.Integer(
        "Position in the queue of due matches, from 1; null if the match is not due.", allow_none=True
    )
    reason = fields.Nested(ReasonView, "Why the match waits; null if it is in progress.", allow_none=True)


class WaitingTournamentView(View):
    tournament = fields.String(attribute="tournament_id")
    reason = fields.Nested(ReasonView)


class WaitingLadderView(View):
    ladder = fields.String(attribute="ladder_id")
    reason = fields.Nested(ReasonView)


class WaitingView(View):
    bot = fields.String(attribute="bot_id")
    playing = fields.Integer("Number of its matches in progress.")
    open = fields.Integer("Number of its matches that are not over.")
    reason = fields.Nested(ReasonView, "The most important reason; null while the bot is playing.", allow_none=True)
    matches = fields.List(fields.Nested(OpenMatchView), "The first 20 matches that are not over.")
    tournaments = fields.List(fields.Nested(WaitingTournamentView), "Tournaments in which the bot has no match now.")
    ladders = fields.List(
        fields.Nested(WaitingLadderView), "Official ladders of its games on which the bot has no match now."
    )
