"""Decide whether an account may challenge a bot now. Owners set the rules; they bind friendlies only."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from referee.accounts import accounts
from referee.bots.states import BotState
from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.errors import BadOption, Conflict, Forbidden, NeedsAcceptance, NotFound, QuotaExceeded
from referee.friendlies.states import Challengers, ChallengerVerdict
from referee.friendlies.tables import ChallengerEntry, FriendlyRules

MAX_ENTRIES: Final = 200  # accounts that an owner has accepted or blocked


@dataclass(frozen=True, slots=True)
class Hours:
    """Hold the hours of the day in which friendlies may begin, in minutes after midnight. They may cross midnight."""

    opens_at: int
    closes_at: int
    time_zone: str

    def include(self, moment: datetime) -> bool:
        minute = self.local_minute(moment)
        if self.opens_at < self.closes_at:
            return self.opens_at <= minute < self.closes_at
        return minute >= self.opens_at or minute < self.closes_at

    def local_minute(self, moment: datetime) -> int:
        local = moment.astimezone(ZoneInfo(self.time_zone))
        return local.hour * 60 + local.minute

    def describe(self) -> str:
        return f"from {format_minute(self.opens_at)} to {format_minute(self.closes_at)} ({self.time_zone})"


@dataclass(frozen=True, slots=True)
class BotRules:
    """Hold who may challenge a bot, and in which hours; None for any time."""

    challengers: Challengers = Challengers.ANYONE
    hours: Hours | None = None


def get_rules(session: Session, bot_id: str) -> BotRules:
    """Return the rules of a bot. Without any, it plays with anyone at any time."""
    row = session.get(FriendlyRules, bot_id)
    return BotRules() if row is None else BotRules(row.challengers, _hours_of(row))


def set_rules(session: Session, bot: Bot, rules: BotRules) -> None:
    """Replace the rules of a bot. Raise ``BadOption`` for hours without length or an unknown time zone."""
    hours = rules.hours
    if hours is not None:
        validate_hours(hours)
    if bot.status in (BotState.RETIRED, BotState.HOUSE):
        raise Conflict(f"The bot is {bot.status}, so nothing can be set for its friendlies.")
    row = session.get(FriendlyRules, bot.id) or FriendlyRules(bot_id=bot.id)
    row.challengers = rules.challengers
    row.opens_at, row.closes_at, row.time_zone = (
        (None, None, None) if hours is None else (hours.opens_at, hours.closes_at, hours.time_zone)
    )
    session.add(row)
    session.flush()


def validate_hours(hours: Hours) -> None:
    """Raise ``BadOption`` for hours without length or a time zone that is not known."""
    if hours.opens_at == hours.closes_at:
        raise BadOption("hours", "must not begin and end at the same time; leave out the hours for the whole day")
    try:
        ZoneInfo(hours.time_zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadOption("hours.time_zone", "must be the name of a time zone, such as Europe/Berlin or UTC") from None


def list_entries(session: Session, owner_id: str) -> list[ChallengerEntry]:
    """Return the accounts that the owner has accepted or blocked, newest first."""
    query = select(ChallengerEntry).where(ChallengerEntry.owner_id == owner_id)
    return list(session.scalars(query.order_by(ChallengerEntry.created_at.desc(), ChallengerEntry.account_id)))


def put_entry(session: Session, owner_id: str, account_id: str, verdict: ChallengerVerdict) -> ChallengerEntry:
    """Accept or block all friendlies of an account. Raise ``NotFound`` for an account without bots, and
    ``QuotaExceeded`` above ``MAX_ENTRIES``.

    Accounts without bots can challenge nobody, and that they exist is not public.
    """
    accounts.lock_present(session, owner_id)
    if account_id == owner_id or session.scalar(select(Bot.id).where(Bot.owner_id == account_id).limit(1)) is None:
        raise NotFound("owner", account_id)
    entry = session.get(ChallengerEntry, (owner_id, account_id))
    if entry is None:
        count = session.scalars(select(func.count()).where(ChallengerEntry.owner_id == owner_id)).one()
        if count >= MAX_ENTRIES:
            raise QuotaExceeded(f"You have listed {count} accounts; the limit is {MAX_ENTRIES}. Remove one first.")
        entry = ChallengerEntry(owner_id=owner_id, account_id=account_id, created_at=current_time(session))
    entry.verdict = verdict
    session.add(entry)
    session.flush()
    return entry


def remove_entry(session: Session, owner_id: str, account_id: str) -> None:
    """Forget what the owner decided about an account."""
    mine = ChallengerEntry.owner_id == owner_id, ChallengerEntry.account_id == account_id
    session.execute(delete(ChallengerEntry).where(*mine))


def check_challenge(session: Session, challenger_id: str, bots: Iterable[Bot]) -> None:
    """Raise an error with a sentence for people unless the account may play a friendly with these bots now."""
    for bot in bots:
        if obstacle := find_obstacle(session, challenger_id, bot):
            raise obstacle


def owners_to_ask(session: Session, challenger_id: str, bots: Iterable[Bot]) -> set[str]:
    """Return the owners who have to accept a friendly with these bots.

    Raise an error unless all bots may be challenged or requested. The hours count when the match is created.
    """
    owners = set()
    for bot in bots:
        match find_obstacle(session, challenger_id, bot, at_any_time=True):
            case NeedsAcceptance():
                owners.add(bot.owner_id)
            case Forbidden() | Conflict() as obstacle:
                raise obstacle
    return owners


def find_obstacle(
    session: Session, challenger_id: str, bot: Bot, *, at_any_time: bool = False, accepted: bool = False
) -> Forbidden | Conflict | None:
    """Return why the account may not play a friendly with this bot now, or None.

    A ``NeedsAcceptance`` means that the owner can be asked; ``accepted`` means that they have been, and agreed.
    """
    if bot.owner_id == challenger_id or bot.status == BotState.HOUSE:
        return None
    rules, name = get_rules(session, bot.id), repr(bot.name)
    entry = session.get(ChallengerEntry, (bot.owner_id, challenger_id))
    if entry is not None and entry.verdict == ChallengerVerdict.BLOCKED:
        return Forbidden(f"The owner of {name} does not play friendlies with your account.")
    is_listed = entry is not None or accepted
    match rules.challengers:
        case Challengers.NOBODY:
            return Forbidden(f"The owner of {name} has switched friendlies with other accounts off.")
        case Challengers.LISTED if not is_listed:
            return Forbidden(f"{name} plays friendlies only with accounts that its owner has accepted.")
    if rules.hours is not None and not at_any_time and not rules.hours.include(moment := current_time(session)):
        now = format_minute(rules.hours.local_minute(moment))
        return Conflict(f"{name} begins friendlies only {rules.hours.describe()}; it is {now} there now.")
    if rules.challengers == Challengers.ON_REQUEST and not is_listed:
        return NeedsAcceptance(
            f"The owner of {name} decides about each friendly. Send this match to POST /api/v1/friendly-requests."
        )
    return None


def format_minute(minute: int) -> str:
    """Return a minute of the day, such as 18:05."""
    return f"{minute // 60:02}:{minute % 60:02}"


def parse_minute(text: str) -> int:
    """Return the minute of the day that ``format_minute`` writes. Raise ``ValueError`` for any other text."""
    hours, minutes = (int(part) for part in text.split(":"))
    if len(text) != 5 or not (0 <= hours < 24 and 0 <= minutes < 60):
        raise ValueError(text)
    return hours * 60 + minutes


def describe_rules(rules: BotRules) -> str:
    """Return a sentence for everybody that says who may challenge the bot, and when."""
    sentences: Sequence[str] = [_SENTENCES[rules.challengers]]
    if rules.hours is not None and rules.challengers != Challengers.NOBODY:
        sentences = [*sentences, f"Friendlies begin {rules.hours.describe()} only."]
    return " ".join(sentences)


def _hours_of(row: FriendlyRules) -> Hours | None:
    if row.opens_at is None or row.closes_at is None or row.time_zone is None:
        return None
    return Hours(row.opens_at, row.closes_at, row.time_zone)


_SENTENCES: Final = {
    Challengers.ANYONE: "Anyone may challenge it.",
    Challengers.ON_REQUEST: "Its owner decides about each friendly.",
    Challengers.LISTED: "Only accounts that its owner has accepted may challenge it.",
    Challengers.NOBODY: "It plays no friendlies with bots of others.",
}
