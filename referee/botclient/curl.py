"""Render requests to bots as ``curl`` commands for a POSIX shell, byte for byte."""

import shlex
from collections.abc import Sequence

_KEY = "$(printf %s \"${REFEREE_BOT_SECRET#whsec_}\" | base64 -d | od -An -v -tx1 | tr -d ' \\n')"
_SIGNATURE = (
    '$(printf %s.%s.%s "$id" "$at" "$body" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)'
)


def curl_command(method: str, url: str, fields: Sequence[str], body: bytes = b"") -> str:
    """Return the command for one request. It pipes the body to curl, because the length of arguments is limited."""
    quoted = [shlex.quote(field) for field in fields]
    if method != "POST":
        return _curl([*(["-I"] if method == "HEAD" else [])], url, quoted)
    return f"printf %s {shlex.quote(body.decode())} | {_post(url, quoted)}"


def signing_curl_command(url: str, id: str, body: bytes) -> str:
    """Return the command for a POST that is signed when it runs, with the secret in ``$REFEREE_BOT_SECRET``.

    The command contains no secret and sets no variable of the shell that runs it. Raise ``UnicodeDecodeError`` for a
    body that is not UTF-8.
    """
    steps = [
        ': "${REFEREE_BOT_SECRET:?set it to the secret of your bot, whsec_…}"',
        f"id={shlex.quote(id)}",
        "at=$(date +%s)",
        f"body={shlex.quote(body.decode())}",
        f"key={_KEY}",
        f"signature={_SIGNATURE}",
    ]
    signed = ('"webhook-id: $id"', '"webhook-timestamp: $at"', '"webhook-signature: v1,$signature"')
    send = f'printf %s "$body" | {_post(url, signed)}'
    return f"({'; '.join([*steps, send])})"


def _post(url: str, quoted: Sequence[str]) -> str:
    return _curl(["-X", "POST", "--data-binary", "@-"], url, ["'Content-Type: application/json'", *quoted])


def _curl(options: Sequence[str], url: str, quoted: Sequence[str]) -> str:
    return " ".join(["curl", "-sS", "-i", *options, shlex.quote(url), *(f"-H {field}" for field in quoted)])
