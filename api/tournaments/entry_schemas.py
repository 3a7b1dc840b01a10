"""Define the schemas of entries of a tournament, with the results of preflight calls."""

from marshmallow import fields

from api.fields import Id, PlainText, Strict, StrictInt, UtcDateTime, View, describe, member_of
from api.messages import Length
from api.pagination import PageQuery
from api.tournaments.admission_schemas import CODE
from referee.tournaments.entries import MAX_SEED
from referee.tournaments.states import Preflight
from referee.workflows.voids.voiding import MAX_REASON_LENGTH

MAX_BATCH = 200


class NewEntry(Strict):
    bot = Id("bot", required=True)
    seed = StrictInt(
        low=1,
        high=MAX_SEED,
        metadata=describe("Seed, from 1 for the strongest. Only the organiser of the tournament may set it."),
    )
    code = CODE


class NewEntries(Strict):
    bots = fields.List(
        Id("bot"),
        required=True,
        validate=Length(1, MAX_BATCH),
        metadata=describe("Bots in order of entry. If one of them is refused, none is entered."),
    )
    code = CODE


class EnteredView(View):
    items = fields.List(fields.Nested(lambda: EntryView()))


class Disqualification(Strict):
    bot = Id("bot", required=True)
    reason = PlainText(MAX_REASON_LENGTH, required=True, metadata=describe("Reason, shown to everyone."))


class Withdrawal(Strict):
    bot = Id("bot", required=True)


class Seeds(Strict):
    seeds = fields.Dict(
        keys=Id("bot"),
        values=StrictInt(low=1, high=MAX_SEED, allow_none=True),
        required=True,
        validate=Length(min=1),
        metadata=describe(
            "Seeds by bot, from 1 for the strongest; null seeds the bot by rating. Other entries keep their seeds."
        ),
    )


class EntryQuery(PageQuery):
    preflight = fields.String(
        validate=member_of(Preflight), metadata=describe("Return only entries with this preflight result.")
    )


class EntryView(View):
    number = fields.Integer(metadata=describe("Number in order of entry, from 0."))
    bot = fields.String(attribute="bot_id")
    name = fields.String(attribute="bot.name")
    owner = fields.String(attribute="bot.owner_id", metadata=describe("Id of the owner's account."))
    owner_name = fields.String(metadata=describe("Public name of the owner."))
    seed = fields.Integer(allow_none=True, metadata=describe("Seed set by an organiser; null if none was set."))
    first_round = fields.Integer(metadata=describe("Number of the first round in which the bot may play."))
    preflight = fields.String(
        validate=member_of(Preflight),
        metadata=describe("Result of the preflight call before the start; `none` if the bot has not been called."),
    )
    preflight_reason = fields.String(
        attribute="visible_reason",
        allow_none=True,
        metadata=describe("Why the bot is absent; null for everyone except its owner and organisers."),
    )
    substitute = fields.String(
        attribute="substitute_id",
        allow_none=True,
        metadata=describe("Id of the house bot that plays in place of the bot now."),
    )
    version = fields.String(
        allow_none=True, metadata=describe("Version of the bot when it started in this tournament.")
    )
    version_changed_at = UtcDateTime(allow_none=True, metadata=describe("When a different version was first seen."))
    withdrawn_at = UtcDateTime(allow_none=True)
    disqualified_at = UtcDateTime(allow_none=True)
    disqualification_reason = fields.String(allow_none=True)
    substituted_at = UtcDateTime(
        allow_none=True, metadata=describe("When the last substitution began, even if it is over; null without one.")
    )
    substitution_code = fields.String(
        allow_none=True,
        metadata=describe(
            "Why a substitute plays or played: `unreachable` or another code of the handshake, `paused` or another "
            "state of the bot, `no_certificate`, `version_changed`."
        ),
    )
