"""The bodies of bot protocol 1 and what is read out of replies. Sending them is the client's job.

A bot's mistake is data here: a reader gives a value or one of the match's fault codes.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from referee.match.match import Request
from referee.protocol import strict_json

Json = dict[str, Any]

PROTOCOL = "1"
MAX_REPLY_BYTES = 64 * 1024
LIMITS = strict_json.Limits(max_depth=32, min_integer=-(2**63), max_integer=2**64 - 1, refuse_negative_zero=True)
MAX_NOTE_BYTES = 1024
MAX_ERROR_BYTES = 1024
DEFAULT_MAX_CALLS = 8

_LAX = frozenset({"error"})
_NONCE = re.compile(r"[0-9A-Za-z_-]{1,64}")  # no "|": nonces are joined by it
_HASH = re.compile(r"[0-9a-f]{64}")
_WORDS = re.compile(r"[^\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]*")
_UNSHOWN = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


# -- what we send --


def match_facts(header: Json, seat: int, *, ids: Sequence[str] = (), names: bool = False) -> Json:
    """The ``match`` member of a question, from row 0 of the log.

    Players are seat numbers and the ``ids`` that ``aliases`` gave them, by seat; with ``names`` (unrated matches, open
    events) they also bear their names and versions.
    """
    players: list[Json] = [{"seat": place} for place in range(header["seats"])]
    for player, id in zip(players, ids, strict=False):
        player["id"] = id
    if names:
        for player, known in zip(players, header["players"], strict=True):
            player |= {"name": known["name"], "version": known["version"]}
    shown = {key: header[key] for key in ("game", "rules_version", "options", "rated")}
    return {"id": header["match"], **shown, "seat": seat, "players": players}


def decision_id(match_id: str, n: int, seat: int) -> str:
    """The id of a question, also its ``webhook-id``: the same however often it is asked."""
    return f"{match_id}_{n}_{seat}"


class Questions:
    """The bodies of ``/decide`` for one seat of one match; a body is a function of its request alone."""

    def __init__(self, header: Json, seat: int, *, ids: Sequence[str] = (), names: bool = False) -> None:
        self.match_id: str = header["match"]
        self.seat = seat
        self._match = orjson.Fragment(encoded(match_facts(header, seat, ids=ids, names=names)))

    def ask(self, request: Request) -> tuple[str, bytes]:
        """The decision's id and the body that asks for it."""
        id = decision_id(self.match_id, request.n, self.seat)
        body = encoded(
            {
                "protocol": PROTOCOL,
                "match": self._match,
                "decision": {"id": id, "n": request.n},
                "time": request.time,
                "observation": request.observation,
                "news": request.news,
                "legal": request.legal,
                "default": request.default,
            }
        )
        return id, body


def challenge_body(bot_id: str, nonce: str) -> bytes:
    """Asks for a proof that the owner of the bot controls this address."""
    return _notice("challenge", bot=bot_id, nonce=nonce)


def group_start_body(group_id: str, commitment: str, nonce_hashes: Sequence[str] | None = None) -> bytes:
    """Without hashes the first step, which asks for a nonce's hash; with all of them the second."""
    group: Json = {"id": group_id}
    if nonce_hashes is None:
        return _notice("group_start", step=1, group=group)
    group |= {"commitment": commitment, "nonce_hashes": list(nonce_hashes)}
    return _notice("group_start", step=2, group=group)


def match_end_body(match: Json, result: Json, faults: Sequence[Json]) -> bytes:
    """``match`` as in the questions, ``result`` the result row, ``faults`` of this seat: ``n`` and ``fault``."""
    shown = {key: match[key] for key in ("id", "game", "seat")}
    outcome = {key: result[key] for key in ("scores", "returns", "placements")}
    return _notice("match_end", match=shown, result=outcome, faults=list(faults))


def group_end_body(group_id: str, commitment: str, seed: str, nonces: Sequence[str]) -> bytes:
    """Opens the seed and the nonces of a deal group."""
    group = {"id": group_id, "commitment": commitment, "seed": seed, "nonces": list(nonces)}
    return _notice("group_end", group=group)


def encoded(value: Any) -> bytes:
    """UTF-8 JSON with sorted keys and no blanks."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _notice(type: str, **members: Any) -> bytes:
    return encoded({"protocol": PROTOCOL, "type": type, **members})


# -- what we read --


@dataclass(frozen=True, slots=True)
class Decision:
    """A bot's reply to a question: an action, a choice, or the fault that it was."""

    action: Json | None = None
    choice: int | None = None
    note: str = ""
    error: str = ""  # what went wrong inside the bot, as it reports it; only for the owner
    fault: str = ""
    detail: str = ""  # for the owner


@dataclass(frozen=True, slots=True)
class Card:
    """What a bot says of itself."""

    name: str
    version: str
    games: tuple[str, ...]
    max_calls: int = DEFAULT_MAX_CALLS


class BadBody(Exception):
    """A reply that cannot be used; stays inside this package."""

    def __init__(self, fault: str, detail: str) -> None:
        super().__init__(detail)
        self.fault = fault
        self.detail = detail


def read_decision(body: bytes, id: str, legal_count: int) -> Decision:
    """The reply to question ``id``, which listed ``legal_count`` actions. Legality is the game's to judge."""
    error = ""
    try:
        reply = read_object(body, lax=_LAX)
        error = _error(reply.get("error"))
        return replace(_decision(reply, id, legal_count), error=error)
    except BadBody as bad:
        return Decision(error=error, fault=bad.fault, detail=bad.detail)


def read_card(body: bytes) -> Card:
    """What ``GET /`` answered; raises ``BadBody``."""
    card = read_object(body)
    if card.get("protocol") != PROTOCOL:
        raise BadBody("bad_schema", f'protocol must be "{PROTOCOL}"')
    games = card.get("games")
    if not isinstance(games, list) or not 1 <= len(games) <= 100:
        raise BadBody("bad_schema", "games must list 1 to 100 names")
    max_calls = card.get("max_calls", DEFAULT_MAX_CALLS)
    if type(max_calls) is not int or not 1 <= max_calls <= 100:
        raise BadBody("bad_schema", "max_calls must be a whole number from 1 to 100")
    names = tuple(_short_text(game, "each of games") for game in games)
    return Card(_short_text(card.get("name"), "name"), _short_text(card.get("version"), "version"), names, max_calls)


def read_proof(body: bytes) -> str:
    """The ``proof`` a challenge was answered with; raises ``BadBody``."""
    return _member(body, "proof", _HASH, "64 lower-case hex digits")


def read_nonce_hash(body: bytes) -> str:
    """The ``nonce_hash`` the first step was answered with; raises ``BadBody``."""
    return _member(body, "nonce_hash", _HASH, "64 lower-case hex digits")


def read_nonce(body: bytes) -> str:
    """The ``nonce`` the second step was answered with; raises ``BadBody``."""
    return _member(body, "nonce", _NONCE, "1 to 64 letters, digits, _ or -")


def read_object(body: bytes, *, lax: frozenset[str] = frozenset()) -> Json:
    """Return the JSON object in ``body``, parsed strictly; raise ``BadBody``. Strings in ``lax`` members may contain
    any character that JSON can express."""
    try:
        value = strict_json.read(body, LIMITS, any_text_in=lax)
    except strict_json.InvalidJson as error:
        raise BadBody("bad_schema" if error.kind == "text" else "bad_json", str(error)) from None
    if not isinstance(value, dict):
        raise BadBody("bad_schema", "not an object")
    return value


def _decision(reply: Mapping[str, Any], id: str, legal_count: int) -> Decision:
    echoed = reply.get("decision")
    if not isinstance(echoed, str):
        raise BadBody("bad_schema", "decision must be the id of the question")
    if echoed != id:
        raise BadBody("stale_decision", f"the question was {id}")
    note = _note(reply.get("note", ""))
    if ("action" in reply) == ("choice" in reply):
        raise BadBody("bad_schema", "exactly one of action and choice is needed")
    if "action" in reply:
        if not isinstance(reply["action"], dict):
            raise BadBody("bad_schema", "action must be an object")
        return Decision(action=reply["action"], note=note)
    choice = reply["choice"]
    if type(choice) is not int or choice < 0:  # neither true nor 1.0
        raise BadBody("bad_schema", "choice must be a whole number from 0")
    if choice >= legal_count:
        raise BadBody("illegal_action", f"choice must be below {legal_count}, the length of legal")
    return Decision(choice=choice, note=note)


def _note(note: Any) -> str:
    if not isinstance(note, str) or len(note.encode()) > MAX_NOTE_BYTES:
        raise BadBody("bad_schema", f"note must be a text of at most {MAX_NOTE_BYTES} bytes")
    if not _WORDS.fullmatch(note.replace("\n", " ").replace("\t", " ")):
        raise BadBody("bad_schema", "note holds control or direction characters")
    return note


def _error(error: Any) -> str:
    """Return the displayable part of the bot's ``error``. A malformed ``error`` never makes an answer a fault, so
    that reporting one is always safe."""
    if not isinstance(error, str):
        return ""
    shown = _UNSHOWN.sub("\N{REPLACEMENT CHARACTER}", error)
    return shown.encode()[:MAX_ERROR_BYTES].decode(errors="ignore")


def _short_text(text: Any, what: str) -> str:
    if not isinstance(text, str) or not 1 <= len(text) <= 64 or not _WORDS.fullmatch(text):
        raise BadBody("bad_schema", f"{what} must be a text of 1 to 64 printable characters")
    return text


def _member(body: bytes, name: str, pattern: re.Pattern[str], wanted: str) -> str:
    text = read_object(body).get(name)
    if not isinstance(text, str) or not pattern.fullmatch(text):
        raise BadBody("bad_schema", f"{name} must be {wanted}")
    return text
