"""The domain's errors: who erred and what was expected. Status codes belong to the API."""


class RefereeError(Exception):
    """Root of everything the referee raises on purpose."""


# -- games and logs --


class IllegalAction(RefereeError):
    """A seat may not do this here; the position is unchanged."""


class IllegalOutcome(RefereeError):
    """A chance outcome that the position did not ask for; the position is unchanged."""


class NoSuchGame(RefereeError):
    """The catalogue holds no game of this name."""


class BadOption(RefereeError):
    """An option is unknown, of a wrong type or out of bounds.

    ``field`` names the option (or ``players``), ``reason`` says what was expected.
    """

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class BadLog(RefereeError):
    """A match log that does not hold together; ``row`` counts from 0."""

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(f"row {row}: {reason}")
        self.row = row
        self.reason = reason


# -- bots --


class UrlRefused(RefereeError):
    """A bot's address that we will not call; ``code`` is stable, ``reason`` is for the owner."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code
        self.reason = reason


# -- the record --


class NotFound(RefereeError):
    """Nothing of this kind bears this id, or it is not the asker's to see."""

    def __init__(self, kind: str, id: str) -> None:
        super().__init__(f"no {kind} has the id {id}")
        self.kind = kind
        self.id = id


class Forbidden(RefereeError):
    """The account may see this but not do it."""


class Conflict(RefereeError):
    """The thing is in a state that does not allow this."""


class NameTaken(Conflict):
    """Another bears this name, or one that looks like it."""


class QuotaExceeded(Conflict):
    """The owner has as many of these as are allowed."""


class NoCertificate(Conflict):
    """The bot may not play rated yet: no certificate fits its version and the game's rules."""


class NotReady(Conflict):
    """What was asked for opens later: a log before its deal group is over."""


class StaleEpoch(RefereeError):
    """The match was claimed by another runner since; this one must stop writing to it."""


class Unavailable(RefereeError):
    """The record or the queue cannot answer now; asking again later may help."""
