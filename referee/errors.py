"""Errors of the domain: who made the mistake and what was expected. Status codes belong to the API."""


class RefereeError(Exception):
    """Base class of all errors that the referee raises deliberately."""


# -- games and logs --


class IllegalAction(RefereeError):
    """The action is not legal for this seat in this position. The position is unchanged."""


class IllegalOutcome(RefereeError):
    """The chance outcome does not fit what the position asks for. The position is unchanged."""


class NoSuchGame(RefereeError):
    """No game has this name."""


class BadOption(RefereeError):
    """An option is unknown, of a wrong type or out of bounds.

    ``field`` is the option (or ``players``), ``reason`` what was expected.
    """

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class BadLog(RefereeError):
    """A match log is invalid at ``row``, counted from 0."""

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(f"row {row}: {reason}")
        self.row = row
        self.reason = reason


# -- bots --


class UrlRefused(RefereeError):
    """The referee does not call this bot address. ``code`` is stable, ``reason`` is for the owner."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code
        self.reason = reason


# -- database --


class NotFound(RefereeError):
    """No object of this kind has this id, or the account may not see it."""

    def __init__(self, kind: str, id: str) -> None:
        super().__init__(f"no {kind} has the id {id}")
        self.kind = kind
        self.id = id


class Forbidden(RefereeError):
    """The account may see the object but not do this."""


class Conflict(RefereeError):
    """The state of the object does not allow this."""


class NameTaken(Conflict):
    """Another object has this name, or one that looks the same."""


class QuotaExceeded(Conflict):
    """The owner has reached the limit for objects of this kind."""


class NoCertificate(Conflict):
    """The bot may not play rated matches: it has no certificate for its version and the game's rules."""


class NotReady(Conflict):
    """The requested data is not available yet, for example a log before its deal group is over."""


class StaleEpoch(RefereeError):
    """Another runner has claimed the match since; this one must stop writing to it."""


class Unavailable(RefereeError):
    """The database or the queue is temporarily unavailable. A retry may succeed."""
