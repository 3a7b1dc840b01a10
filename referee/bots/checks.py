"""Schedule, claim and finish checks of bots, which run the conformance suite and are stored as ``Check``.

A check follows a successful handshake (``handshakes``). A check that passes issues a certificate (``certificates``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from referee.bots import certificates
from referee.bots.states import PROVEN, CertificateEnd, CheckState
from referee.bots.tables import Bot, Certificate, Check
from referee.db.engine import current_time
from referee.db.leases import Leases
from referee.db.names import make_storable
from referee.protocol.messages import PROTOCOL

Json = dict[str, Any]

YOUNG: Final = timedelta(days=30)  # while a certificate is younger, only a request of the owner causes a check
REPEATED_AFTER: Final = timedelta(hours=1)  # time after a failed check before a handshake causes another
LOST_BEFORE_GIVEN_UP: Final = 3
GIVEN_UP: Final = {"verdict": "referee_failed", "findings": [], "detail": "the referee could not finish it"}
LEASES: Final = Leases(Check, state="state", lost="lost_claims")


@dataclass(frozen=True, slots=True)
class ClaimedCheck:
    """Hold a claimed check. ``at_once`` is the number of concurrent calls that the bot accepts beyond its matches."""

    bot_id: str
    epoch: int
    at_once: int
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """Describe the outcome of a check. ``asked`` and ``passed`` map games to versions of their rules.

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


def get_or_create_check(session: Session, bot_id: str) -> Check:
    """Return the check of a bot. Create its row if there is none."""
    found = find_check(session, bot_id)
    if found is None:
        found = Check(bot_id=bot_id)
        session.add(found)
        session.flush()
    return found


def find_check(session: Session, bot_id: str) -> Check | None:
    """Return the check of a bot, or None if it has no row: none was ever due."""
    return session.get(Check, bot_id)


def want(session: Session, bot_id: str) -> None:
    """Let the next successful handshake of the bot schedule a check, regardless of its certificates."""
    get_or_create_check(session, bot_id).requested_by_owner = True


def drop(session: Session, bot_id: str) -> None:
    """Drop a check that is due or running. Its result will be ignored."""
    check = get_or_create_check(session, bot_id)
    check.state, check.due_at, check.lost_claims = CheckState.IDLE, None, 0
    check.revoke_claim()


def call_off(session: Session, bot_id: str) -> None:
    """After a handshake has failed, postpone a pending check until the next handshake that succeeds."""
    if is_pending(session, bot_id):
        drop(session, bot_id)
        want(session, bot_id)


def is_pending(session: Session, bot_id: str) -> bool:
    """Return whether a check of the bot is due or running."""
    state = session.scalar(select(Check.state).where(Check.bot_id == bot_id))
    return state not in (None, CheckState.IDLE)


def schedule_if_needed(session: Session, bot: Bot, moment: datetime) -> None:
    """Make a check due after a successful handshake, unless the bot was checked recently."""
    check = get_or_create_check(session, bot.id)
    if check.state == CheckState.IDLE and _is_needed(session, check, bot, moment):
        check.state, check.due_at, check.lost_claims = CheckState.DUE, moment, 0
        check.questions_sent = check.questions_total = 0
        check.current_step = ""
        check.revoke_claim()


def catch_up(session: Session) -> None:
    """Make checks due for bots whose certificate is for outdated rules or an outdated protocol."""
    moment = current_time(session)
    held = select(Certificate, Bot).join(Bot, and_(Bot.id == Certificate.bot_id, Bot.version == Certificate.version))
    held = held.where(Certificate.ended_at.is_(None), Bot.status.in_(PROVEN), Bot.url == Bot.verified_url)
    for certificate, bot in session.execute(held.order_by(Bot.id)).all():
        if len(certificates.valid_games(certificate, bot)) < len(
            certificates.current_rules_versions(certificate.rules)
        ):
            schedule_if_needed(session, bot, moment)


def tell(session: Session, claimed: ClaimedCheck, asked: int, planned: int, what: str) -> None:
    """Record the progress of a check and renew its claim. Raise ``StaleEpoch`` when the claim was lost."""
    LEASES.update(
        session, claimed.bot_id, claimed.epoch, questions_sent=asked, questions_total=planned, current_step=what[:40]
    )


def give_back(session: Session, claimed: ClaimedCheck) -> None:
    """Release a claim, so that the check is due again immediately and does not count as lost."""
    LEASES.release(session, [(claimed.bot_id, claimed.epoch)])


def finish(session: Session, claimed: ClaimedCheck, outcome: CheckOutcome) -> Certificate | None:
    """Record the outcome of a check, end earlier certificates of this version, and issue one for the games that passed.

    Return the certificate, or None if no game passed. Raise ``StaleEpoch`` when the check was claimed again or the
    address changed.
    """
    # Lock the bot first, as all functions that change bots do, and reread it, since it may have changed.
    locked = select(Bot).where(Bot.id == claimed.bot_id).with_for_update()
    bot = session.scalars(locked.execution_options(populate_existing=True)).one()
    check = LEASES.lock(session, claimed.bot_id, claimed.epoch)
    moment = current_time(session)
    version = bot.version if outcome.version is None else make_storable(outcome.version)[:128]
    end_check(check, version, dict(outcome.asked), outcome.report, moment)
    if version is None:
        return None
    certificates.end_certificates(
        session, bot.id, version, CertificateEnd.REPLACED if outcome.passed else CertificateEnd.FAILED
    )
    certificate = None
    if outcome.passed:
        certificate = certificates.issue_certificate(
            session, bot.id, version, outcome.passed, protocol=outcome.protocol, warnings=outcome.warnings
        )
    if version != bot.version:
        _note_replaced(session, claimed, bot, version, outcome)
    return certificate


def _note_replaced(session: Session, claimed: ClaimedCheck, bot: Bot, version: str, outcome: CheckOutcome) -> None:
    """Adopt the version that was checked, if it differs from that of the last handshake.

    If another handshake has taken place meanwhile, its version is newer, and that version is checked instead. No
    other check is scheduled, since a bot that announces a new version every time would be checked endlessly.
    """
    if claimed.since is not None and bot.handshake_ended_at is not None and bot.handshake_ended_at > claimed.since:
        schedule_if_needed(session, bot, current_time(session))
        return
    bot.version = version
    bot.games = bot.games if outcome.games is None else [make_storable(game)[:40] for game in outcome.games]
    bot.max_concurrent_requests = outcome.max_concurrent_requests or bot.max_concurrent_requests
    bot.revision += 1


def _is_needed(session: Session, last: Check, bot: Bot, moment: datetime) -> bool:
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


def end_check(check: Check, version: str | None, rules: Json, report: Json, moment: datetime) -> None:
    """End a check with its report. ``rules`` maps the games that were checked to versions of their rules."""
    check.state, check.due_at, check.requested_by_owner, check.lost_claims = CheckState.IDLE, None, False, 0
    check.end_lease()
    check.version, check.rules, check.report, check.ended_at = version, rules, report, moment
