"""Bots: registered, shown, edited and looked after by their owners."""

from typing import Any

from flask import current_app

from api import etags, limits
from api.auth import asker, organises, viewer_id
from api.bots import fault_reports
from api.bots.fault_schemas import FaultQuery, FaultView, PaceQuery, PaceView
from api.bots.schemas import (
    BotChanges,
    BotQuery,
    BotView,
    CertificateView,
    NewBot,
    OwnBotView,
    SecretBotView,
    WaitingView,
)
from api.errors import Problem
from api.pagination import PageQuery, envelope, list_of, read_cursor
from api.presentation import Extended, certificate_of, visible_bot
from api.views import Resource, master_key, record
from referee.bots import bots, certificates
from referee.bots.tables import Bot
from referee.db.paging import Page
from referee.matches import fault_reports as faults
from referee.protocol.signing import bot_secret
from referee.workflows import pausing, retirement, waiting

resource = Resource("bots", "/api/v1/bots", "Bots: registered endpoints that play.")


@resource.route("POST")
@resource.owner
@resource.wakes_runner
@resource.body(NewBot)
@resource.limited(limits.count_check)
@resource.idempotent
@resource.response(SecretBotView, 201, secret=True)
def register(new_bot: dict[str, Any]) -> Any:
    """Register a bot

    It is `unverified` until its address has answered a challenge signed with the secret, which is shown this once.
    """
    return attach_secret(bots.register(record(), asker().id, new_bot["name"], new_bot["url"]))


@resource.route("GET")
@resource.anyone
@resource.query(BotQuery)
@resource.reads
@resource.response(list_of(BotView))
def list_bots(query: dict[str, Any]) -> Any:
    """Bots, the newest first"""
    found = bots.list_bots(
        record(),
        owner_id=query.get("owner"),
        status=query.get("status"),
        limit=query["limit"],
        cursor=read_cursor(query),
    )
    return envelope(found, query)


@resource.route("GET", '/<id("bot"):bot_id>')
@resource.anyone
@resource.reads
@resource.response(OwnBotView)
def show(bot_id: str) -> Any:
    """A bot

    Its owner also sees the address, the report of the last check, and the examination: how far it is, what it found.
    The owner's ETag holds for an edit until name or address change, whatever the referee notes meanwhile.
    """
    bot = bots.get_bot(record(), bot_id)
    if bot.owner_id == viewer_id():
        etags.stand_for(editable(bot))
    return visible_bot(bot)


@resource.route("PATCH", '/<id("bot"):bot_id>')
@resource.owner
@resource.wakes_runner
@resource.body(BotChanges)
@resource.limited(limits.count_check, when=lambda changes: "url" in changes)
@resource.conditional
@resource.writes
@resource.response(OwnBotView)
def edit(changes: dict[str, Any], bot_id: str) -> Any:
    """Rename or move a bot

    After a new address it is `unverified` until that has answered the challenge.
    """
    bot = get_own_bot(bot_id)
    etags.must_stand(editable(bot))
    return visible_bot(bots.edit(record(), bot_id, revision=bot.revision, **changes))


@resource.route("POST", '/<id("bot"):bot_id>/pause')
@resource.owner
@resource.idempotent
@resource.response(OwnBotView)
def pause(bot_id: str) -> Any:
    """Pause a bot

    The bot gets no new matches. Its open friendlies, even those in progress, are cancelled with the reason
    `bot_paused`. Its other matches that are already arranged are still played.
    """
    bot_id = get_managed_bot(bot_id).id
    return visible_bot(pausing.pause_bot(record(), bot_id, "paused by its owner", master_key=master_key()))


@resource.route("POST", '/<id("bot"):bot_id>/resume')
@resource.owner
@resource.idempotent
@resource.response(OwnBotView)
def resume(bot_id: str) -> Any:
    """End a pause"""
    return visible_bot(bots.resume(record(), get_managed_bot(bot_id).id))


@resource.route("POST", '/<id("bot"):bot_id>/retire')
@resource.owner
@resource.idempotent
@resource.response(OwnBotView)
def retire(bot_id: str) -> Any:
    """Retire a bot for good

    Matches that run are played out, those not begun are cancelled. Its history stays.
    """
    return visible_bot(retirement.retire_bot(record(), get_managed_bot(bot_id).id))


@resource.route("POST", '/<id("bot"):bot_id>/rotate-secret')
@resource.owner
@resource.idempotent
@resource.response(SecretBotView, secret=True)
def rotate_secret(bot_id: str) -> Any:
    """Give a bot a new secret

    For a day both the old and the new one sign our calls. Shown this once.
    """
    return attach_secret(bots.rotate_secret(record(), get_own_bot(bot_id).id))


@resource.route("POST", '/<id("bot"):bot_id>/check')
@resource.owner
@resource.wakes_runner
@resource.limited(limits.count_check)
@resource.idempotent
@resource.response(OwnBotView, 202)
def check(bot_id: str) -> Any:
    """Have a bot called and examined again

    Challenge, manifest, then the conformance suite: about a hundred calls in at most 90 s. How far it is and the
    reports are shown with the bot. A pass brings a new certificate; a failure ends that of the same version.
    """
    return visible_bot(bots.request_check(record(), get_own_bot(bot_id).id, thorough=True))


@resource.route("GET", '/<id("bot"):bot_id>/certificate')
@resource.anyone
@resource.reads
@resource.response(CertificateView)
def show_certificate(bot_id: str) -> Any:
    """The certificate of a bot

    The one that holds for its present version; rated play needs it. 404 with the code `no_certificate` says why there
    is none.
    """
    bot = bots.get_bot(record(), bot_id)
    certificate = certificates.present(record(), bot)
    if certificate is None:
        raise Problem(404, "no_certificate", f"The bot has no certificate: {certificates.why_none(record(), bot)}.")
    return certificate_of(bot, certificate)


@resource.route("GET", '/<id("bot"):bot_id>/certificates')
@resource.anyone
@resource.query(PageQuery)
@resource.reads
@resource.response(list_of(CertificateView))
def list_certificates(query: dict[str, Any], bot_id: str) -> Any:
    """All certificates a bot ever had, the newest first"""
    bot = bots.get_bot(record(), bot_id)
    found = certificates.list_certificates(record(), bot.id, limit=query["limit"], cursor=read_cursor(query))
    return envelope(Page([certificate_of(bot, one) for one in found.items], found.next), query)


@resource.route("GET", '/<id("bot"):bot_id>/faults')
@resource.owner
@resource.query(FaultQuery)
@resource.reads
@resource.response(list_of(FaultView))
def list_faults(query: dict[str, Any], bot_id: str) -> Any:
    """The faults of a bot of one's own, the newest first

    Each with what was wrong and what to do; `GET /faults/{id}` has the question, the reply and a command besides.
    """
    found = faults.list_faults(
        record(),
        bot_id=get_own_bot(bot_id).id,
        owner_id=asker().id,
        match_id=query.get("match"),
        code=query.get("code"),
        version=query.get("version"),
        limit=query["limit"],
        cursor=read_cursor(query),
    )
    return envelope(found, query)


@resource.route("GET", '/<id("bot"):bot_id>/health')
@resource.owner
@resource.query(PaceQuery)
@resource.reads
@resource.response(PaceView)
def show_health(query: dict[str, Any], bot_id: str) -> Any:
    """How fast a bot of one's own answers, and its faults, by version

    Counted from the logs of its last 200 matches whose cards are open.
    """
    return fault_reports.health(get_own_bot(bot_id).id, by_day=query["by"] == "day")


@resource.route("GET", '/<id("bot"):bot_id>/waiting')
@resource.owner
@resource.reads
@resource.response(WaitingView)
def show_waiting(bot_id: str) -> Any:
    """Why a bot is not playing

    For its owner and for organisers: where each of its matches that are not over stands in the queue and what keeps
    it, and why it has none in its events. Rivals are told by their seat alone.
    """
    bot = bots.get_bot(record(), bot_id, owner_id=None if organises() else asker().id)
    slots = current_app.config["SETTINGS"].runner_slots
    return waiting.waiting(record(), bot.id, runner_slots=slots)


def get_managed_bot(bot_id: str) -> Bot:
    """The bot, if the asker may take it out of play: its owner and the operator."""
    return bots.get_bot(record(), bot_id, owner_id=None if asker().role == "admin" else asker().id)


def get_own_bot(bot_id: str) -> Bot:
    """The bot, if it is the asker's; another's is not found."""
    return bots.get_bot(record(), bot_id, owner_id=asker().id)


def editable(bot: Bot) -> dict[str, Any]:
    """What an edit may overwrite."""
    return {"id": bot.id, "name": bot.name, "url": bot.url}


def attach_secret(bot: Bot) -> Extended:
    return Extended(visible_bot(bot), secret=bot_secret(master_key(), bot.id, bot.secret_generation))
