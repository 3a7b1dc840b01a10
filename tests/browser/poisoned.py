"""Copy the filled database and replace every text that users can write by an injection attempt.

The API refuses most of these texts; they are written directly, in case a check is missing one day.
"""

import gzip
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import String

from referee.match.canonical import dumps
from tests.database.tables import all_tables

PRODUCT = str(1337 * 1337)  # what a template would make of the fourth
PAYLOADS = (
    "<script>window.harmed=1</script>",
    '"><img src=//127.0.0.1:1/x onerror=window.harmed=2>',
    "javascript:window.harmed=3//",
    "{{1337*1337}}${1337*1337}<%=1337*1337%>#{1337*1337}",
    "--></script></title></textarea></template><script>window.harmed=4</script>",
    "' autofocus onfocus=window.harmed=5 x='",
    "\u202e\u200b\u2066gnorw\u2069\ufeff ada",
    "🂡👩‍👩‍👧‍👦🏴‍☠️e\u0301\u0301\u0301",
    "W" * 10_000,
)
WORDS = 40  # columns so short hold ids and words of closed lists
EXACT = {
    *("normalized_name", "sha256", "digest", "commitment", "options_key"),
    *("host", "lease_boot", "body_hash", "key", "lane"),
}
OPEN_WORDS = {("checks", "current_step"), ("tokens", "hint")}


def poison(source: Path, target: Path) -> None:
    """Write the copy. ``source`` may be in use."""
    with closing(sqlite3.connect(source)) as original, closing(sqlite3.connect(target)) as copy:
        original.backup(copy)
        triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'acts'"
        for (name,) in copy.execute(triggers).fetchall():  # as somebody with access to the database could
            copy.execute(f"DROP TRIGGER {name}")
        for table, column in free_texts():
            _write(copy, table, column, PAYLOADS)
        _write(copy, "bots", "handshake_report", [json.dumps(_report(one)) for one in PAYLOADS])
        for name in ("detail", "request", "reply"):
            _write(copy, "faults", name, PAYLOADS)
        copy.execute("UPDATE bots SET status_reason = ?", (PAYLOADS[0],))
        _rename_players(copy)
        copy.commit()


def free_texts() -> Iterator[tuple[str, str]]:
    """Return every text column, present or future, that is not an id, an enum or a digest."""
    for table in all_tables():
        for column in table.columns:
            if isinstance(column.type, String) and column.name not in EXACT and not column.foreign_keys:
                open_word = (table.name, column.name) in OPEN_WORDS
                if open_word or ((column.type.length or WORDS + 1) > WORDS and table.name != "idempotency"):
                    yield table.name, column.name


def _write(copy: sqlite3.Connection, table: str, column: str, texts: tuple[str, ...] | list[str]) -> None:
    """Write another text in each row; fill empty columns too."""
    for at, text in enumerate(texts):
        value: Any = text.encode() if column in ("request", "reply") else text
        copy.execute(f"UPDATE {table} SET {column} = ? WHERE rowid % ? = ?", (value, len(texts), at))


def _report(text: str) -> dict[str, Any]:
    step = {"ok": False, "code": text, "detail": text, "reply": text, "total_ms": 1}
    return {"ok": False, "challenge": step, "manifest": step, "games": [text], "unknown_games": [text]}


def _rename_players(copy: sqlite3.Connection) -> None:
    """Replace the names of players in the logs of finished and running matches."""
    for match_id, gzip_log in copy.execute("SELECT match_id, gzip_log FROM match_logs").fetchall():
        first, _, rest = gzip.decompress(gzip_log).partition(b"\n")
        content = gzip.compress(_named(first) + b"\n" + rest)
        copy.execute("UPDATE match_logs SET gzip_log = ? WHERE match_id = ?", (content, match_id))
    for rowid, line in copy.execute("SELECT rowid, line FROM log_rows WHERE row = 0").fetchall():
        copy.execute("UPDATE log_rows SET line = ? WHERE rowid = ?", (_named(line), rowid))


def _named(header: bytes) -> bytes:
    row = json.loads(header)
    for at, player in enumerate(row["players"]):
        player |= {"name": PAYLOADS[at], "version": PAYLOADS[-1 - at]}
    return dumps(row)
