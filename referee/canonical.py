"""Canonical JSON: one value, one spelling, so that hashes and comparisons mean something."""

import json
from typing import Any

Json = dict[str, Any]


def dumps(value: Any) -> bytes:
    """``value`` as UTF-8 JSON with sorted keys and no blanks; refuses NaN and infinities (ValueError)."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()
