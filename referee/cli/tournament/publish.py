"""Implement `referee tournament publish`, which writes a tournament as a folder of static files.

Everything is read without a token, so that the folder contains nothing that is not public.
"""

import csv
import hashlib
import io
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Final

import click

from referee.cli.api_client import Api
from referee.cli.options import PATH
from referee.cli.tournament import published_pages as pages
from referee.cli.tournament.gzip_log import split_logs
from referee.cli.tournament.log_download import read_chunks
from referee.cli.tournament.remote import Remote, RequestRefused, tournament_command
from referee.db.ids import PATTERN
from referee.errors import BadLog
from referee.match.canonical import Json
from referee.match.log import parse_row
from referee.pairing.kinds import TournamentFormat
from referee.tournaments.states import OVER
from referee.viewer.folder_page import render_match, shared_files

CHECKSUMS: Final = "SHA256SUMS"
MOST_IN_CROSSTABLE: Final = 60  # bots
MATCHES_A_PAGE: Final = 500  # in a ladder, which has no rounds


@tournament_command(example="--out spring-cup")
@click.option(
    "--out", type=PATH, required=True, metavar="DIR", help="Folder to write: a new one, or one written before."
)
@click.option("--so-far", is_flag=True, help="Also publish a tournament that is not finished, as it is now.")
def publish(remote: Remote, tournament_id: str, out: Path, so_far: bool) -> None:
    """Write a tournament as a folder of web pages and files.

    The folder opens from disk (index.html) and can be copied to any web server; it needs neither the service nor the
    network. It contains the standings (also as CSV and Markdown), the rounds, the crosstable, each match with its
    replay and its log, and SHA-256 digests of all files. It contains only what everybody can see.
    """
    out = out.resolve()  # a link stays, and the new folder is on the disk of the one before
    with Api(remote.api.url) as public:
        tournament = public.get(f"/tournaments/{tournament_id}")
        _check_state(tournament, so_far)
        _check_target(out)
        draft = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
        try:
            logs = _write_folder(public, tournament, draft)
            files = _write_checksums(draft)
            _replace(out, draft)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    document = {"folder": str(out), "files": files, "matches": logs}
    remote.show(document, f"{out / 'index.html'}: {tournament['name']}, {logs} matches, {files} files")


def _check_state(tournament: Json, so_far: bool) -> None:
    if tournament["started_at"] is None:
        raise RequestRefused(
            f"{tournament['name']} is {tournament['status']}; it can be published once it has started."
        )
    if tournament["status"] not in OVER and not so_far:
        raise RequestRefused(
            f"{tournament['name']} is {tournament['status']}, not finished; pass --so-far to publish its present state."
        )


def _check_target(out: Path) -> None:
    """Raise ``RequestRefused`` if the folder contains something else than a tournament written before."""
    if out.exists() and not out.is_dir():
        raise RequestRefused(f"{out} is a file; pass the name of a folder with --out.")
    if out.is_dir() and (other := _find_other_file(out)) is not None:
        raise RequestRefused(f"{out} contains other files ({other}); pass an empty or new folder with --out.")
    if not out.parent.is_dir():
        raise RequestRefused(f"{out.parent} does not exist; create it first.")


def _find_other_file(folder: Path) -> str | None:
    """Return the name of a file that does not belong to a tournament written before, which are replaced as a whole."""
    sums = folder / CHECKSUMS
    lines = sums.read_text(encoding="utf-8", errors="replace").splitlines() if sums.is_file() else []
    written = {CHECKSUMS, *(line.partition("  ")[2] for line in lines)}
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or path.is_file())
    return next((name for name in sorted(found) if name not in written), None)


def _write_folder(api: Api, tournament: Json, folder: Path) -> int:
    """Write all pages and files. Return the number of matches that have a page."""
    name, path = tournament["name"], f"/tournaments/{tournament['id']}"
    for file, text in shared_files().items():
        _write(folder / file, text)
    results = api.fetch(f"/api/v1{path}/results.csv")
    for file, content in (
        ("results.csv", results),
        *((file, api.fetch(f"/api/v1{path}/{file}")) for file in ("standings.csv", "standings.md")),
    ):
        (folder / file).write_bytes(content)
    logs = _write_matches(api, path, name, folder)
    parts = _write_rounds(api, tournament, _read_matches(results), logs, folder)
    standings = list(_items(api, f"{path}/standings"))
    if 0 < len(standings) <= MOST_IN_CROSSTABLE:
        crosstable = pages.render_crosstable(name, list(_items(api, f"{path}/crosstable")))
        _write(folder / "crosstable.html", crosstable)
        parts.append(("crosstable.html", "Crosstable"))
    parts += [("standings.csv", "Standings as CSV"), ("standings.md", "Standings in Markdown")]
    parts += [("results.csv", "All results as CSV")]
    taken_at = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    _write(folder / "index.html", pages.render_overview(tournament, standings, parts, taken_at))
    return len(logs)


def _write_matches(api: Api, path: str, name: str, folder: Path) -> set[str]:
    """Write the page and the log of each match whose log is public. Return the ids of these matches."""
    (folder / "logs").mkdir()
    (folder / "matches").mkdir()
    written = set()
    with api.stream(f"/api/v1{path}/logs") as response:
        for log in split_logs(read_chunks(response)):
            if not log.lines:
                continue  # damaged
            if not PATTERN.fullmatch(log.match):  # it becomes a file name
                raise RequestRefused(f"The service sent a log of {log.match!r}, which is not the id of a match.")
            (folder / "logs" / f"{log.match}.ndjson").write_bytes(b"".join(line + b"\n" for line in log.lines))
            links = (
                f'<a href="../index.html"><bdi>{escape(name)}</bdi></a> · '
                f'<a href="../logs/{log.match}.ndjson">log</a> · match <bdi>{log.match}</bdi>'
            )
            try:
                page = render_match(log.lines, parse_row(log.lines[0]), links)
            except BadLog:
                continue
            _write(folder / "matches" / f"{log.match}.html", page)
            written.add(log.match)
    return written


def _read_matches(results: bytes) -> list[list[Json]]:
    """Return the rows of results.csv by match, in the order in which the matches ended."""
    matches: dict[str, list[Json]] = defaultdict(list)
    for row in csv.DictReader(io.StringIO(results.decode(), newline="")):
        matches[row["match"]].append(row)
    return list(matches.values())


def _write_rounds(
    api: Api, tournament: Json, matches: Sequence[Sequence[Json]], logs: set[str], folder: Path
) -> list[tuple[str, str]]:
    """Write a page for each round or, in a ladder, for each 500 matches. Return their file names and titles."""
    parts = []
    for file, title, found, byes in _rounds(api, tournament, matches):
        _write(folder / file, pages.render_round(tournament["name"], title, found, byes, logs))
        parts.append((file, title))
    return parts


def _rounds(
    api: Api, tournament: Json, matches: Sequence[Sequence[Json]]
) -> Iterator[tuple[str, str, Sequence[Sequence[Json]], list[str]]]:
    """Yield the file name, the title, the matches and the byes of each round."""
    if tournament["format"] == TournamentFormat.LADDER:
        for page, start in enumerate(range(0, len(matches), MATCHES_A_PAGE), 1):
            found = matches[start : start + MATCHES_A_PAGE]
            yield f"matches-{page}.html", f"Matches {start + 1} to {start + len(found)}", found, []
        return
    by_round: dict[int, list[Sequence[Json]]] = defaultdict(list)
    for seats in matches:
        by_round[int(seats[0]["tournament_round"])].append(seats)
    path = f"/tournaments/{tournament['id']}/rounds"
    for row in _items(api, path):
        number, label = int(row["tournament_round"]), row["label"].replace("_", " ")
        rest = api.get(f"{path}/{number}?limit=1")["bye_entrants"] if row["byes"] else []
        title = f"Round {number}" + (f", {label}" if label else "")
        found = sorted(by_round[number], key=lambda seats: (int(seats[0]["table"]), int(seats[0]["leg"] or 1)))
        yield f"round-{number}.html", title, found, [bye["name"] or "not public yet" for bye in rest]


def _items(api: Api, path: str) -> Iterator[Json]:
    """Yield all items of a list, however many pages it has."""
    cursor = ""
    while True:
        page = api.get(f"{path}?limit=100{cursor}")
        yield from page["items"]
        if page["next"] is None:
            return
        cursor = f"&cursor={page['next']}"


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")  # as the pages say, whatever the locale is


def _write_checksums(folder: Path) -> int:
    """Write the digests of all files, as `sha256sum` does. Return the number of files."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    lines = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(folder).as_posix()}" for file in files
    ]
    _write(folder / CHECKSUMS, "".join(line + "\n" for line in lines))
    return len(files) + 1


def _replace(out: Path, draft: Path) -> None:
    """Put the new folder in the place of the one written before, so that readers find one or the other."""
    draft.chmod(0o755)
    before = draft.with_name(draft.name + "-before")
    if out.exists():
        out.rename(before)
    draft.rename(out)
    shutil.rmtree(before, ignore_errors=True)
