"""Issue, find and end certificates of bots. To play rated matches of a game, a bot needs one that is valid for it.

A certificate is valid for a game until it is ended, as long as its versions of the bot, of the rules and of the
protocol are the current ones.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, exists, or_, select, update
from sqlalchemy.orm import Session

import referee
from referee.bots.states import BotState, CheckState
from referee.bots.tables import Bot, Certificate, Check
from referee.db.engine import current_time
from referee.db.ids import new_id
from referee.db.paging import Cursor, Page, load_page
from referee.errors import NoCertificate
from referee.games import catalogue
from referee.protocol.messages import PROTOCOL


def explain_missing_certificate(session: Session, bot: Bot, game: str) -> str | None:
    """Return why this bot may not play rated matches of this game and what to do about it, or None when it may.

    House bots need no certificate.
    """
    if bot.status == BotState.HOUSE or session.scalar(select(Bot.id).where(Bot.id == bot.id, is_certified(game))):
        return None
    return f"bot {bot.name!r} has no certificate for {game}: {explain_no_certificate(session, bot, game)}"


def require_certificate(session: Session, bot: Bot, game: str) -> None:
    """Raise ``NoCertificate`` if the bot may not play rated matches of this game."""
    if reason := explain_missing_certificate(session, bot, game):
        raise NoCertificate(reason)


def is_certified(game: str) -> ColumnElement[bool]:
    """Return the condition for bots that have a valid certificate for the game."""
    rules = catalogue().get(game)
    return exists().where(
        Certificate.bot_id == Bot.id,
        Certificate.version == Bot.version,
        Certificate.ended_at.is_(None),
        Certificate.protocol == PROTOCOL,
        Certificate.rules[game].as_integer() == (rules.rules_version if rules else -1),
    )


def is_check_outdated(game: str) -> ColumnElement[bool]:
    """Return the condition for checks that did not cover the current version of the bot, the rules or the protocol."""
    rules = current_rules_versions([game]).get(game)
    other_rules = Check.rules[game].as_integer().is_distinct_from(rules)
    other_protocol = Check.report["protocol"].as_string() != PROTOCOL
    return or_(Check.version.is_distinct_from(Bot.version), other_rules, other_protocol)


def passed_last_check(game: str) -> ColumnElement[bool]:
    """Return the condition for bots that passed their last check or were never checked.

    Without this condition, a bot could avoid certification by announcing one new version after another.
    """
    certified = exists().where(
        Certificate.bot_id == Check.bot_id,
        Certificate.version == Check.version,
        Certificate.ended_at.is_(None),
        Certificate.rules[game].as_integer().is_not(None),
    )
    return or_(Check.ended_at.is_(None), certified)


def current_certificate(session: Session, bot: Bot) -> Certificate | None:
    """Return the newest certificate of the current version of the bot that is valid for at least one game, or None."""
    found = session.scalars(_newest_first(bot)).all()
    return next((certificate for certificate in found if valid_games(certificate, bot)), None)


def explain_no_certificate(session: Session, bot: Bot, game: str | None = None) -> str:
    """Return why the bot has no certificate, for this game if one is given, and what to do about it."""
    last = session.get(Check, bot.id)
    request = f"request a check with POST /api/v1/bots/{bot.id}/check"
    if bot.handshake_state != CheckState.IDLE or (last is not None and last.state != CheckState.IDLE):
        return "a check is in progress; try again in a moment"
    if game is not None and game not in bot.games:
        return f"its manifest does not list {game}"
    if last is None or last.ended_at is None:
        return f"it was never checked; {request}"
    if last.version != bot.version:
        return f"version {bot.version!r} was never checked; {request}"
    if checked_protocol(last) != PROTOCOL:
        return f"it was not checked with protocol {PROTOCOL}; {request}"
    if game is not None and last.rules.get(game) != current_rules_versions([game]).get(game):
        return f"it was not checked by the current rules of {game}; {request}"
    return f"its last check failed; fix what GET /api/v1/bots/{bot.id} reports to its owner, then {request}"


def valid_games(certificate: Certificate, bot: Bot) -> list[str]:
    """Return the games for which the certificate is valid, given the current version of the bot."""
    if certificate.ended_at is not None or (certificate.version, certificate.protocol) != (bot.version, PROTOCOL):
        return []
    today = current_rules_versions(certificate.rules)
    return [game for game, version in certificate.rules.items() if today.get(game) == version]


def certified_games(session: Session, bot: Bot, *, since: datetime) -> set[str]:
    """Return the games for which the bot has a valid certificate issued since ``since``."""
    found = session.scalars(_newest_first(bot).where(Certificate.issued_at >= since))
    return {game for certificate in found for game in valid_games(certificate, bot)}


def load_certified_games(session: Session, bots: Iterable[Bot]) -> dict[str, list[str]]:
    """Return the games for which each of these bots has a valid certificate, by name, keyed by bot id."""
    known = {bot.id: bot for bot in bots}
    query = select(Certificate).where(Certificate.bot_id.in_(known), Certificate.ended_at.is_(None))
    games: dict[str, set[str]] = {bot_id: set() for bot_id in known}
    for certificate in session.scalars(query):
        games[certificate.bot_id].update(valid_games(certificate, known[certificate.bot_id]))
    return {bot_id: sorted(found) for bot_id, found in games.items()}


def checked_protocol(check: Check) -> str:
    """Return the protocol version that the last check used, or the current one if the check has no report."""
    protocol: str = (check.report or {}).get("protocol", PROTOCOL)
    return protocol


def current_rules_versions(games: Iterable[str]) -> dict[str, int]:
    """Return the current version of the rules of each known game among ``games``, keyed by game."""
    known = catalogue()
    return {game: known[game].rules_version for game in games if game in known}


def list_certificates(
    session: Session, bot_id: str, *, limit: int = 50, cursor: Cursor | None = None
) -> Page[Certificate]:
    """Return a page of the certificates of a bot, including ended ones, newest first."""
    query = select(Certificate).where(Certificate.bot_id == bot_id)
    return load_page(session, query, Certificate.issued_at.desc(), Certificate.id.desc(), limit=limit, cursor=cursor)


def issue_certificate(
    session: Session,
    bot_id: str,
    version: str,
    rules: Mapping[str, int],
    *,
    protocol: str = PROTOCOL,
    warnings: Iterable[str] = (),
) -> Certificate:
    """Issue a certificate for this version of the bot. ``rules`` maps games to versions of their rules."""
    certificate = Certificate(
        id=new_id("certificate"),
        bot_id=bot_id,
        version=version,
        rules=dict(rules),
        engine_version=referee.__version__,
        protocol=protocol,
        warnings=list(warnings),
        issued_at=current_time(session),
    )
    session.add(certificate)
    session.flush()
    return certificate


def end_certificates(session: Session, bot_id: str, version: str, reason: str) -> None:
    """End the certificates of this version of the bot."""
    of_version = Certificate.bot_id == bot_id, Certificate.version == version, Certificate.ended_at.is_(None)
    session.execute(update(Certificate).where(*of_version).values(ended_at=current_time(session), ended_reason=reason))


def _newest_first(bot: Bot) -> Any:
    query = select(Certificate).where(Certificate.bot_id == bot.id, Certificate.version == bot.version)
    query = query.where(Certificate.ended_at.is_(None))
    return query.order_by(Certificate.issued_at.desc(), Certificate.id.desc())
