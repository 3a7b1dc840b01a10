"""Write canonical JSON, which has exactly one spelling for each value, so that bytes can be compared; read any JSON."""

from typing import Any

import orjson

Json = dict[str, Any]


def dumps(value: Any) -> bytes:
    """Return ``value`` as UTF-8 JSON with sorted keys, no whitespace and no unnecessary escapes.

    Accept strings, 64-bit whole numbers, true, false, null, lists and objects, which is all a log contains. Raise
    ``TypeError`` for other values. ``json.dumps`` with ``sort_keys``, without ``ensure_ascii`` and without whitespace,
    spells these values the same.
    """
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def loads(text: bytes) -> Any:
    """Return the value of a JSON document in UTF-8, canonical or not. Raise ``ValueError`` if it is not one."""
    return orjson.loads(text)
