"""Register, edit, pause, retire, delete and check bots; list their certificates and faults."""

from typing import Any

from flask import current_app

from api import etags, limits
from api.accounts.deletion import require_typed_name
from api.accounts.schemas import Deletion
from api.auth import account, anyone, current_account, may_organise, recovery_token_id, require_scope, viewer_id
from api.bots.presentation import NEVER_CHECKED, attach_fitting_games, describe_bots, visible_bot
from api.bots.schemas import (
    BotChanges,
    BotQuery,
    BotView,
    CertificateView,
    NewBot,
    OwnBotView,
    SecretBotView,
    WaitingView,
    WholeBotView,
)
from api.errors import Problem
from api.extended import Extended
from api.matches import fault_reports
from api.matches.fault_schemas import FaultQuery, FaultView, ReportedErrorView, ResponseStatsView
from api.views import Resource, current_session, master_key
from referee.accounts import acts
from referee.accounts.act_kinds import ActKind
from referee.accounts.scopes import Scope
from referee.bots import bots, certificates
from referee.bots.tables import Bot
from referee.db.paging import Page
from referee.ladders import directory
from referee.matches.lists import fault_reports as faults
from referee.protocol.signing import bot_secret
from referee.workflows.bots import pausing, retirement
from referee.workflows.erasing import erasure
from referee.workflows.explaining import waiting
from workers import reports

PROFILE = ("summary", "language", "link")  # what an owner says about a bot

resource = Resource("bots", "/api/v1/bots", "Bots: registered endpoints that play.")

BOT = '/<id("bot"):bot_id>'


@resource.post(
    "",
    account,
    SecretBotView,
    wakes_runner=True,
    body=NewBot,
    limit=limits.count_outgoing_call,
    status=201,
    secret=True,
    scope=Scope.PLAY,
)
def register(new_bot: dict[str, Any]) -> Any:
    """Register a bot

    The bot is `unverified` until its URL has answered a challenge signed with the secret. The secret is returned only
    in this response. Once the bot is verified, the secret can recover the account if the token of this request has the
    scope `all` and never expires, until the token is revoked.
    """
    owner, name, url = current_account(), new_bot.pop("name"), new_bot.pop("url")
    bot = bots.register(
        current_session(),
        owner.id,
        name,
        url,
        profile=new_bot,
        quotas=bots.Quotas.from_settings(current_app.config["SETTINGS"]),
        recovery_token_id=recovery_token_id(),
    )
    # Nothing has happened to the bot that could be read from the database.
    described = Extended(bot, owner_name=owner.name, certified=[], ratings=[], rated_at=None, former_names=[])
    secret = bot_secret(master_key(), bot.id, bot.secret_generation)
    return Extended(described, own=Extended(bot, check=NEVER_CHECKED), secret=secret)


@resource.get("", anyone, items=BotView, query=BotQuery)
def list_bots(query: dict[str, Any]) -> Any:
    """List bots, newest first

    All filters together must fit.
    """
    found = directory.list_bots(current_session(), **query)
    return Page(describe_bots(found.items), found.next)


@resource.get(BOT, anyone, OwnBotView)
def show(bot_id: str) -> Any:
    """Get a bot

    Its owner also sees the URL, the report of the last handshake, and the progress and report of the conformance
    check. The owner's ETag stays valid for an edit until a field that can be edited changes.
    """
    bot = bots.get_bot(current_session(), bot_id)
    if bot.owner_id == viewer_id():
        etags.split_etag(editable_fields(bot))
    return visible_bot(bot)


@resource.patch(
    BOT,
    account,
    OwnBotView,
    wakes_runner=True,
    body=BotChanges,
    limit=limits.count_outgoing_call,
    limit_when=lambda changes: "url" in changes,
    scope=Scope.PLAY,
)
def edit(changes: dict[str, Any], bot_id: str) -> Any:
    """Change the name or URL of a bot, or what you say about it

    A `summary`, `language` or `link` of null removes it. After a change of the URL, the bot is `unverified` until the
    new URL has answered the challenge. Logs keep the name that the bot played under, and `former_names` lists it. The
    name can be changed 5 times in 30 days. For 30 days, no other account can take a former name.
    """
    bot = get_own_bot(bot_id)
    etags.require_edited_match(editable_fields(bot))
    profile = {name: changes.pop(name) for name in PROFILE if name in changes}
    before = bot.name
    quotas = bots.Quotas.from_settings(current_app.config["SETTINGS"])
    edited = bots.edit(current_session(), bot_id, revision=bot.revision, profile=profile, quotas=quotas, **changes)
    if edited.name != before:
        names = {"name_before": before, "name_after": edited.name}
        acts.record_act(current_session(), current_account(), ActKind.BOT_RENAMED, bot_id, **names)
    return visible_bot(edited)


@resource.post(f"{BOT}/pause", account, OwnBotView, scope=Scope.PLAY)
def pause(bot_id: str) -> Any:
    """Pause a bot

    The bot gets no new matches. Its open friendlies, even those in progress, are cancelled with the reason
    `bot_paused`. All other matches that are already arranged are still played.
    """
    bot_id = get_managed_bot(bot_id).id
    return visible_bot(pausing.pause_bot(current_session(), bot_id, "paused by its owner", master_key=master_key()))


@resource.post(f"{BOT}/resume", account, OwnBotView, scope=Scope.PLAY)
def resume(bot_id: str) -> Any:
    """Resume a paused bot

    The bot is `verified` again if its URL has passed the handshake; a bot that was paused as unreachable must pass
    another one first. Only its owner and the operator may do this. If the bot is not paused, the response is a 409.
    """
    return visible_bot(pausing.resume_bot(current_session(), get_managed_bot(bot_id).id))


@resource.post(f"{BOT}/retire", account, OwnBotView, scope=Scope.PLAY)
def retire(bot_id: str) -> Any:
    """Retire a bot for good

    Matches in progress are played to the end, and matches that have not begun are cancelled. The history is kept.
    """
    return visible_bot(retirement.retire_bot(current_session(), get_managed_bot(bot_id).id))


@resource.post(f"{BOT}/delete", account, WholeBotView, body=Deletion, scope=Scope.ALL)
def delete(body: dict[str, Any], bot_id: str) -> Any:
    """Delete a bot for good

    `name` must be the name of the bot, to confirm. The bot is retired, and its URL, description, checks, reports of
    faults and errors, and all of its settings are erased: those that a match in progress needs when the match is over.
    Its results, ratings and logs stay under the name it played under, because the ratings of others follow from them.
    A name it never played under is erased. This cannot be undone.
    """
    bot = get_own_bot(bot_id)
    require_typed_name(body["name"], bot.name)
    acts.record_act(current_session(), current_account(), ActKind.BOT_DELETED, bot_id)
    return visible_bot(erasure.delete_bot(current_session(), bot_id, master_key=master_key()))


@resource.post(f"{BOT}/rotate-secret", account, SecretBotView, secret=True, scope=Scope.PLAY)
def rotate_secret(bot_id: str) -> Any:
    """Give a bot a new secret

    For a day, calls are signed with both the old and the new secret. The secret is returned only in this response. The
    new one can recover the account if the token of this request has the scope `all` and never expires, until the token
    is revoked; the old one no longer can.
    """
    bot_id = get_own_bot(bot_id).id
    bot = bots.rotate_secret(current_session(), bot_id, recovery_token_id=recovery_token_id())
    return Extended(visible_bot(bot), secret=bot_secret(master_key(), bot.id, bot.secret_generation))


@resource.post(
    f"{BOT}/check",
    account,
    OwnBotView,
    wakes_runner=True,
    limit=limits.count_outgoing_call,
    status=202,
    scope=Scope.PLAY,
)
def check(bot_id: str) -> Any:
    """Check a bot again

    The service sends the challenge, reads the manifest, and runs the conformance suite: about a hundred calls in at
    most 90 s. Progress and reports are shown with the bot. If the bot passes, it gets a new certificate; if it fails,
    the certificate of the same version ends.
    """
    return visible_bot(bots.request_handshake(current_session(), get_own_bot(bot_id).id, with_check=True))


@resource.get(f"{BOT}/certificate", anyone, CertificateView)
def show_certificate(bot_id: str) -> Any:
    """Get the certificate of a bot

    Rated matches require a certificate for the current version of the bot. If there is none, the response is a 404 with
    the code `no_certificate` and a detail that says why.
    """
    bot = bots.get_bot(current_session(), bot_id)
    certificate = certificates.current_certificate(current_session(), bot)
    if certificate is None:
        raise Problem(
            404,
            "no_certificate",
            f"The bot has no certificate: {certificates.explain_no_certificate(current_session(), bot)}.",
        )
    return attach_fitting_games(bot, certificate)


@resource.get(f"{BOT}/certificates", anyone, items=CertificateView)
def list_certificates(query: dict[str, Any], bot_id: str) -> Any:
    """List all certificates of a bot, newest first

    Ended certificates and those of earlier versions are listed, too. Anyone can read them.
    """
    bot = bots.get_bot(current_session(), bot_id)
    found = certificates.list_certificates(current_session(), bot.id, **query)
    return Page([attach_fitting_games(bot, certificate) for certificate in found.items], found.next)


@resource.get(f"{BOT}/faults", account, items=FaultView, query=FaultQuery)
def list_faults(query: dict[str, Any], bot_id: str) -> Any:
    """List the faults of one of your bots, newest first

    Each fault says what was wrong and what to do. `GET /faults/{id}` adds the question, the reply and a curl command.
    """
    return faults.list_faults(current_session(), bot_id=get_own_bot(bot_id).id, owner_id=current_account().id, **query)


@resource.get(f"{BOT}/errors", account, items=ReportedErrorView)
def list_errors(query: dict[str, Any], bot_id: str) -> Any:
    """List the matches in which one of your bots reported an error of its own code, newest first

    A bot reports an error with the member `error` of an answer. Nobody else can read it. `GET /bots/{id}/health` counts
    these errors by version.
    """
    return faults.list_errors(current_session(), get_own_bot(bot_id).id, **query)


@resource.get(f"{BOT}/health", account, ResponseStatsView)
def show_health(bot_id: str) -> Any:
    """Get the response statistics of one of your bots: latency and faults by version

    The statistics cover the last 200 matches whose logs are open.
    """
    return fault_reports.response_statistics(get_own_bot(bot_id).id)


@resource.get(f"{BOT}/waiting", account, WaitingView)
def show_waiting(bot_id: str) -> Any:
    """Explain why a bot is not playing

    The owner and organisers can read the queue position of each match that is not over, what blocks the match, and why
    the bot has no match in a tournament or on an official ladder. Opponents are identified only by their seats.
    """
    bot = bots.get_bot(current_session(), bot_id, owner_id=None if may_organise() else current_account().id)
    slots = current_app.config["SETTINGS"].runner_slots
    is_stalled = reports.matches_stalled_s(current_app.extensions["referee.redis"]) is not None
    return waiting.explain_waiting(current_session(), bot.id, runner_slots=slots, are_matches_stalled=is_stalled)


def get_managed_bot(bot_id: str) -> Bot:
    """Return the bot. Raise ``NotFound`` unless the caller is its owner or the operator."""
    bot = bots.get_bot(
        current_session(), bot_id, owner_id=None if current_account().role == "admin" else current_account().id
    )
    if bot.owner_id != current_account().id:
        require_scope(Scope.ALL)
    return bot


def get_own_bot(bot_id: str) -> Bot:
    """Return the bot. Raise ``NotFound`` unless it is the caller's."""
    return bots.get_bot(current_session(), bot_id, owner_id=current_account().id)


def editable_fields(bot: Bot) -> dict[str, Any]:
    """Return the fields that an edit may change, and the id."""
    return {name: getattr(bot, name) for name in ("id", "name", "url", *PROFILE)}
