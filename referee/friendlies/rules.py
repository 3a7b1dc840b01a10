"""Decide whether an account may challenge a bot. Owners set the rules; they bind friendlies only."""

from collections.abc import Iterable
from typing import Final

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from referee.accounts import accounts
from referee.bots.states import BotState
from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.errors import Conflict, Forbidden, NeedsAcceptance, NotFound, QuotaExceeded
from referee.friendlies.states import Challengers, ChallengerVerdict
from referee.friendlies.tables import ChallengerEntry, FriendlyRules

MAX_ENTRIES: Final = 200  # accounts that an owner has accepted or blocked


def get_challengers(session: Session, bot_id: str) -> Challengers:
    """Return who may challenge a bot. Without a rule, it plays with anyone."""
    row = session.get(FriendlyRules, bot_id)
    return Challengers.ANYONE if row is None else row.challengers


def set_challengers(session: Session, bot: Bot, challengers: Challengers) -> None:
    """Set who may challenge a bot. Raise ``Conflict`` for a house bot or one that is retired."""
    if bot.status in (BotState.RETIRED, BotState.HOUSE):
        raise Conflict(f"The bot is {bot.status}, so nothing can be set for its friendlies.")
    row = session.get(FriendlyRules, bot.id) or FriendlyRules(bot_id=bot.id)
    row.challengers = challengers
    session.add(row)
    session.flush()


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
    """Raise an error with a sentence for people unless the account may play a friendly with these bots."""
    for bot in bots:
        if obstacle := find_obstacle(session, challenger_id, bot):
            raise obstacle


def owners_to_ask(session: Session, challenger_id: str, bots: Iterable[Bot]) -> set[str]:
    """Return the owners who have to accept a friendly with these bots.

    Raise an error unless all bots may be challenged or requested.
    """
    owners = set()
    for bot in bots:
        match find_obstacle(session, challenger_id, bot):
            case NeedsAcceptance():
                owners.add(bot.owner_id)
            case Forbidden() as obstacle:
                raise obstacle
    return owners


def find_obstacle(
    session: Session, challenger_id: str, bot: Bot, *, accepted: bool = False
) -> Forbidden | NeedsAcceptance | None:
    """Return why the account may not play a friendly with this bot, or None.

    A ``NeedsAcceptance`` means that the owner can be asked; ``accepted`` means that they have been, and agreed.
    """
    if bot.owner_id == challenger_id or bot.status == BotState.HOUSE:
        return None
    name, entry = repr(bot.name), session.get(ChallengerEntry, (bot.owner_id, challenger_id))
    if entry is not None and entry.verdict == ChallengerVerdict.BLOCKED:
        return Forbidden(f"The owner of {name} does not play friendlies with your account.")
    is_listed = entry is not None or accepted
    match get_challengers(session, bot.id):
        case Challengers.NOBODY:
            return Forbidden(f"The owner of {name} has switched friendlies with other accounts off.")
        case Challengers.LISTED if not is_listed:
            return Forbidden(f"{name} plays friendlies only with accounts that its owner has accepted.")
        case Challengers.ON_REQUEST if not is_listed:
            return NeedsAcceptance(
                f"The owner of {name} decides about each friendly. Send this match to POST /api/v1/friendly-requests."
            )
    return None


SENTENCES: Final = {  # for everybody: who may challenge a bot
    Challengers.ANYONE: "Anyone may challenge it.",
    Challengers.ON_REQUEST: "Its owner decides about each friendly.",
    Challengers.LISTED: "Only accounts that its owner has accepted may challenge it.",
    Challengers.NOBODY: "It plays no friendlies with bots of others.",
}
