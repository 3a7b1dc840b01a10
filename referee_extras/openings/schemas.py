"""Define the schemas of openings that ended without a deal."""

from marshmallow import fields

from api.fields import Id, UtcDateTime, Utf8, View, describe, member_of
from api.matches.schemas import EndedOpeningView
from api.pagination import PageQuery
from referee.match.reveal import OpeningFailure


class OpeningQuery(PageQuery):
    bot = Id("bot", attribute="bot_id", metadata=describe("Only openings that this bot ended, once they are public."))
    tournament = Id("trn", attribute="tournament_id", metadata=describe("Only openings of this tournament."))
    ladder = Id("lad", attribute="ladder_id", metadata=describe("Only openings for matches on this ladder."))


class ListedOpeningView(EndedOpeningView):
    matches = fields.List(fields.String(), metadata=describe("Ids of the matches that the opening was for."))
    tournament = fields.String(allow_none=True)
    created_at = UtcDateTime(metadata=describe("When the seed was drawn."))


class FailedNonceView(View):
    group = fields.String(attribute="group_id", metadata=describe("Id of the deal group that was closed."))
    code = fields.String(validate=member_of(OpeningFailure))
    detail = fields.String(metadata=describe("What was wrong with the answer."))
    request = Utf8(allow_none=True, metadata=describe("The body that was sent."))
    reply = Utf8(allow_none=True, metadata=describe("The body of the answer; it is empty without one."))
    created_at = UtcDateTime()
