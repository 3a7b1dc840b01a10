"""Build the bodies of bot protocol 2 and read replies strictly. ``botclient`` sends and receives them.

A mistake of a bot is data: readers report it as a fault code and raise no exception except ``BadBody``.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from referee.match.match import Request, answers_of
from referee.match.signature import ChainHead
from referee.protocol import strict_json

Json = dict[str, Any]

PROTOCOL = "2"
LIMITS = strict_json.JsonLimits(max_depth=32, min_integer=-(2**63), max_integer=2**64 - 1, refuse_negative_zero=True)
MAX_NOTE_BYTES = 1024
MAX_ERROR_BYTES = 1024
DEFAULT_MAX_CONCURRENT_REQUESTS = 8

_UNCHECKED_MEMBERS = frozenset({"error"})
_NONCE = re.compile(r"[0-9A-Za-z_-]{1,64}")  # without "|", which separates nonces
_HASH = re.compile(r"[0-9a-f]{64}")
_NOTE = re.compile(r"[^\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]*")
_UNPRINTABLE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


# -- what we send --


def match_facts(header: Json, seat: int, aliases: Sequence[str] = ()) -> Json:
    """Return the ``match`` member of a question, built from row 0 of the log.

    Each player has the id, name and version of the bot. With ``aliases``, one per seat, each player has only its alias
    as the id.
    """
    facts = {key: header[key] for key in ("game", "rules_version", "options", "rated")}
    return {"id": header["match"], **facts, "seat": seat, "players": _players(header, aliases)}


def _players(header: Json, aliases: Sequence[str]) -> list[Json]:
    if aliases:
        return [{"seat": seat, "id": alias} for seat, alias in enumerate(aliases)]
    return [
        {"seat": place, "id": player["bot"], "name": player["name"], "version": player["version"]}
        for place, player in enumerate(header["players"])
    ]


def decision_id(match_id: str, seat: int, question: int) -> str:
    """Return the id of a question, which is also its ``webhook-id``. It is the same if the question is repeated."""
    return f"{match_id}_s{seat}_q{question}"


class Questions:
    """Build the bodies of requests to ``/decide`` for one seat of one match. A repeated request has the same bytes."""

    def __init__(self, header: Json, seat: int, aliases: Sequence[str] = ()) -> None:
        self.match_id: str = header["match"]
        self.seat = seat
        self._match = orjson.Fragment(encode_json(match_facts(header, seat, aliases)))

    def encode(self, request: Request) -> tuple[str, bytes]:
        """Return the id of the decision and the body of the request for it."""
        id = decision_id(self.match_id, self.seat, request.question)
        body = encode_json(
            {
                "protocol": PROTOCOL,
                "match": self._match,
                "decision": {"id": id, "question": request.question},
                "time": request.time,
                "observation": request.observation,
                "new_events": request.new_events,
                "legal_actions": request.legal_actions,
                "default_action": request.default_action,
            }
        )
        return id, body


def challenge_body(bot_id: str, nonce: str) -> bytes:
    """Return the body of the request for a proof that the bot's owner controls this address."""
    return _notice("challenge", bot=bot_id, nonce=nonce)


def group_start_body(
    group_id: str, commitment: str, nonce_hashes: Sequence[str] | None = None, nonces: Sequence[str] | None = None
) -> bytes:
    """Return the body of a step of the opening.

    Without ``nonce_hashes``, it is that of step 1, which asks for the hash of a nonce. With ``nonce_hashes``, it is
    that of step 2, which asks for the nonce; with ``nonces``, too, that of step 3, which asks whether the bot accepts
    them.
    """
    group: Json = {"id": group_id}
    if nonce_hashes is None:
        return _notice("group_start", step=1, group=group)
    group |= {"commitment": commitment, "nonce_hashes": list(nonce_hashes)}
    if nonces is None:
        return _notice("group_start", step=2, group=group)
    return _notice("group_start", step=3, group={**group, "nonces": list(nonces)})


def match_end_body(match: Json, result: Json, faults: Sequence[Json]) -> bytes:
    """Return the body of the notice that a match is over.

    ``match`` is the member of that name in questions, and ``result`` is the result row of the log. ``faults`` are the
    faults of the seat, each with its ``question`` number and its ``fault`` code.
    """
    facts = {key: match[key] for key in ("id", "game", "seat")}
    outcome = {key: result[key] for key in ("scores", "returns", "placements")}
    return _notice("match_end", match=facts, result=outcome, faults=list(faults))


def faults_of(rows: Iterable[Json], seat: int) -> list[Json]:
    """Return the faults of a seat, taken from the rows of a log, as an argument for ``match_end_body``."""
    answers = enumerate(answers_of(rows, seat))
    return [{"question": question, "fault": row["fault"]} for question, row in answers if "fault" in row]


def group_end_body(
    group_id: str, commitment: str, seed: str, nonces: Sequence[str], head: ChainHead | None = None
) -> bytes:
    """Return the body of the notice that reveals the seed and the nonces of a deal group.

    ``head`` is the head of the chain of signatures after the logs of the group, or None if no log was signed.
    """
    group = {"id": group_id, "commitment": commitment, "seed": seed, "nonces": list(nonces)}
    return _notice("group_end", group=group, **({} if head is None else {"head": head.to_json()}))


def encode_json(value: Any) -> bytes:
    """Return ``value`` as UTF-8 JSON with sorted keys and no whitespace."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _notice(type: str, **members: Any) -> bytes:
    return encode_json({"protocol": PROTOCOL, "type": type, **members})


# -- what we read --


class Decision(NamedTuple):
    """Hold a bot's reply to a question: either an action, a choice, or a fault."""

    action: Json | None = None
    choice: int | None = None
    note: str = ""
    error: str = ""  # an error in the bot's own code, reported by the bot; only for its owner
    fault: str = ""
    detail: str = ""  # for the owner


@dataclass(frozen=True, slots=True)
class Manifest:
    """Hold a bot's description of itself, from its reply to ``GET /``."""

    name: str
    version: str
    games: tuple[str, ...]
    max_concurrent_requests: int = DEFAULT_MAX_CONCURRENT_REQUESTS


class BadBody(Exception):
    """Report that a reply cannot be used. Callers turn it into a fault."""

    def __init__(self, fault: str, detail: str) -> None:
        super().__init__(detail)
        self.fault = fault
        self.detail = detail


def read_decision(body: bytes, id: str, legal_count: int) -> Decision:
    """Read the reply to question ``id``, which has ``legal_count`` legal actions. The game checks actions later."""
    error = ""
    try:
        reply = read_object(body, lax=_UNCHECKED_MEMBERS)
        error = _error(reply.get("error"))
        return _decision(reply, id, legal_count, error)
    except BadBody as bad:
        return Decision(error=error, fault=bad.fault, detail=bad.detail)


def read_manifest(body: bytes) -> Manifest:
    """Return the manifest in the reply to ``GET /``; raise ``BadBody`` if it is invalid."""
    manifest = read_object(body)
    if manifest.get("protocol") != PROTOCOL:
        raise BadBody("bad_schema", f'protocol must be "{PROTOCOL}"')
    games = manifest.get("games")
    if not isinstance(games, list) or not 1 <= len(games) <= 100:
        raise BadBody("bad_schema", "games must list 1 to 100 names")
    declared = manifest.get("max_concurrent_requests", DEFAULT_MAX_CONCURRENT_REQUESTS)
    if type(declared) is not int or not 1 <= declared <= 100:
        raise BadBody("bad_schema", "max_concurrent_requests must be a whole number from 1 to 100")
    name, version = (_short_text(manifest.get(member), member) for member in ("name", "version"))
    return Manifest(name, version, tuple(_short_text(game, "each of games") for game in games), declared)


def read_proof(body: bytes) -> str:
    """Return the ``proof`` in the reply to a challenge; raise ``BadBody`` if there is none."""
    return _read_pattern(body, "proof", _HASH, "64 lower-case hex digits")


def read_nonce_hash(body: bytes) -> str:
    """Return the ``nonce_hash`` in the reply to step 1; raise ``BadBody`` if there is none."""
    return _read_pattern(body, "nonce_hash", _HASH, "64 lower-case hex digits")


def read_nonce(body: bytes) -> str:
    """Return the ``nonce`` in the reply to step 2; raise ``BadBody`` if there is none."""
    return _read_pattern(body, "nonce", _NONCE, "1 to 64 letters, digits, _ or -")


def read_accepted(body: bytes) -> bool:
    """Return ``accepted`` in the reply to step 3; raise ``BadBody`` if there is none."""
    accepted = read_object(body).get("accepted")
    if not isinstance(accepted, bool):
        raise BadBody("bad_schema", "accepted must be true or false")
    return accepted


def read_object(body: bytes, *, lax: frozenset[str] = frozenset()) -> Json:
    """Return the JSON object in ``body``, parsed strictly; raise ``BadBody`` if it is invalid. Strings in the members
    ``lax`` may contain any character that JSON can express."""
    try:
        value = strict_json.read(body, LIMITS, any_text_in=lax)
    except strict_json.InvalidJson as error:
        raise BadBody("bad_schema" if error.kind == "text" else "bad_json", str(error)) from None
    if not isinstance(value, dict):
        raise BadBody("bad_schema", "not an object")
    return value


def _decision(reply: Mapping[str, Any], id: str, legal_count: int, error: str) -> Decision:
    echoed = reply.get("decision")
    if not isinstance(echoed, str):
        raise BadBody("bad_schema", "decision must be the id of the question")
    if echoed != id:
        raise BadBody("stale_decision", f"expected {id}")
    note = _note(reply.get("note", ""))
    if ("action" in reply) == ("choice" in reply):
        raise BadBody("bad_schema", "expected exactly one of action and choice")
    if "action" in reply:
        if not isinstance(reply["action"], dict):
            raise BadBody("bad_schema", "action must be an object")
        return Decision(action=reply["action"], note=note, error=error)
    choice = reply["choice"]
    if type(choice) is not int or choice < 0:  # refuses True and 1.0, which equal 1
        raise BadBody("bad_schema", "choice must be a whole number from 0")
    if choice >= legal_count:
        raise BadBody("illegal_action", f"choice must be below {legal_count}, the length of legal_actions")
    return Decision(choice=choice, note=note, error=error)


def _note(note: Any) -> str:
    if not isinstance(note, str) or len(note.encode()) > MAX_NOTE_BYTES:
        raise BadBody("bad_schema", f"note must be a text of at most {MAX_NOTE_BYTES} bytes")
    if not _NOTE.fullmatch(note.replace("\n", " ").replace("\t", " ")):
        raise BadBody("bad_schema", "note contains control or direction characters")
    return note


def _error(error: Any) -> str:
    """Return the displayable part of the bot's ``error``, or an empty string if there is none.

    A malformed ``error`` does not make the answer a fault, so bots can report errors without risk.
    """
    if not isinstance(error, str):
        return ""
    shown = _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", error)
    return shown.encode()[:MAX_ERROR_BYTES].decode(errors="ignore")


def _short_text(text: Any, name: str) -> str:
    if not isinstance(text, str) or not 1 <= len(text) <= 64 or not _NOTE.fullmatch(text):
        raise BadBody("bad_schema", f"{name} must be a text of 1 to 64 printable characters")
    return text


def _read_pattern(body: bytes, name: str, pattern: re.Pattern[str], wanted: str) -> str:
    text = read_object(body).get(name)
    if not isinstance(text, str) or not pattern.fullmatch(text):
        raise BadBody("bad_schema", f"{name} must be {wanted}")
    return text
