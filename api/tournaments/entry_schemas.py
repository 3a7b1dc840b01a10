"""Define the schemas of entries of a tournament, with the results of preflight calls."""

from marshmallow import fields

from api import doc
from api.fields import Id, PlainText, Strict, StrictInt, UtcDateTime, View, member_of
from api.messages import Length
from api.pagination import PageQuery
from api.tournaments.admission_schemas import CODE
from referee.tournaments.entries import MAX_SEED
from referee.tournaments.states import Preflight
from referee.workflows.voids.voiding import MAX_REASON_LENGTH

MAX_BATCH = 200


class NewEntry(Strict):
    bot = Id("bot", required=True)
    seed = doc.of(
        StrictInt,
        "Seed, from 1 for the strongest. Only the organiser of the tournament may set it.",
        low=1,
        high=MAX_SEED,
    )
    code = CODE


class NewEntries(Strict):
    bots = doc.listing(
        "Bots in order of entry. If one of them is refused, none is entered.",
        Id("bot"),
        required=True,
        validate=Length(1, MAX_BATCH),
    )
    code = CODE


class EnteredView(View):
    items = fields.List(fields.Nested(lambda: EntryView()))


class Disqualification(Strict):
    bot = Id("bot", required=True)
    reason = doc.of(PlainText, "Reason, shown to everyone.", MAX_REASON_LENGTH, required=True)


class Withdrawal(Strict):
    bot = Id("bot", required=True)


class Seeds(Strict):
    seeds = doc.mapping(
        "Seeds by bot, from 1 for the strongest; null seeds the bot by rating. Other entries keep their seeds.",
        keys=Id("bot"),
        values=StrictInt(low=1, high=MAX_SEED, allow_none=True),
        required=True,
        validate=Length(min=1),
    )


class EntryQuery(PageQuery):
    preflight = doc.text("Return only entries with this preflight result.", validate=member_of(Preflight))


class EntryView(View):
    number = doc.integer("Number in order of entry, from 0.")
    bot = fields.String(attribute="bot_id")
    name = fields.String(attribute="bot.name")
    owner = doc.text("Id of the owner's account.", attribute="bot.owner_id")
    owner_name = doc.text("Public name of the owner.")
    seed = doc.integer("Seed set by an organiser; null if none was set.", null=True)
    first_round = doc.integer("Number of the first round in which the bot may play.")
    preflight = doc.text(
        "Result of the preflight call before the start; `none` if the bot has not been called.",
        validate=member_of(Preflight),
    )
    preflight_reason = doc.text(
        "Why the bot is absent; null for everyone except its owner and organisers.",
        null=True,
        attribute="visible_reason",
    )
    substitute = doc.text(
        "Id of the house bot that plays in place of the bot now.", null=True, attribute="substitute_id"
    )
    version = doc.text("Version of the bot when it started in this tournament.", null=True)
    version_changed_at = doc.of(UtcDateTime, "When a different version was first seen.", null=True)
    withdrawn_at = UtcDateTime(allow_none=True)
    disqualified_at = UtcDateTime(allow_none=True)
    disqualification_reason = fields.String(allow_none=True)
    substituted_at = doc.of(
        UtcDateTime, "When the last substitution began, even if it is over; null without one.", null=True
    )
    substitution_code = doc.text(
        "Why a substitute plays or played: `unreachable` or another code of the handshake, `paused` or another "
        "state of the bot, `no_certificate`, `version_changed`.",
        null=True,
    )
