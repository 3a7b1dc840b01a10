"""Certificates of bots, and the one rule about them: who plays rated needs one that fits.

A certificate fits a game while it has not ended, the bot has its version, the game has its version of the rules, and it
attests the protocol that is spoken today.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, exists, or_, select, update
from sqlalchemy.orm import Session

from referee import __version__
from referee.bots import house_bots
from referee.bots.tables import Bot, Certificate, Examination
from referee.db.engine import current_time
from referee.db.ids import new_id
from referee.db.paging import Cursor, Page, newest_first
from referee.errors import NoCertificate
from referee.games import catalogue
from referee.protocol.messages import PROTOCOL

ENDS: Final = ("replaced", "failed")  # what the later examination brought


def missing(session: Session, bot: Bot, game: str) -> str | None:
    """Why this bot may not play this game rated, and what to do; None when it may. The house needs no certificate."""
    if bot.status == house_bots.STATUS or session.scalar(select(Bot.id).where(Bot.id == bot.id, fits(game))):
        return None
    return f"bot {bot.name!r} has no certificate for {game}: {_explain_missing_certificate(session, bot, game)}"


def demand(session: Session, bot: Bot, game: str) -> None:
    """Raises ``NoCertificate`` where one is missing."""
    if reason := missing(session, bot, game):
        raise NoCertificate(reason)


def fits(game: str) -> ColumnElement[bool]:
    """Whether the bot of the row has a certificate that fits the game."""
    rules = catalogue().get(game)
    return exists().where(
        Certificate.bot_id == Bot.id,
        Certificate.version == Bot.version,
        Certificate.ended_at.is_(None),
        Certificate.protocol == PROTOCOL,
        Certificate.rules[game].as_integer() == (rules.rules_version if rules else -1),
    )


def is_unseen(game: str) -> ColumnElement[bool]:
    """Return the condition for examinations that did not see the present version of the bot by the present rules."""
    rules = rules_today([game]).get(game)
    other_rules = Examination.rules[game].as_integer().is_distinct_from(rules)
    other_protocol = Examination.report["protocol"].as_string() != PROTOCOL
    return or_(Examination.version.is_distinct_from(Bot.version), other_rules, other_protocol)


def had_one(game: str) -> ColumnElement[bool]:
    """Whether the last examination went well. Else new versions, one after the other, would do for a certificate."""
    attested = exists().where(
        Certificate.bot_id == Examination.bot_id,
        Certificate.version == Examination.version,
        Certificate.ended_at.is_(None),
        Certificate.rules[game].as_integer().is_not(None),
    )
    return or_(Examination.ended_at.is_(None), attested)


def present(session: Session, bot: Bot) -> Certificate | None:
    """The certificate that holds for the bot as it is now, for one of its games at least."""
    found = session.scalars(_newest(bot)).all()
    return next((one for one in found if fitting_games(one, bot)), None)


def why_none(session: Session, bot: Bot) -> str:
    """Why there is no certificate, and what to do."""
    return _explain_missing_certificate(session, bot, None)


def fitting_games(certificate: Certificate, bot: Bot) -> list[str]:
    """The games for which it fits the bot as it is now."""
    if certificate.ended_at is not None or (certificate.version, certificate.protocol) != (bot.version, PROTOCOL):
        return []
    today = rules_today(certificate.rules)
    return [game for game, version in certificate.rules.items() if today.get(game) == version]


def certified_games(session: Session, bot: Bot, *, since: datetime) -> set[str]:
    """Games with a fitting certificate issued since then."""
    found = session.scalars(_newest(bot).where(Certificate.issued_at >= since))
    return {game for certificate in found for game in fitting_games(certificate, bot)}


def protocol_of(one: Examination) -> str:
    """Return the protocol that the last examination asked for."""
    protocol: str = (one.report or {}).get("protocol", PROTOCOL)
    return protocol


def rules_today(games: Iterable[str]) -> dict[str, int]:
    """The present version of the rules of those of these games that there are."""
    known = catalogue()
    return {game: known[game].rules_version for game in games if game in known}


def list_certificates(
    session: Session, bot_id: str, *, limit: int = 50, cursor: Cursor | None = None
) -> Page[Certificate]:
    """All a bot ever had, the newest first."""
    query = select(Certificate).where(Certificate.bot_id == bot_id)
    return newest_first(session, query, Certificate.issued_at, Certificate.id, limit=limit, cursor=cursor)


def issue(
    session: Session,
    bot_id: str,
    version: str,
    rules: Mapping[str, int],
    *,
    protocol: str = PROTOCOL,
    warnings: Iterable[str] = (),
) -> Certificate:
    """A certificate of today for this version of the bot."""
    certificate = Certificate(
        id=new_id("certificate"),
        bot_id=bot_id,
        version=version,
        rules=dict(rules),
        engine_version=__version__,
        protocol=protocol,
        warnings=list(warnings),
        issued_at=current_time(session),
    )
    session.add(certificate)
    session.flush()
    return certificate


def end_of_version(session: Session, bot_id: str, version: str, reason: str) -> None:
    """Ends the certificates of this version."""
    of_version = Certificate.bot_id == bot_id, Certificate.version == version, Certificate.ended_at.is_(None)
    session.execute(update(Certificate).where(*of_version).values(ended_at=current_time(session), ended_reason=reason))


def _newest(bot: Bot) -> Any:
    query = select(Certificate).where(Certificate.bot_id == bot.id, Certificate.version == bot.version)
    query = query.where(Certificate.ended_at.is_(None))
    return query.order_by(Certificate.issued_at.desc(), Certificate.id.desc())


def _explain_missing_certificate(session: Session, bot: Bot, game: str | None) -> str:
    one = session.get(Examination, bot.id)
    ask = f"POST /api/v1/bots/{bot.id}/check has it examined"
    if bot.check_state != "idle" or (one is not None and one.state != "idle"):
        return "it is being examined just now; ask again in a moment"
    if game is not None and game not in bot.games:
        return f"its manifest does not list {game}"
    if one is None or one.ended_at is None:
        return f"it was never examined; {ask}"
    if one.version == bot.version and protocol_of(one) != PROTOCOL:
        return f"it was not examined by protocol {PROTOCOL}; {ask}"
    if game is not None and one.version == bot.version and one.rules.get(game) != rules_today([game]).get(game):
        return f"it was not examined by the present rules of {game}; {ask}"
    if one.version != bot.version:
        return f"version {bot.version!r} was never examined; {ask}"
    return f"its last examination failed; its owner sees what to mend in GET /api/v1/bots/{bot.id}, then {ask}"
