"""Read JSON from untrusted sources strictly. Callers limit the size of documents."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["syntax", "depth", "duplicate_key", "number", "text"]
Steps = tuple[str | int, ...]  # keys and list indices, outermost first

MAX_KEY_LENGTH = 80  # characters of a key that an error shows
MAX_PATH_LENGTH = 120
MAX_NUMERAL_LENGTH = 40  # digits of an integer: to convert a very long numeral is expensive

# This matches a string or a bracket. The alternative for strings also matches an unclosed string, up to the end of the
# document, so that the scan takes linear time for any input.
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*+\\?(?:"|\Z)|[\[\]{}]', re.DOTALL)
_FORBIDDEN_CHARACTERS = re.compile("[\0\ud800-\udfff]")  # paired surrogates were joined by decoding


class InvalidJson(Exception):
    """Report why a document was refused. ``path`` names the wrong value; it is "" for the whole document."""

    def __init__(self, kind: Kind, reason: str, path: str = "") -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.kind = kind
        self.reason = reason
        self.path = path


@dataclass(frozen=True, slots=True)
class JsonLimits:
    """Define the limits of a document. In addition, floats must be finite and the keys of an object must be unique."""

    max_depth: int
    min_integer: int
    max_integer: int
    refuse_negative_zero: bool = False  # the integer -0: parsers read it as 0 or as -0.0


def read(body: bytes, limits: JsonLimits, *, any_text_in: Collection[str] = ()) -> Any:
    """Return the value of the JSON document ``body``.

    Raise ``InvalidJson`` if it is refused. Strings may contain neither NUL nor lone surrogates, except within those
    members of the outermost object that ``any_text_in`` names.
    """
    _refuse_depth(body, limits.max_depth)
    reading = _Reading(limits)
    value = reading.decode(body)
    if reading.refused:
        first = reading.refused[0]
        raise InvalidJson("number", first.reason, _find_path(value, lambda leaf: leaf is first) or "")
    if b"\\u" in body:  # only escapes can express these characters
        _refuse_texts(value, any_text_in)
    return value


def _refuse_depth(body: bytes, max_depth: int) -> None:
    """Raise ``InvalidJson`` if the document is nested too deeply, before the recursive parser reads it."""
    if body.count(b"[") + body.count(b"{") <= max_depth:
        return
    depth = 0
    for token in _TOKENS.finditer(body):
        match token[0]:
            case b"[" | b"{":
                depth += 1
                if depth > max_depth:
                    raise InvalidJson("depth", f"nested deeper than {max_depth}")
            case b"]" | b"}":
                depth -= 1


@dataclass(frozen=True, slots=True, eq=False)
class _RefusedNumber:
    """Stand for a refused number until its path is known."""

    reason: str


@dataclass(slots=True)
class _Reading:
    """Parse one document and collect its refused numbers in their order of occurrence."""

    limits: JsonLimits
    refused: list[_RefusedNumber] = field(default_factory=list)

    def decode(self, body: bytes) -> Any:
        decoder = json.JSONDecoder(
            object_pairs_hook=_build_object,
            parse_int=self._integer,
            parse_float=self._float,
            parse_constant=self._refuse,
        )
        try:
            return decoder.decode(body.decode())
        except UnicodeDecodeError as error:
            raise InvalidJson("syntax", f"not UTF-8 at byte {error.start}") from None
        except json.JSONDecodeError as error:
            raise InvalidJson("syntax", f"not JSON: {error.msg} at character {error.pos}") from None

    def _integer(self, numeral: str) -> int | _RefusedNumber:
        lowest, highest = self.limits.min_integer, self.limits.max_integer
        accepted = len(numeral) <= MAX_NUMERAL_LENGTH and lowest <= int(numeral) <= highest
        if accepted and not (numeral == "-0" and self.limits.refuse_negative_zero):
            return int(numeral)
        return self._refuse(numeral, f"an integer from {lowest} to {highest}")

    def _float(self, numeral: str) -> float | _RefusedNumber:
        number = float(numeral)
        return number if math.isfinite(number) else self._refuse(numeral)

    def _refuse(self, numeral: str, wanted: str = "a finite number") -> _RefusedNumber:
        refused = _RefusedNumber(f"{numeral[:20]} is not {wanted}")
        self.refused.append(refused)
        return refused


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise InvalidJson("duplicate_key", "given twice", _render_path((key,)))
    return members


def _refuse_texts(value: Any, any_text_in: Collection[str]) -> None:
    if any_text_in and isinstance(value, dict):
        value = {key: member for key, member in value.items() if key not in any_text_in}
    path = _find_path(value, lambda leaf: isinstance(leaf, str) and _FORBIDDEN_CHARACTERS.search(leaf) is not None)
    if path is not None:
        raise InvalidJson("text", "text must not contain NUL or lone surrogates", path)


def _find_path(value: Any, wanted: Callable[[Any], bool]) -> str | None:
    """Return the path of the first wanted leaf, or None if there is none.

    If a key is wanted, return the path of its object.
    """
    steps = _find_steps(value, wanted)
    return None if steps is None else _render_path(steps)


def _find_steps(value: Any, wanted: Callable[[Any], bool]) -> Steps | None:
    members: Iterable[tuple[str | int, Any]]
    if isinstance(value, dict):
        if any(map(wanted, value)):
            return ()
        members = value.items()
    elif isinstance(value, list):
        members = enumerate(value)
    else:
        return () if wanted(value) else None
    for name, member in members:
        found = _find_steps(member, wanted)
        if found is not None:
            return name, *found
    return None


def _render_path(steps: Steps) -> str:
    """Return a path such as ``players[1].name`` in printable ASCII."""
    shown = (f"[{step}]" if isinstance(step, int) else "." + ascii(step)[1:-1][:MAX_KEY_LENGTH] for step in steps)
    return "".join(shown).removeprefix(".")[:MAX_PATH_LENGTH]
