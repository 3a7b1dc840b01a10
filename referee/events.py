"""List what the service reports to extras, in the transaction in which it happens. ``db.reporting`` passes it on."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import dataclass_transform


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Event:
    """Report something. Members named after a kind of object, such as ``bot``, hold an id.

    Every kind of event is a frozen dataclass, whose members are keywords.
    """

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)


# -- what concerns the owners of accounts --


class AccountEvent(Event):
    """Report something that concerns these ``accounts``."""

    accounts: Collection[str]


class AccountRecovered(AccountEvent):
    """Report that all tokens were replaced. ``proof`` is "recovery_code" or the bot whose secret was used."""

    account: str
    proof: str
    at: datetime


class RecoveryCodeMade(AccountEvent):
    account: str
    token: str
    at: datetime


class BotUnhealthy(AccountEvent):
    """Report that a bot did not answer: before a tournament, or in too many matches, so that it is paused."""

    bot: str
    name: str
    tournament: str | None
    reason: str


class CertificateLost(AccountEvent):
    """Report that a version failed the check for games for which the bot had a certificate."""

    bot: str
    name: str
    version: str
    games: Collection[str]


class FriendlyRequested(AccountEvent):
    request: str
    game: str
    bots: Collection[str]
    names: Collection[str]
    by: str
    by_name: str


class FriendlyDecided(AccountEvent):
    request: str
    game: str
    state: str
    match: str | None
    reason: str | None


class FriendlyCancelled(AccountEvent):
    """Report that the service ended a friendly that lasted too long."""

    match: str
    game: str
    bots: Collection[str]
    names: Collection[str]
    reason: str | None


class InvitationReceived(AccountEvent):
    """Report an invitation to organise something or, with a ``bot``, to enter it.

    ``about`` has the id of the object under its kind, and None under each other kind. ``name`` is that of the object.
    """

    invitation: str
    about: Mapping[str, str | None]
    name: str
    bot: str | None
    bot_name: str | None
    by: str
    by_name: str


class InvitationDecided(AccountEvent):
    """Report that an invitation was accepted or declined. ``about`` and ``name`` are as in ``InvitationReceived``."""

    invitation: str
    about: Mapping[str, str | None]
    name: str
    bot: str | None
    state: str


class GuestsInvited(AccountEvent):
    """Report that accounts are guests of a tournament that is open."""

    tournament: str
    name: str
    game: str


class TournamentEvent(AccountEvent):
    """Report something that concerns the organisers of a tournament and the owners of its bots."""

    tournament: str
    name: str
    game: str
    format: str
    status: str


class TournamentStarted(TournamentEvent):
    pass


class TournamentFinished(TournamentEvent):
    pass


class TournamentCancelled(TournamentEvent):
    reason: str | None


class TournamentChanged(TournamentEvent):
    """Report that these terms were ``changed``."""

    changed: Collection[str]


class TournamentHeldUp(AccountEvent):
    """Report that a tournament missed its start, or waits for matches that are stuck."""

    tournament: str
    name: str
    reason: str


class BotEntered(AccountEvent):
    """Report that an organiser entered a bot."""

    tournament: str
    name: str
    bot: str
    bot_name: str
    by: str
    by_name: str


class EntryDecided(AccountEvent):
    """Report that an organiser decided about the request to enter a bot."""

    tournament: str
    name: str
    bot: str
    approved: bool
    reason: str | None


class BotDisqualified(AccountEvent):
    tournament: str
    name: str
    bot: str
    reason: str


# -- what is deleted or erased --


class AccountDeleted(Event):
    """Report that an account is deleted, after its tournaments were handed over and before its bots are deleted."""

    account: str


class AccountErased(Event):
    """Report that an account and its bots are deleted, and the neutral name that the account has now."""

    account: str
    name: str


class BotDeleted(Event):
    """Report that a bot was deleted, and its name now. Earlier names are erased, except for those in ``kept``."""

    bot: str
    name: str
    kept: Collection[str]


class TournamentErased(Event):
    """Report that a tournament lost its name with its organiser, and the neutral name that it has now."""

    tournament: str
    name: str
