"""Create ids: a prefix that names the kind, then 128 random bits, which reveal nothing and cannot be guessed."""

import secrets
from typing import Final

PREFIXES: Final = {
    "account": "acc",
    "token": "tok",
    "bot": "bot",
    "group": "grp",
    "match": "mat",
    "ladder": "lad",
    "tournament": "trn",
    "certificate": "crt",
    "match void": "vod",
    "friendly request": "frq",
    "invitation": "inv",
}

_DIGITS: Final = "0123456789abcdefghjkmnpqrstvwxyz"  # no i, l, o, u: they are easily misread


def new_id(kind: str) -> str:
    """Return a new id of this kind (``bot``, ``match``, …) or with this prefix (``mat``, …)."""
    prefix = PREFIXES.get(kind, kind)
    number = secrets.randbits(128)
    return f"{prefix}_" + "".join(_DIGITS[number >> shift & 31] for shift in range(125, -1, -5))
