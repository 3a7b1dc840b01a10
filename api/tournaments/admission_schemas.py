"""Define the schemas of the admission to a tournament, and of requests to enter bots."""

from marshmallow import fields

from api.fields import Id, OptionalBody, PlainText, Strict, UtcDateTime, View, describe
from api.messages import Length
from referee.tournaments.admission import MAX_GUESTS
from referee.workflows.voids.voiding import MAX_REASON_LENGTH

CODE = fields.String(
    allow_none=True,
    validate=Length(1, 100),
    metadata=describe("Join code of the tournament, if it needs one. Case, spaces and hyphens do not matter."),
)


class AdmissionBody(Strict):
    join_code = fields.String(
        required=True,
        allow_none=True,
        validate=Length(1, 100),
        metadata=describe("6 to 40 letters and digits, which owners send to enter bots; null for none."),
    )
    guests = fields.List(
        fields.String(validate=Length(1, 100)),
        required=True,
        validate=Length(0, MAX_GUESTS),
        metadata=describe("Names or ids of the accounts that may enter bots without a code; empty for no list."),
    )


class GuestView(View):
    id = fields.String()
    name = fields.String()


class AdmissionView(View):
    join_code = fields.String(
        allow_none=True, metadata=describe("The code in small letters, without spaces and hyphens.")
    )
    guests = fields.List(fields.Nested(GuestView))


class NewEntryRequest(Strict):
    bot = Id("bot", required=True)
    code = CODE


class Refusal(OptionalBody):
    reason = PlainText(
        MAX_REASON_LENGTH, load_default=None, metadata=describe("Reason, shown to the owner of the bot.")
    )


class EntryRequestView(View):
    bot = fields.String(attribute="bot.id")
    name = fields.String(attribute="bot.name")
    owner = fields.String(attribute="bot.owner_id", metadata=describe("Id of the owner's account."))
    created_at = UtcDateTime()
    refused_at = UtcDateTime(
        allow_none=True, metadata=describe("When the organiser refused the bot; null while it waits.")
    )
    reason = fields.String(allow_none=True, metadata=describe("Why the organiser refused the bot."))
