"""Canonical JSON: one spelling for each value, so that bytes can be hashed and compared."""

from typing import Any

import orjson

Json = dict[str, Any]


def dumps(value: Any) -> bytes:
    """Return ``value`` as UTF-8 JSON with sorted keys, no whitespace and no unnecessary escapes.

    Accept strings, 64-bit whole numbers, true, false, null, lists and objects, which is all a log contains. Raise
    ``TypeError`` for other values. The standard library spells these the same (``sort_keys``, ``ensure_ascii=False``).
    """
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
