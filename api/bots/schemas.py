"""Bots: what anybody sees of one, what its owner sees besides, its certificates, and why it waits."""

from marshmallow import ValidationError, fields, validate, validates_schema

from api.fields import Address, Id, Name, Strict, UtcDateTime
from api.pagination import PageQuery
from referee.bots.certificates import END_REASONS
from referee.bots.tables import BOT_STATES, CHECK_STATES, EXAMINATION_STATES
from referee.workflows.waiting_reasons import REASONS


class NewBot(Strict):
    name = Name(required=True)
    url = Address(required=True)


class BotChanges(Strict):
    name = Name()
    url = Address(metadata={"description": "another address must prove itself again: the bot is unverified until then"})

    @validates_schema
    def holds_something(self, changes: dict[str, object], **_: object) -> None:
        if not changes:
            raise ValidationError("give at least one field to change")


class BotQuery(PageQuery):
    owner = Id("acc", metadata={"description": "only the bots of this account"})
    status = fields.String(validate=validate.OneOf(BOT_STATES))


class BotView(Strict):
    id = fields.String(required=True)
    name = fields.String(required=True)
    owner = fields.String(attribute="owner_id", required=True, metadata={"description": "id of the account"})
    status = fields.String(required=True, validate=validate.OneOf(BOT_STATES))
    version = fields.String(required=True, allow_none=True, metadata={"description": "as the bot declares it"})
    games = fields.List(fields.String(), required=True, metadata={"description": "as the bot declares them"})
    max_concurrent_requests = fields.Integer(
        required=True, metadata={"description": "requests it answers concurrently, as it declares"}
    )
    created_at = UtcDateTime(required=True)


class OwnBotView(BotView):
    """The last fields are there for the owner alone: they read ``own``, which the bot has for its owner only."""

    url = fields.String(attribute="own.url")
    verified_url = fields.String(
        attribute="own.verified_url",
        allow_none=True,
        metadata={"description": "the address that answered the challenge"},
    )
    status_reason = fields.String(attribute="own.status_reason", allow_none=True)
    check = fields.Nested(
        lambda: CheckView(),
        attribute="own",
        metadata={"description": "the last challenge and what was wrong with its answer"},
    )
    examination = fields.Nested(
        lambda: ExaminationView(),
        attribute="own.examination",
        metadata={"description": "the conformance suite: how far it is, what the last found"},
    )
    previous_secret_until = UtcDateTime(
        attribute="own.previous_secret_until",
        allow_none=True,
        metadata={"description": "until then both secrets sign"},
    )


class CheckView(Strict):
    state = fields.String(attribute="check_state", required=True, validate=validate.OneOf(CHECK_STATES))
    checked_at = UtcDateTime(required=True, allow_none=True)
    report = fields.Dict(attribute="check_report", required=True, allow_none=True)


class ExaminationView(Strict):
    state = fields.String(required=True, validate=validate.OneOf(EXAMINATION_STATES))
    questions_sent = fields.Integer(required=True, metadata={"description": "updated about twice a second"})
    questions_total = fields.Integer(required=True)
    current_step = fields.String(required=True, metadata={"description": "the game or rule that is checked now"})
    version = fields.String(
        required=True, allow_none=True, metadata={"description": "of the bot, in the last that ended"}
    )
    ended_at = UtcDateTime(required=True, allow_none=True)
    report = fields.Dict(
        attribute="last_report",
        required=True,
        allow_none=True,
        metadata={
            "description": "what the last found: `verdict`, `findings` with weight (`severity`), `expected`, `came`,"
            " `advice`, `curl` (`curl_cut`: it was too long), `latency` by part of a call, `coverage` by game, `seed`"
            " for `referee check --seed`. Null while the next is due or goes on. It may hold a stranger's text."
        },
    )


class CertificateView(Strict):
    id = fields.String(required=True)
    bot = fields.String(attribute="bot_id", required=True)
    version = fields.String(required=True, metadata={"description": "of the bot"})
    rules = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        required=True,
        metadata={"description": "the games that were passed, with the version of their rules"},
    )
    fits = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "games for which it holds now: same bot version, rules and protocol, not ended"},
    )
    warnings = fields.List(
        fields.String(), required=True, metadata={"description": "rules that it does not keep, but should"}
    )
    protocol = fields.String(required=True)
    engine_version = fields.String(required=True)
    issued_at = UtcDateTime(required=True)
    ended_at = UtcDateTime(
        required=True, allow_none=True, metadata={"description": "when a later examination of this version was over"}
    )
    ended_reason = fields.String(required=True, allow_none=True, validate=validate.OneOf(END_REASONS))


class SecretBotView(OwnBotView):
    secret = fields.String(required=True, metadata={"description": "whsec_…: signs every call; shown this once"})


class ReasonView(Strict):
    code = fields.String(
        required=True, validate=validate.OneOf(list(REASONS)), metadata={"description": "a closed list"}
    )
    text = fields.String(required=True, metadata={"description": "for people"})
    ahead = fields.Integer(required=True, allow_none=True, metadata={"description": "matches that come before it"})
    seat = fields.Integer(required=True, allow_none=True, metadata={"description": "of the rival that is full"})
    stage = fields.Integer(required=True, allow_none=True, metadata={"description": "to which the reason refers"})


class OpenMatchView(Strict):
    match = fields.String(attribute="match_id", required=True)
    tournament = fields.String(attribute="tournament_id", required=True, allow_none=True)
    position = fields.Integer(
        required=True, allow_none=True, metadata={"description": "among all matches that are due, from 1"}
    )
    reason = fields.Nested(ReasonView, required=True, allow_none=True, metadata={"description": "null: it is played"})


class OpenEventView(Strict):
    tournament = fields.String(attribute="tournament_id", required=True)
    reason = fields.Nested(ReasonView, required=True)


class WaitingView(Strict):
    bot = fields.String(attribute="bot_id", required=True)
    playing = fields.Integer(required=True, metadata={"description": "matches of it that are being played"})
    open = fields.Integer(required=True, metadata={"description": "matches of it that are not over"})
    reason = fields.Nested(
        ReasonView, required=True, allow_none=True, metadata={"description": "what matters most; null while it plays"}
    )
    matches = fields.List(
        fields.Nested(OpenMatchView), required=True, metadata={"description": "the first 20 of those not over"}
    )
    events = fields.List(
        fields.Nested(OpenEventView),
        attribute="tournaments",
        required=True,
        metadata={"description": "in which it has no match just now"},
    )
