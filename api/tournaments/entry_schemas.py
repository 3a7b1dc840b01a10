"""Define the schemas of entries of a tournament, with the results of preflight calls."""

from api import fields
from api.fields import Id, PlainText, Strict, StrictInt, UtcDateTime, View
from api.messages import Length
from api.pagination import PageQuery
from api.tournaments.admission_schemas import CODE
from referee.tournaments.entries import MAX_SEED
from referee.tournaments.states import Preflight
from referee.workflows.voids.voiding import MAX_REASON_LENGTH

MAX_BATCH = 200


class NewEntry(Strict):
    bot = Id("bot", required=True)
    seed = StrictInt(1, MAX_SEED, "Seed, from 1 for the strongest. Only the organiser of the tournament may set it.")
    code = CODE


class NewEntries(Strict):
    bots = fields.List(
        Id("bot"),
        "Bots in order of entry. If one of them is refused, none is entered.",
        required=True,
        validate=Length(1, MAX_BATCH),
    )
    code = CODE


class EnteredView(View):
    items = fields.List(fields.Nested(lambda: EntryView()))


class Disqualification(Strict):
    bot = Id("bot", required=True)
    reason = PlainText(MAX_REASON_LENGTH, "Reason, shown to everyone.", required=True)


class Withdrawal(Strict):
    bot = Id("bot", required=True)


class Seeds(Strict):
    seeds = fields.Dict(
        "Seeds by bot, from 1 for the strongest; null seeds the bot by rating. Other entries keep their seeds.",
        keys=Id("bot"),
        values=StrictInt(low=1, high=MAX_SEED, allow_none=True),
        required=True,
        validate=Length(min=1),
    )


class EntryQuery(PageQuery):
    preflight = fields.OneOf(Preflight, "Return only entries with this preflight result.")


class EntryView(View):
    number = fields.Integer("Number in order of entry, from 0.")
    bot = fields.String(attribute="bot_id")
    name = fields.String(attribute="bot.name")
    owner = fields.String("Id of the owner's account.", attribute="bot.owner_id")
    owner_name = fields.String("Public name of the owner.")
    seed = fields.Integer("Seed set by an organiser; null if none was set.", allow_none=True)
    first_round = fields.Integer("Number of the first round in which the bot may play.")
    preflight = fields.OneOf(
        Preflight, "Result of the preflight call before the start; `none` if the bot has not been called."
    )
    preflight_reason = fields.String(
        "Why the bot is absent; null for everyone except its owner and organisers.",
        allow_none=True,
        attribute="visible_reason",
    )
    substitute = fields.String(
        "Id of the house bot that plays in place of the bot now.", allow_none=True, attribute="substitute_id"
    )
    version = fields.String("Version of the bot when it started in this tournament.", allow_none=True)
    version_changed_at = UtcDateTime("When a different version was first seen.", allow_none=True)
    withdrawn_at = UtcDateTime(allow_none=True)
    disqualified_at = UtcDateTime(allow_none=True)
    disqualification_reason = fields.String(allow_none=True)
    substituted_at = UtcDateTime(
        "When the last substitution began, even if it is over; null without one.", allow_none=True
    )
    substitution_code = fields.String(
        "Why a substitute plays or played: `unreachable` or another code of the handshake, `paused` or another "
        "state of the bot, `no_certificate`, `version_changed`.",
        allow_none=True,
    )
