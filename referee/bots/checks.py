"""Schedule, claim and finish checks of bots: runs of the conformance suite, stored as ``Examination``.

A check follows a successful handshake (``handshakes``); a check that passed issues a certificate (``certificates``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from referee.bots import certificates
from referee.bots.tables import Bot, Certificate, Examination
from referee.db.engine import current_time
from referee.db.leases import Leases
from referee.db.names import make_storable
from referee.protocol.messages import PROTOCOL

Json = dict[str, Any]

YOUNG: Final = timedelta(days=30)  # age of a certificate below which only a request of the owner causes a check
REPEATED_AFTER: Final = timedelta(hours=1)  # after a failed check, until a handshake causes another
PROVEN: Final = ("verified", "paused")  # bots in other states only receive the challenge
LOST_BEFORE_GIVEN_UP: Final = 3
GIVEN_UP: Final = {"verdict": "referee_failed", "findings": [], "detail": "the referee could not finish it"}
LEASES: Final = Leases(Examination, state="state", lost="lost_claims")


@dataclass(frozen=True, slots=True)
class ClaimedCheck:
    """A claimed check. ``at_once`` is the number of concurrent calls that the bot accepts beyond its matches."""

    bot_id: str
    epoch: int
    at_once: int
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class ExaminationOutcome:
    """The outcome of a check. ``asked`` and ``passed`` map games to versions of the rules.

    ``games`` and ``max_concurrent_requests`` come from the manifest with this ``version``.
    """

    version: str | None
    asked: Mapping[str, int]
    passed: Mapping[str, int]
    protocol: str
    report: Json
    warnings: list[str] = field(default_factory=list)
    games: Sequence[str] | None = None
    max_concurrent_requests: int | None = None


def get_or_create_examination(session: Session, bot_id: str) -> Examination:
    """Return the row of a bot; create it if there is none."""
    found = find_examination(session, bot_id)
    if found not in session:
        session.add(found)
        session.flush()
    return found


def find_examination(session: Session, bot_id: str) -> Examination:
    """How it stands with a bot; nothing is written."""
    return session.get(Examination, bot_id) or Examination(
        bot_id=bot_id,
        state="idle",
        requested_by_owner=False,
        epoch=0,
        lost_claims=0,
        questions_sent=0,
        questions_total=0,
        current_step="",
        rules={},
    )


def want(session: Session, bot_id: str) -> None:
    """The bot's next check is followed by an examination, whatever certificates it has."""
    get_or_create_examination(session, bot_id).requested_by_owner = True


def drop(session: Session, bot_id: str) -> None:
    """Whatever is due or under way counts for nothing any more."""
    one = get_or_create_examination(session, bot_id)
    one.state, one.due_at, one.lost_claims = "idle", None, 0
    one.revoke_claim()


def call_off(session: Session, bot_id: str) -> None:
    """Postpone a pending check after a failed handshake; it follows the next handshake that succeeds."""
    if is_pending(session, bot_id):
        drop(session, bot_id)
        want(session, bot_id)


def is_pending(session: Session, bot_id: str) -> bool:
    """Return whether a check of the bot is due or running."""
    state = session.scalar(select(Examination.state).where(Examination.bot_id == bot_id))
    return state not in (None, "idle")


def follow_check(session: Session, bot: Bot, moment: datetime) -> None:
    """After a check that went well: the bot is due to be examined, unless it was lately."""
    one = get_or_create_examination(session, bot.id)
    if one.state == "idle" and _is_needed(session, one, bot, moment):
        one.state, one.due_at, one.lost_claims = "due", moment, 0
        one.questions_sent = one.questions_total = 0
        one.current_step = ""
        one.revoke_claim()


def catch_up(session: Session) -> None:
    """Make checks due for bots whose certificate is for outdated rules or an outdated protocol."""
    moment = current_time(session)
    held = select(Certificate, Bot).join(Bot, and_(Bot.id == Certificate.bot_id, Bot.version == Certificate.version))
    held = held.where(Certificate.ended_at.is_(None), Bot.status.in_(PROVEN), Bot.url == Bot.verified_url)
    for certificate, bot in session.execute(held.order_by(Bot.id)).all():
        if len(certificates.valid_games(certificate, bot)) < len(
            certificates.current_rules_versions(certificate.rules)
        ):
            follow_check(session, bot, moment)


def tell(session: Session, claimed: ClaimedCheck, asked: int, planned: int, what: str) -> None:
    """Notes how far it is, and holds the claim on. Raises ``StaleEpoch`` when it is no longer ours."""
    LEASES.update(
        session, claimed.bot_id, claimed.epoch, questions_sent=asked, questions_total=planned, current_step=what[:40]
    )


def give_back(session: Session, claimed: ClaimedCheck) -> None:
    """Release a claim, so that the check is due again immediately and does not count as lost."""
    LEASES.release(session, [(claimed.bot_id, claimed.epoch)])


def finish(session: Session, claimed: ClaimedCheck, outcome: ExaminationOutcome) -> None:
    """Record the outcome of a check, end earlier certificates of this version, and issue one for the games that passed.

    Raise ``StaleEpoch`` when the check was claimed again or the address changed.
    """
    # Lock the bot first, the order of all who change a bot, and read it again: it may have changed.
    locked = select(Bot).where(Bot.id == claimed.bot_id).with_for_update()
    bot = session.scalars(locked.execution_options(populate_existing=True)).one()
    examination = LEASES.lock(session, claimed.bot_id, claimed.epoch)
    moment = current_time(session)
    version = bot.version if outcome.version is None else make_storable(outcome.version)[:128]
    end_examination(examination, version, dict(outcome.asked), outcome.report, moment)
    if version is None:
        return
    certificates.end_certificates(session, bot.id, version, "replaced" if outcome.passed else "failed")
    if outcome.passed:
        certificates.issue_certificate(
            session, bot.id, version, outcome.passed, protocol=outcome.protocol, warnings=outcome.warnings
        )
    if version != bot.version:
        _note_replaced(session, claimed, bot, version, outcome)


def _note_replaced(
    session: Session, claimed: ClaimedCheck, bot: Bot, version: str, outcome: ExaminationOutcome
) -> None:
    """Adopt the version that was checked, which is not the one of the last handshake.

    If another handshake took place meanwhile, its version is newer: then a check of that one is scheduled. Deviation
    none is, since a bot that announces a new version every time would be checked endlessly.
    """
    if claimed.since is not None and bot.checked_at is not None and bot.checked_at > claimed.since:
        follow_check(session, bot, current_time(session))
        return
    bot.version = version
    bot.games = bot.games if outcome.games is None else [make_storable(game)[:40] for game in outcome.games]
    bot.max_concurrent_requests = outcome.max_concurrent_requests or bot.max_concurrent_requests
    bot.revision += 1


def _is_needed(session: Session, last: Examination, bot: Bot, moment: datetime) -> bool:
    if last.requested_by_owner:
        return True
    rules = certificates.current_rules_versions(bot.games)
    attested = certificates.certified_games(session, bot, since=moment - YOUNG)
    lacking = {game: version for game, version in rules.items() if game not in attested}
    if not lacking:
        return False
    seen = last.ended_at is not None and last.version == bot.version and certificates.checked_protocol(last) == PROTOCOL
    seen = seen and all(last.rules.get(game) == version for game, version in lacking.items())
    return not seen or last.ended_at is None or last.ended_at <= moment - REPEATED_AFTER


def end_examination(one: Examination, version: str | None, rules: Json, report: Json, moment: datetime) -> None:
    """End an examination with its report; ``rules`` are the versions of the rules by game that were asked."""
    one.state, one.due_at, one.requested_by_owner, one.lost_claims = "idle", None, False, 0
    one.end_lease()
    one.version, one.rules, one.report, one.ended_at = version, rules, report, moment
