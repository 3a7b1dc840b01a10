"""Define the scopes of tokens, which limit what a token may do. The values are stored and shown by the API."""

from collections.abc import Collection
from enum import StrEnum
from typing import Final

from referee.errors import BadOption


class Scope(StrEnum):
    READ = "read"
    PLAY = "play"
    ORGANISE = "organise"
    ALL = "all"


MEANINGS: Final = {
    Scope.READ: "Read what the account may see, except join codes, its export, acts and what only operators may read.",
    Scope.PLAY: "Also register and manage bots, arrange friendlies, and enter tournaments.",
    Scope.ORGANISE: "Also create and run tournaments, if the account may organise.",
    Scope.ALL: "Everything, including tokens, webhooks, the account itself and what only operators may do.",
}


def normalize_scopes(scopes: Collection[str]) -> list[str]:
    """Return the scopes in a fixed order without redundant ones. Raise ``BadOption`` for unknown ones and for none."""
    unknown = set(scopes) - {scope.value for scope in Scope}
    if unknown or not scopes:
        raise BadOption("scopes", f"must name at least one of {', '.join(Scope)}, and nothing else")
    if Scope.ALL in scopes:
        return [Scope.ALL.value]
    actions = [scope.value for scope in (Scope.PLAY, Scope.ORGANISE) if scope in scopes]
    return actions or [Scope.READ.value]
