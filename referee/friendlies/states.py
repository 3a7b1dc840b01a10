"""Define who may challenge a bot, and the states of requests. The values are stored and shown by the API."""

from enum import StrEnum


class Challengers(StrEnum):
    """List whose friendlies a bot plays. Accounts that its owner has blocked are refused in any case."""

    ANYONE = "anyone"
    ON_REQUEST = "on_request"  # accepted accounts immediately; the owner decides about each request of others
    LISTED = "listed"  # only accounts that its owner has accepted
    NOBODY = "nobody"  # only its owner


class ChallengerVerdict(StrEnum):
    """List what an owner decides about all friendlies of another account."""

    ACCEPTED = "accepted"
    BLOCKED = "blocked"


class RequestState(StrEnum):
    """List the states of a request for a friendly."""

    PENDING = "pending"
    ACCEPTED = "accepted"  # by all owners who had to decide; the match is created
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"
