"""Define the errors of the domain, which say who made a mistake and what was expected. The API adds status codes."""

from collections.abc import Sequence


class RefereeError(Exception):
    """Serve as the base class of all errors that the referee raises deliberately."""


# -- games and logs --


class IllegalAction(RefereeError):
    """Signal that an action is not legal for a seat in the current position. The position is unchanged."""


class IllegalOutcome(RefereeError):
    """Signal that a chance outcome is not one that the position asks for. The position is unchanged."""


class NoSuchGame(RefereeError):
    """Signal that no game has the given name."""


class BrokenGame(RefereeError):
    """Signal that a game of an installed package cannot be used. The message names both and says what to do."""


class BadOption(RefereeError):
    """Signal that an option is unknown, has the wrong type or is out of bounds.

    ``field`` is the name of the option, or ``players`` if their number is wrong. ``reason`` says what was expected.
    """

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class BadNames(RefereeError):
    """Signal that names of a list cannot be used. ``problems`` are pairs of the place of a name, from 0, and why."""

    def __init__(self, problems: Sequence[tuple[int, str]]) -> None:
        super().__init__("; ".join(f"names.{place}: {reason}" for place, reason in problems))
        self.problems = tuple(problems)


class BadLog(RefereeError):
    """Signal that a match log is invalid at ``row``, counted from 0."""

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(f"row {row}: {reason}")
        self.row = row
        self.reason = reason


class DamagedLog(BadLog):
    """Signal that a stored log is not the one that was stored: it was changed, or a part of it was lost."""

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(row, f"the stored log is damaged: {reason}")


class DamagedChain(RefereeError):
    """Signal that the stored chain of signatures was changed at an entry, whose ``number`` counts from 1."""

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(f"entry {number} of the stored chain of signatures is damaged: {reason}")
        self.number = number
        self.reason = reason


# -- accounts --


class RecoveryRefused(RefereeError):
    """Signal that nothing proved that somebody may recover an account. The text never says what was wrong."""


# -- bots --


class UrlRefused(RefereeError):
    """Signal that the referee refuses to call a bot's URL. ``code`` is stable; ``reason`` is a text for the owner."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code
        self.reason = reason


# -- database --


class NotFound(RefereeError):
    """Signal that no object of a kind has the given id, or that the account may not see it."""

    def __init__(self, kind: str, id: str) -> None:
        super().__init__(f"no {kind} has the id {id}")
        self.kind = kind
        self.id = id


class Forbidden(RefereeError):
    """Signal that the account may see the object but may not do this with it."""


class Conflict(RefereeError):
    """Signal that the state of the object does not allow the operation."""


class NameTaken(Conflict):
    """Signal that another object has the same name, or one that looks the same."""


class QuotaExceeded(Conflict):
    """Signal that the owner has reached the limit for objects of this kind."""


class NoCertificate(Conflict):
    """Signal that a bot may not play rated matches, since no certificate covers its version and the game's rules."""


class NeedsAcceptance(Conflict):
    """Signal that the owner of a bot decides about each friendly, and can be asked."""


class NotReady(Conflict):
    """Signal that the requested data is not available yet, for example a log before its deal group has closed."""


class LogDeleted(RefereeError):
    """Signal that the log of a match was deleted after the time for which the service keeps it."""


class StaleEpoch(RefereeError):
    """Signal that another runner has claimed the match, so that this one must stop writing to it."""


class Unavailable(RefereeError):
    """Signal that the database or the queue is temporarily unavailable. A retry may succeed."""


class CallNotMade(Unavailable):
    """Signal that this host could not call a bot, usually for lack of file descriptors, threads or memory."""


class NoRoom(Unavailable):
    """Signal that too many calls to an address are under way, so that one was not made. No bot is at fault."""


class NoAuthorities(CallNotMade):
    """Signal that this host cannot verify certificates because it has no usable certificate authorities."""
