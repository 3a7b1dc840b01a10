"""Define the schemas of the admission to a tournament, and of requests to enter bots."""

from marshmallow import fields

from api import doc
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
    join_code = doc.text(
        "6 to 40 letters and digits, which owners send to enter bots; null for none.",
        null=True,
        required=True,
        validate=Length(1, 100),
    )
    guests = doc.listing(
        "Names or ids of the accounts that may enter bots without a code; empty for no list.",
        fields.String(validate=Length(1, 100)),
        required=True,
        validate=Length(0, MAX_GUESTS),
    )


class GuestView(View):
    id = fields.String()
    name = fields.String()


class AdmissionView(View):
    join_code = doc.text("The code in small letters, without spaces and hyphens.", null=True)
    guests = fields.List(fields.Nested(GuestView))


class NewEntryRequest(Strict):
    bot = Id("bot", required=True)
    code = CODE


class Refusal(OptionalBody):
    reason = doc.of(PlainText, "Reason, shown to the owner of the bot.", MAX_REASON_LENGTH, load_default=None)


class EntryRequestView(View):
    bot = fields.String(attribute="bot.id")
    name = fields.String(attribute="bot.name")
    owner = doc.text("Id of the owner's account.", attribute="bot.owner_id")
    created_at = UtcDateTime()
    refused_at = doc.of(UtcDateTime, "When the organiser refused the bot; null while it waits.", null=True)
    reason = doc.text("Why the organiser refused the bot.", null=True)
