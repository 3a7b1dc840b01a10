"""Canonical JSON: one value, one spelling, so that hashes and comparisons mean something."""

from typing import Any

import orjson

Json = dict[str, Any]


def dumps(value: Any) -> bytes:
    """``value`` as UTF-8 JSON with sorted keys, no blanks and nothing escaped that need not be.

    For strings, whole numbers of 64 bits, true, false, null, lists and objects, which is all a log holds; raises
    ``TypeError`` for others. The standard library spells these the same (``sort_keys``, ``ensure_ascii=False``).
    """
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
