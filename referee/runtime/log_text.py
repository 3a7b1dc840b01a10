"""Render log events as lines for people (``REFEREE_LOG=text``)."""

import json
from collections.abc import MutableMapping
from typing import Any, Final

HEAD: Final = ("timestamp", "level", "logger", "event")


def render_text(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> str:
    """Return one line, followed by the indented traceback if there is one. Texts of others cannot begin a new line."""
    time, level, logger, name = (_escape(str(event.get(part, ""))) for part in HEAD)
    fields = {key: value for key, value in event.items() if key not in (*HEAD, "exception")}
    line = " ".join([time, f"{level:<7}", f"{logger}:", name, *(f"{key}={_quote(fields[key])}" for key in fields)])
    if "exception" in event:
        line += "".join(f"\n    {_escape(part)}" for part in str(event["exception"]).splitlines())
    return line


def _escape(text: str) -> str:
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def _quote(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    plain = text and text.isprintable() and not any(letter in text for letter in ' "=')
    return text if plain else json.dumps(text, ensure_ascii=False)
