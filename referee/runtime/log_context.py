"""Add to each log event what it belongs to: the process, and the request, match or bot that is being worked on."""

import re
from collections.abc import MutableMapping
from typing import Any, Final

from structlog.contextvars import bind_contextvars, clear_contextvars, merge_contextvars

from referee.runtime.log_limits import change_texts

_process_fields: dict[str, str] = {}
# Tokens, recovery codes, secrets of bots, URLs of chat webhooks, passwords in URLs and join codes, in any text.
_SECRETS: Final = (
    # Letters may stand before a token: those of an escape sequence, such as "\\n" or "%20".
    (re.compile(r"ref_[0-9A-Za-z]{20,}|\bref_[0-9A-Za-z]{8,}"), "ref_…"),
    (re.compile(r"rcv_[0-9A-Za-z]{20,}"), "rcv_…"),
    (re.compile(r"whsec_[0-9A-Za-z+/=_-]+"), "whsec_…"),
    (re.compile(r"""(?i)\b(authorization["']?[=:] ?["']?\w+|bearer)(?: +|%20)[^\s"']+"""), r"\1 …"),
    (re.compile(r"""(//(?:[\w.-]+\.)?(?:discord(?:app)?\.com/api/webhooks|hooks\.slack\.com)/)[^\s"']+"""), r"\1…"),
    (re.compile(r"(://[^\s:/@]*:)[^\s/?#]+@"), r"\1…@"),
    (
        re.compile(
            r"""(?i)((?:\b(?:join_)?code|token|secret|password|api_?key|master_keys?)["']? ?[=:] ?["']?)[^\s"'&,}]+"""
        ),
        r"\1…",
    ),
)


def set_process_fields(**fields: str) -> None:
    """Add these fields to all events of this process from now on."""
    _process_fields.update(fields)


def begin_work(**fields: str) -> None:
    """Add these fields, and no others, to the events of this thread or task from now on."""
    clear_contextvars()
    bind_contextvars(**fields)


def add_context(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Add the fields (a processor of structlog). Those of the event itself take precedence."""
    for name, text in _process_fields.items():
        event.setdefault(name, text)
    return merge_contextvars(logger, method, event)


def hide_secrets(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Replace secrets in the texts of an event, wherever its fields have them (a processor of structlog)."""
    for name, value in event.items():
        event[name] = change_texts(value, hide_in)
    return event


def hide_in(text: str) -> str:
    """Return the text without tokens, secrets, URLs of chat webhooks, passwords and join codes."""
    if not any(sign in text for sign in "_:= "):
        return text
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text
