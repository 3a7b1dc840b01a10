"""Register, edit, pause, retire and check bots; list their certificates and faults."""

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

    It is `unverified` until its URL has answered a challenge signed with the secret. The secret is returned only in
    this response.
    """
    return attach_secret(bots.register(record(), asker().id, new_bot["name"], new_bot["url"]))


@resource.route("GET")
@resource.anyone
@resource.query(BotQuery)
@resource.reads
@resource.response(list_of(BotView))
def list_bots(query: dict[str, Any]) -> Any:
    """List bots, newest first"""
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
    """Get a bot

    Its owner also sees the URL, the report of the last handshake, and the progress and report of the conformance
    check. The owner's ETag stays valid for an edit until the name or URL changes, even if other fields change.
    """
    bot = bots.get_bot(record(), bot_id)
    if bot.owner_id == viewer_id():
        etags.split_etag(editable(bot))
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
    """Change the name or URL of a bot

    With a new URL it is `unverified` until that has answered the challenge.
    """
    bot = get_own_bot(bot_id)
    etags.edited_must_match(editable(bot))
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
    """Resume a paused bot"""
    return visible_bot(bots.resume(record(), get_managed_bot(bot_id).id))


@resource.route("POST", '/<id("bot"):bot_id>/retire')
@resource.owner
@resource.idempotent
@resource.response(OwnBotView)
def retire(bot_id: str) -> Any:
    """Retire a bot for good

    Its running matches are played to the end; those not begun are cancelled. Its history stays.
    """
    return visible_bot(retirement.retire_bot(record(), get_managed_bot(bot_id).id))


@resource.route("POST", '/<id("bot"):bot_id>/rotate-secret')
@resource.owner
@resource.idempotent
@resource.response(SecretBotView, secret=True)
def rotate_secret(bot_id: str) -> Any:
    """Give a bot a new secret

    For a day, calls are signed with both the old and the new secret. The secret is returned only in this response.
    """
    return attach_secret(bots.rotate_secret(record(), get_own_bot(bot_id).id))


@resource.route("POST", '/<id("bot"):bot_id>/check')
@resource.owner
@resource.wakes_runner
@resource.limited(limits.count_check)
@resource.idempotent
@resource.response(OwnBotView, 202)
def check(bot_id: str) -> Any:
    """Check a bot again

    The service sends the challenge, reads the manifest, and runs the conformance suite: about a hundred calls in at
    most 90 s. Progress and reports are shown with the bot. A pass brings a new certificate; a failure ends the
    certificate of the same version.
    """
    return visible_bot(bots.request_check(record(), get_own_bot(bot_id).id, thorough=True))


@resource.route("GET", '/<id("bot"):bot_id>/certificate')
@resource.anyone
@resource.reads
@resource.response(CertificateView)
def show_certificate(bot_id: str) -> Any:
    """Get the certificate of a bot

    The certificate of its present version, which rated matches need. If there is none, the detail of the 404 with the
    code `no_certificate` says why.
    """
    bot = bots.get_bot(record(), bot_id)
    certificate = certificates.current_certificate(record(), bot)
    if certificate is None:
        raise Problem(
            404, "no_certificate", f"The bot has no certificate: {certificates.explain_no_certificate(record(), bot)}."
        )
    return certificate_of(bot, certificate)


@resource.route("GET", '/<id("bot"):bot_id>/certificates')
@resource.anyone
@resource.query(PageQuery)
@resource.reads
@resource.response(list_of(CertificateView))
def list_certificates(query: dict[str, Any], bot_id: str) -> Any:
    """List all certificates of a bot, newest first"""
    bot = bots.get_bot(record(), bot_id)
    found = certificates.list_certificates(record(), bot.id, limit=query["limit"], cursor=read_cursor(query))
    return envelope(Page([certificate_of(bot, certificate) for certificate in found.items], found.next), query)


@resource.route("GET", '/<id("bot"):bot_id>/faults')
@resource.owner
@resource.query(FaultQuery)
@resource.reads
@resource.response(list_of(FaultView))
def list_faults(query: dict[str, Any], bot_id: str) -> Any:
    """List the faults of one of your bots, newest first

    Each says what was wrong and what to do; `GET /faults/{id}` also has the question, the reply and a curl command.
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
    """Get the response statistics of one of your bots: latency and faults, by version or day

    Counted from the logs of its last 200 matches whose logs are open.
    """
    return fault_reports.health(get_own_bot(bot_id).id, by_day=query["by"] == "day")


@resource.route("GET", '/<id("bot"):bot_id>/waiting')
@resource.owner
@resource.reads
@resource.response(WaitingView)
def show_waiting(bot_id: str) -> Any:
    """Explain why a bot is not playing

    For its owner and for organisers: the queue position of each of its matches that are not over and what blocks it,
    and why it has no match in its tournaments. Opponents are shown by seat only.
    """
    bot = bots.get_bot(record(), bot_id, owner_id=None if organises() else asker().id)
    slots = current_app.config["SETTINGS"].runner_slots
    return waiting.explain_waiting(record(), bot.id, runner_slots=slots)


def get_managed_bot(bot_id: str) -> Bot:
    """Return the bot. Raise ``NotFound`` unless the caller is its owner or the operator."""
    return bots.get_bot(record(), bot_id, owner_id=None if asker().role == "admin" else asker().id)


def get_own_bot(bot_id: str) -> Bot:
    """Return the bot. Raise ``NotFound`` unless it is the caller's."""
    return bots.get_bot(record(), bot_id, owner_id=asker().id)


def editable(bot: Bot) -> dict[str, Any]:
    """Return the fields that an edit may change, and the id."""
    return {"id": bot.id, "name": bot.name, "url": bot.url}


def attach_secret(bot: Bot) -> Extended:
    return Extended(visible_bot(bot), secret=bot_secret(master_key(), bot.id, bot.secret_generation))
