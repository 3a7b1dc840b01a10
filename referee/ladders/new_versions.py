"""Let a new version of a bot play matches immediately on official ladders, beyond their pace.

``members`` and ``official_matches`` make the matches. They are rated as any others.
"""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.orm import Session

from referee.bots.tables import Bot, Certificate
from referee.ladders.members import DAY, list_memberships
from referee.ladders.tables import Ladder, LadderMember
from referee.pairing.official import VERSION_MATCHES, VERSIONS_A_DAY
from referee.ratings.elo import PROVISIONAL_GAMES


def begin_version(session: Session, bot: Bot, certificate: Certificate) -> None:
    """Let a version of the bot play immediately on each ladder for whose game it has just got its first certificate.

    Call this once for each ``certificate``. Matches that an earlier version did not use are not added. The version with
    which the bot joined a ladder does not count as new: a new bot plays its first matches immediately.
    """
    if certificate.version != bot.version:  # the bot has become another version during its check
        return
    for membership in list_memberships(session, bot.id):
        game = membership.ladder.game
        if game in certificate.rules and _is_granted(session, certificate, game):
            let_play_immediately(membership.member, membership.ladder)


def let_play_immediately(member: LadderMember, ladder: Ladder) -> None:
    """Let the member play the matches of a new version immediately, instead of those left by an earlier one."""
    matches = min(VERSION_MATCHES, ladder.daily_matches or 0)
    member.immediate_until = max(member.immediate_until, member.matches + matches)


def plays_immediately(member: LadderMember) -> bool:
    """Return whether the next match of the member is one of those that a new version of it plays immediately."""
    return PROVISIONAL_GAMES <= member.matches < member.immediate_until


def is_playing_immediately() -> ColumnElement[bool]:
    """Return the condition for members for which ``plays_immediately`` is true."""
    return and_(LadderMember.matches >= PROVISIONAL_GAMES, LadderMember.matches < LadderMember.immediate_until)


def _is_granted(session: Session, certificate: Certificate, game: str) -> bool:
    """Return whether the version was never certified for the game before, and is one of those that play immediately."""
    certified = Certificate.bot_id == certificate.bot_id, Certificate.rules[game].as_integer().is_not(None)
    issued = select(Certificate.version, func.min(Certificate.issued_at).label("first"), func.count().label("times"))
    versions = session.execute(issued.where(*certified).group_by(Certificate.version).order_by("first")).all()
    is_new = any(row.version == certificate.version and row.times == 1 for row in versions)
    return is_new and certificate.issued_at in _choose([row.first for row in versions[1:]])


def _choose(versions: Iterable[datetime]) -> list[datetime]:
    """Return the times of versions that play immediately: ``VERSIONS_A_DAY`` in any 24 hours, the earliest first."""
    chosen: list[datetime] = []
    for moment in versions:
        if len(chosen) < VERSIONS_A_DAY or chosen[-VERSIONS_A_DAY] <= moment - DAY:
            chosen.append(moment)
    return chosen
