"""Logs dropped on the page that opens them: good, changed, hostile, and what is none."""

import gzip
from typing import Any

from playwright.sync_api import FilePayload, Page

from referee.match.canonical import Json, dumps
from referee.match.log import digest, parse_row
from referee.match.signing_keys import SigningKey
from tests.browser.conftest import PageAt, submit, wait_for
from tests.browser.test_viewer import FAILED, FEW, HELD, STEP_ALL, joined, log


def drop(page: Page, content: bytes, name: str = "log.ndjson") -> None:
    page.set_input_files("#log-file", files=FilePayload(name=name, mimeType="text/plain", buffer=content))


def test_a_dropped_log_is_checked_and_a_changed_one_is_found_out(page_at: PageAt) -> None:
    lines = log("pool-nap-3")
    page = page_at("/replay")
    drop(page, gzip.compress(joined(lines[:-1])) + gzip.compress(joined(lines[-1:])), "log.ndjson.gz")
    page.wait_for_selector(HELD)
    assert "109 rows" in page.locator(".log-status").inner_text()
    page.get_by_text("What the bot saw").click()
    page.locator(".saw", has_text="referee replay FILE --html").wait_for()

    changed = [*lines]
    changed[10] = changed[10].replace(b'"ms":', b'"ms":1')
    assert changed != lines
    drop(page, joined(changed))
    page.locator(".fails", has_text="one of the two was altered").wait_for()
    assert page.locator(FAILED).inner_text() == "✕ Row 11 is wrong"

    drop(page, joined(relinked(lines, 2, "outcome")))
    page.locator(".fails", has_text="Row 2 is invalid: deck 0 does not follow").wait_for()
    drop(page, joined(relinked(lines, 108, "seed")))
    page.locator(".fails", has_text="Row 108 is invalid: the seed does not match the commitment").wait_for()


def test_a_dropped_log_without_its_result_does_not_hold_and_one_without_its_seed_is_unproven(page_at: PageAt) -> None:
    lines = log("pool-nap-3")
    page = page_at("/replay")

    drop(page, joined(lines[:-2]))
    page.locator(".fails", has_text="Row 107 is invalid: the log ends before the match is over").wait_for()
    assert page.locator(FAILED).inner_text() == "✕ Row 107 is wrong"

    drop(page, joined(lines[:-1]))
    page.get_by_text("The seed of this log is not revealed yet, so its deals cannot be verified.").wait_for()
    assert page.locator(HELD).inner_text() == "✓ Checked, deals unproven"


def test_F14_a_signed_log_is_shown_and_a_signature_of_another_log_is_found_out(page_at: PageAt) -> None:
    lines, key = log("pool-nap-3"), SigningKey.derive(b"k" * 32)
    match_id = parse_row(lines[0])["match"]
    page = page_at("/replay")

    drop(page, joined([*lines, key.sign(7, match_id, digest(lines[-1]), "a" * 64).line()]))
    page.wait_for_selector(HELD)
    page.get_by_text(f"Signed with key {key.public.id}; your browser did not check the signature.").wait_for()
    assert f"{len(lines)} rows" in page.locator(".log-status").inner_text()

    for signature in (key.sign(7, match_id, "b" * 64, "a" * 64), key.sign(7, "mat_x", digest(lines[-1]), "a" * 64)):
        drop(page, joined([*lines, signature.line()]))
        page.locator(".fails", has_text="its signature is that of another log").wait_for()
        assert page.locator(FAILED).inner_text() == f"✕ Row {len(lines)} is wrong"
        drop(page, joined(lines))
        page.wait_for_selector(HELD)

    drop(page, key.sign(7, match_id, "b" * 64, "a" * 64).line())
    page.get_by_text("This file has a signature, but no log.").wait_for()


def relinked(lines: list[bytes], number: int, member: str) -> list[bytes]:
    """The log with one member changed and every link made good again: only the seed can tell."""
    changed: list[bytes] = []
    for place, line in enumerate(lines):
        row = parse_row(line)
        if place == number:
            row[member] = row[member][::-1]
        row["prev"] = digest(changed[-1]) if changed else None
        changed.append(dumps(row))
    return changed


def header(**changes: Any) -> Json:
    return parse_row(log("saint-poker-2")[0]) | changes


JUNK: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "This file is empty."),
    "picture": (b"\x89PNG\r\n\x1a\n\x00\xff", "line 1 (row 0) is wrong: it is not JSON"),
    "words": (b"hello", "line 1 (row 0) is wrong: it is not JSON"),
    "broken gzip": (b"\x1f\x8b\x08\x00broken", "is damaged"),
    "list": (b"[1]", "it is not a JSON object"),
    "deep": (b"[" * 200_000, "line 1 (row 0) is wrong"),
    "other": (b'{"type":"decision"}', "begins with its header"),
    "format": (dumps(header(log_format=3)), "log format is 3; this viewer supports 2"),
    "seats": (dumps(header(seats=10**9)), "number of seats"),
    "players": (dumps(header(players=[{"name": 1}, None])), "name a player for each seat"),
    "row": (dumps(header()) + b"\nnonsense", "line 2 (row 1) is wrong"),
    "events": (dumps(header()) + b'\n{"type":"chance","events":[7]}', "(row 1) is wrong: its events are invalid"),
    "seat": (dumps(header()) + b'\n{"type":"decision","seat":9,"n":0}', "no seat or number"),
    "result": (dumps(header()) + b'\n{"type":"result","placements":{}}', "its result is not complete"),
    "long line": (b'{"a":"' + b"x" * 3_000_000 + b'"}', "begins with its header"),
}


def test_what_is_no_log_is_told_with_its_line(page_at: PageAt) -> None:
    page = page_at("/replay")
    for content, words in JUNK.values():
        drop(page, content, f"{len(words)}.log")
        wait_for(page, "(words) => document.querySelector('.log-status').textContent.includes(words)", arg=words)
    assert page.locator(".felt").count() == 0
    submit(page, "Open", {"Or a match": "mat_1"})
    assert "does not contain the id of a match" in page.locator(".log-status").inner_text()


MOST_ROWS = 20
HOSTILE = '"><img src=x onerror="window.harmed=1"><script>window.harmed=1</script>\u202e'


def test_a_hostile_log_harms_nothing(page_at: PageAt) -> None:
    """Markup in every text; and events with wrong types, which no game would write."""
    page = page_at("/replay")
    for name in FEW:
        rows = [poisoned(parse_row(line), number) for number, line in enumerate(log(name)[:MOST_ROWS])]
        drop(page, joined([dumps(row) for row in rows]), f"{name}.ndjson")
        page.get_by_text(f"{name}.ndjson: {len(rows)} rows.").wait_for()
        page.wait_for_selector(FAILED)
        told = page.evaluate(STEP_ALL)
        assert len(told) > 8
    assert page.evaluate("window.harmed") is None
    assert page.locator("main img[src='x']").count() == 0


def poisoned(row: Json, number: int) -> Json:
    wrong: list[Any] = [HOSTILE, None, -1, [[]], {"toString": 1}, 10**6]
    for place, event in enumerate(row.get("events", [])):
        names = sorted(set(event) - {"event"})
        if names and (number + place) % 3 == 0:
            event[names[number % len(names)]] = wrong[(number + place) % len(wrong)]
    if row["type"] == "header":
        row["players"] = [{**player, "name": HOSTILE, "version": HOSTILE} for player in row["players"]]
        row["match"] = HOSTILE
    if row["type"] == "decision":
        row |= {"note": HOSTILE, "fault": HOSTILE, "source": HOSTILE, "ms": HOSTILE}
    return row
