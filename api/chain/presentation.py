"""Prepare keys and entries of the chain for the API and the page."""

from dataclasses import asdict
from typing import Any

from api.views import current_session, master_key
from referee.match.signature import LogSignature
from referee.match.signing_keys import ALGORITHM, SigningKey
from referee.matches.logs import chain

Json = dict[str, Any]


def list_keys() -> list[Json]:
    """Return the public keys of the service, the current one first."""
    current = SigningKey.derive(master_key()).public
    used = {each.key: each for each in chain.list_keys(current_session())}
    keys = [current, *(key for key in used if key != current)]
    return [
        {
            "id": key.id,
            "algorithm": ALGORITHM,
            "public_key": key.raw.hex(),
            "text": key.text,
            "current": key == current,
            "since": used[key].since if key in used else None,
            "until": used[key].until if key in used else None,
            "last_number": used[key].last_number if key in used else None,
        }
        for key in keys
    ]


def present_signature(entry: LogSignature) -> Json:
    """Return an entry with its digest."""
    return {**asdict(entry), "digest": entry.digest()}
