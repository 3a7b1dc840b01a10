"""State what is revealed about a deal group when it is closed: its seed, its nonces and its earlier openings.

A bot that promises a nonce and withholds it ends the opening of its group. Otherwise the operator, who knows the seed,
could choose among the deals with and without each promised nonce.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final

from referee.errors import RefereeError
from referee.match.canonical import Json
from referee.match.chance import commitment
from referee.match.log import digest

_MEMBERS: Final = frozenset({"type", "row", "prev", "seed", "nonces", "nonce_hashes", "accepted", "openings"})
_OPENING_MEMBERS: Final = frozenset({"id", "commitment", "seed", "nonces", "nonce_hashes", "failures"})
_SEED: Final = re.compile(r"[0-9a-f]{64}")
_NONCE: Final = re.compile(r"[0-9A-Za-z_-]{0,64}")


class OpeningFailure(StrEnum):
    """List the reasons for which a bot ends the opening of a deal group."""

    NONCE_WITHHELD = "nonce_withheld"  # it promised a nonce in step 1 and did not give it in step 2
    NONCES_REFUSED = "nonces_refused"  # it answered false in step 3


class BadReveal(RefereeError):
    """Report a reveal that is malformed or contradicts itself or the header."""


@dataclass(frozen=True, slots=True)
class EndedOpening:
    """Describe an opening that ended without a deal.

    ``nonces`` and ``nonce_hashes`` are in entry order, "" for a bot without one. ``failures`` has an ``OpeningFailure``
    for each bot that ended it, by bot id.
    """

    id: str
    commitment: str
    seed: bytes
    nonces: Sequence[str]
    nonce_hashes: Sequence[str]
    failures: Mapping[str, str]

    def to_json(self) -> Json:
        return {**asdict(self), "seed": self.seed.hex()}


@dataclass(frozen=True, slots=True)
class Reveal:
    """Hold what the last row of a log reveals.

    ``nonces``, ``nonce_hashes`` and ``accepted`` are in entry order. ``accepted`` has the answers to step 3, None for a
    bot that gave none. ``openings`` are the earlier openings, oldest first.
    """

    seed: bytes
    nonces: Sequence[str]
    nonce_hashes: Sequence[str]
    accepted: Sequence[bool | None]
    openings: Sequence[EndedOpening] = ()

    @classmethod
    def without_nonces(cls, seed: bytes, entries: int) -> "Reveal":
        """Return the reveal of a group none of whose bots gave a nonce."""
        return cls(seed, [""] * entries, [""] * entries, [None] * entries)

    def to_json(self) -> Json:
        """Return the members of the reveal row."""
        openings = [opening.to_json() for opening in self.openings]
        return {**asdict(self), "seed": self.seed.hex(), "openings": openings}


@dataclass(frozen=True, slots=True)
class DealOrigin:
    """State where the deals of a match come from.

    ``nonces`` is the number of bots whose nonces entered the deals. ``failures`` counts the failures that ended earlier
    openings, by ``OpeningFailure``, and ``openings`` is the number of openings, including the one that led to the
    deals.
    """

    nonces: int
    openings: int
    failures: Mapping[str, int]


def describe_origin(origin: DealOrigin) -> str:
    """Return a clause on where the deals come from."""
    if origin.nonces:
        nonces = f"{origin.nonces} bots" if origin.nonces > 1 else "1 bot"
        clause = f"deals follow from the revealed seed and the nonces of {nonces}"
    else:
        clause = "deals follow from the revealed seed alone: no bot gave a nonce, so the operator could choose it"
    if origin.openings > 1:
        failures = ", ".join(f"{count} by {code}" for code, count in sorted(origin.failures.items()))
        clause += f"; openings that ended before: {origin.openings - 1} ({failures})"
    return clause


def parse_reveal(header: Json, row: Json) -> tuple[Reveal, DealOrigin]:
    """Return what a reveal row states. Raise ``BadReveal`` if it is malformed or contradicts itself or the header.

    All promised nonces must be given, no bot may have refused them, and each earlier opening must name the bots that
    ended it, which were asked for no further nonce.
    """
    try:
        return _parse(header, row)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadReveal(f"the reveal is malformed: {error!r}") from None


def _parse(header: Json, row: Json) -> tuple[Reveal, DealOrigin]:
    group = header["group"]
    _require(row.keys() == _MEMBERS, f"the reveal must have just these members: {', '.join(sorted(_MEMBERS))}")
    seed = _parse_seed(group, row["seed"])
    missing = _count_missing(group["entries"], row["nonces"], row["nonce_hashes"])
    openings = _parse_openings(group, row["openings"])
    _require(not missing, f"promised nonces that are missing: {missing}, so this opening should have ended")
    _check_accepted(group["entries"], row["nonces"], row["accepted"])
    last = EndedOpening(group["id"], group["commitment"], seed, row["nonces"], row["nonce_hashes"], {})
    _check_left_out(group["entries"], [*openings, last])
    counted = Counter(code for opening in openings for code in opening.failures.values())
    reveal = Reveal(seed, row["nonces"], row["nonce_hashes"], row["accepted"], openings)
    given = sum(nonce != "" for nonce in row["nonces"])
    return reveal, DealOrigin(given, len(openings) + 1, dict(counted))


def _parse_seed(group: Json, text: Any) -> bytes:
    _require(_SEED.fullmatch(text) is not None, "a seed must be 64 lower-case hex digits")
    seed = bytes.fromhex(text)
    _require(
        commitment(seed, group["id"]) == group["commitment"],
        f"the seed is not the one promised by the commitment of {group['id']}",
    )
    return seed


def _count_missing(entries: Sequence[str], nonces: Any, hashes: Any) -> int:
    """Return the number of promised nonces that are missing."""
    count = len(entries)
    _require(isinstance(nonces, list) and isinstance(hashes, list), "nonces and their hashes must be lists")
    _require(len(nonces) == len(hashes) == count, f"expected a nonce and a hash for each of {count} entries")
    missing = 0
    for entry, (nonce, promised) in enumerate(zip(nonces, hashes, strict=True)):
        _require(_NONCE.fullmatch(nonce) is not None, f"nonce {entry} is not 1 to 64 letters, digits, _ or -")
        _require(promised == "" or _SEED.fullmatch(promised) is not None, f"nonce hash {entry} is not a hash")
        _require(not nonce or digest(nonce.encode()) == promised, f"nonce {entry} does not fit its hash")
        missing += promised != "" and nonce == ""
    return missing


def _check_accepted(entries: Sequence[str], nonces: Sequence[str], accepted: Any) -> None:
    _require(
        isinstance(accepted, list) and len(accepted) == len(entries),
        f"expected an answer to step 3 for each of {len(entries)} entries",
    )
    for entry, (nonce, answer) in enumerate(zip(nonces, accepted, strict=True)):
        _require(answer is None or answer is True, f"entry {entry} did not accept the nonces, which ends an opening")
        _require(answer is None or nonce != "", f"entry {entry} gave no nonce, so it was not asked to accept them")


def _parse_openings(group: Json, openings: Any) -> list[EndedOpening]:
    parsed = []
    _require(isinstance(openings, list), "earlier openings must be a list")
    for opening in openings:
        _require(opening.keys() == _OPENING_MEMBERS, "an earlier opening has missing or unknown members")
        seed = _parse_seed(opening, opening["seed"])
        failures = opening["failures"]
        _require(bool(failures) and failures.keys() <= set(group["entries"]), "an opening ends by a bot of the group")
        codes = {OpeningFailure(code) for code in failures.values()}
        _require(len(codes) == 1, "an opening ends at one of its steps")
        missing = _count_missing(group["entries"], opening["nonces"], opening["nonce_hashes"])
        withheld = len(failures) if codes == {OpeningFailure.NONCE_WITHHELD} else 0
        _require(
            missing == withheld,
            f"promised nonces that are missing in {opening['id']}: {missing}, listed as withheld: {withheld}",
        )
        parsed.append(EndedOpening(**{**opening, "seed": seed}))
    _require(
        len({opening["id"] for opening in [group, *openings]}) == len(openings) + 1, "two openings have the same id"
    )
    return parsed


def _check_left_out(entries: Sequence[str], openings: Sequence[EndedOpening]) -> None:
    """Raise ``BadReveal`` if a bot failed without having promised a nonce, or promised another one after it failed."""
    left_out: set[str] = set()
    for opening in openings:
        promised = {entry for entry, hash in zip(entries, opening.nonce_hashes, strict=True) if hash}
        given = {entry for entry, nonce in zip(entries, opening.nonces, strict=True) if nonce}
        again = ", ".join(sorted(promised & left_out))
        _require(not again, f"{again} ended an earlier opening and may not promise a nonce in {opening.id}")
        left_out |= opening.failures.keys()
        for bot_id, code in opening.failures.items():
            failed_in = promised - given if code == OpeningFailure.NONCE_WITHHELD else given
            _require(bot_id in failed_in, f"{bot_id} cannot have ended {opening.id} by {code}")


def _require(holds: bool, reason: str) -> None:  # reads as a sentence
    if not holds:
        raise BadReveal(reason)
