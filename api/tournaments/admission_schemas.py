"""Define the schemas of the admission to a tournament, and of requests to enter bots."""

from api import fields
from api.messages import Length
from referee.tournaments.admission import MAX_GUESTS
from referee.workflows.voids.voiding import MAX_REASON_LENGTH

CODE = fields.String(
    "Join code of the tournament, if it needs one. Case, spaces and hyphens do not matter.",
    allow_none=True,
    validate=Length(1, 100),
)


class AdmissionBody(fields.Strict):
    join_code = fields.String(
        "6 to 40 letters and digits, which owners send to enter bots; null for none.",
        allow_none=True,
        required=True,
        validate=Length(1, 100),
    )
    guests = fields.List(
        fields.String(validate=Length(1, 100)),
        "Names or ids of the accounts that may enter bots without a code; empty for no list.",
        required=True,
        validate=Length(0, MAX_GUESTS),
    )


class GuestView(fields.View):
    id = fields.String()
    name = fields.String()


class AdmissionView(fields.View):
    join_code = fields.String("The code in small letters, without spaces and hyphens.", allow_none=True)
    guests = fields.List(fields.Nested(GuestView))


class NewEntryRequest(fields.Strict):
    bot = fields.Id("bot", required=True)
    code = CODE


class Refusal(fields.OptionalBody):
    reason = fields.PlainText(MAX_REASON_LENGTH, "Reason, shown to the owner of the bot.", load_default=None)


class EntryRequestView(fields.View):
    bot = fields.String(attribute="bot.id")
    name = fields.String(attribute="bot.name")
    owner = fields.String("Id of the owner's account.", attribute="bot.owner_id")
    created_at = fields.UtcDateTime()
    refused_at = fields.UtcDateTime("When the organiser refused the bot; null while it waits.", allow_none=True)
    reason = fields.String("Why the organiser refused the bot.", allow_none=True)
