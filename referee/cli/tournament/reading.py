"""Implement the commands of `referee tournament` that only read: `list`, `show`, `standings`, `bracket` and others."""

import csv
import io
from itertools import islice
from pathlib import Path
from textwrap import indent

import click

from referee.cli.options import FILE, Number, choice_of
from referee.cli.plain_text import replace_control_characters
from referee.cli.service import formatting, lookup
from referee.cli.service.log_files import read_chunks
from referee.cli.service.remote import Remote, service_command, tournament_command
from referee.cli.tables import TextTable, number
from referee.cli.tables import standings as standings_table
from referee.labels import rated_label
from referee.match.canonical import Json
from referee.tournaments.states import Preflight, TournamentState

DEFAULT_LIMIT = 50
MAX_ENTRIES_SHOWN = 100
LABELS = {"substitutes": "replaced"}  # of counts, where they differ from the name of the field
RESULTS = ("tournament_round", "table", "leg", "match", "seat", "name", "placement", "returns", "status", "reason")
RESULTS_TEXT = ("match", "name", "status", "reason")


@service_command("list")
@click.option("--status", type=choice_of(TournamentState), help="List only tournaments in this state.")
@click.option("--game", metavar="GAME", help="List only tournaments of this game.")
@click.option("--limit", type=Number(1), default=DEFAULT_LIMIT, help="Maximum number of tournaments to list.")
def list_(remote: Remote, status: str | None, game: str | None, limit: int) -> None:
    """List tournaments, the newest first.

    \b
    Example:
      referee tournament list --status running
    """
    filters = "".join(f"&{name}={value}" for name, value in (("status", status), ("game", game)) if value)
    found = list(islice(remote.api.items(f"/tournaments?limit={min(limit, 100)}{filters}"), limit))
    rows = [
        (
            *(tournament["id"], tournament["name"], tournament["status"], tournament["game"]),
            *(str(tournament["seats"]), tournament["format"], formatting.clock(tournament["created_at"])),
        )
        for tournament in found
    ]
    heads = ("id", "name", "status", "game", "seats", "format", "drafted")
    text = TextTable(heads, rows, left=("id", "name", "status", "game", "format", "drafted")).plain()
    remote.show({"items": found}, text if found else "No tournaments found.")


@tournament_command()
def show(remote: Remote, tournament_id: str) -> None:
    """Show a tournament.

    The output contains its terms, progress and entries, and says which bots answered the call before the start.
    """
    tournament = remote.api.get(f"/tournaments/{tournament_id}")
    count = tournament["entries"]["entered"] + tournament["entries"]["withdrawn"]
    listed = remote.api.items(f"/tournaments/{tournament_id}/entries?limit=100")
    entries = list(listed if remote.as_json else islice(listed, MAX_ENTRIES_SHOWN))
    parts = [
        f"{tournament['name']} ({tournament['id']})",
        formatting.lines([*formatting.terms(tournament), ("progress", _progress(tournament))]),
    ]
    if tournament["description"]:
        parts.append(
            "\n" + indent("\n".join(map(replace_control_characters, tournament["description"].splitlines())), "  ")
        )
    if entries:
        parts.append(f"\n{_format_entries(tournament['entries'])}\n{_entries(entries)}")
    if count > len(entries):
        parts.append(f"… and {count - len(entries)} more; --json shows all entries")
    remote.show({**tournament, "entered": entries}, "\n".join(parts))


@tournament_command(example="--limit 10")
@click.option("--limit", type=Number(1), help="Maximum number of rows to show. [default: all]")
@click.option("--bot", metavar="BOT", help="Show only the row of this bot.")
@click.option("--all-columns", is_flag=True, help="Add the other tie-breaks, matches, returns and error bars.")
def standings(remote: Remote, tournament_id: str, limit: int | None, bot: str | None, all_columns: bool) -> None:
    """Show the standings.

    A draw is a match in which a bot shared the first place. With --all-columns, tie-breaks are in the order in which
    they decide, and the points per match are followed by their 95 % confidence interval and, in brackets, the number of
    deal groups on which it is based. --json and the file standings.csv have all columns.
    """
    tournament = remote.api.get(f"/tournaments/{tournament_id}")
    path = f"/tournaments/{tournament_id}/standings"
    if bot is None:
        document = _fetch_all_pages(remote, f"{path}?limit={min(limit or 100, 100)}", limit)
        rows = document["items"]
    else:
        document = remote.api.get(f"{path}/{lookup.bot_id(remote.api, bot)}")
        rows = [document["row"]]
    title = f"{formatting.title(tournament)}; {formatting.progress(tournament)}"
    table = standings_table(tournament, title, rows, all_columns=all_columns)
    remote.show(document, table.plain() if rows else "No bots are entered.")


@tournament_command()
def bracket(remote: Remote, tournament_id: str) -> None:
    """List the tables of a knockout, round by round.

    Entrants are listed best first, with their points; an arrow marks those who advanced or won.
    """
    document = remote.api.get(f"/tournaments/{tournament_id}/bracket")
    lines = list[str]()
    for played in document["rounds"]:
        lines += [f"{_round_name(played['label'])}:"] + [_format_table(table) for table in played["tables"]]
        lines += [f"  {bye['name']}: no table ({bye['reason']})" for bye in played["byes"]]
    lines += [f"{_round_name(later['label'])}: {later['tables']} to come" for later in document["to_come"]]
    remote.show(document, "\n".join(lines) or "No tables have been paired yet.")


def _round_name(label: str) -> str:
    return label.replace("_final", "-final").replace("_", " ")


def _format_table(table: Json) -> str:
    title = f"  table {table['table']}: " if table["label"] != "third_place" else "  third place: "
    sides = [
        ("→ " if entrant["advanced"] else "")
        + entrant["name"]
        + ("" if entrant["points"] is None else f" {number(entrant['points'])}")
        for entrant in table["entrants"]
    ]
    return title + ", ".join(sides)


@tournament_command(example="--csv > cup.csv")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, for spreadsheets and programs.")
@click.option("--out", type=FILE, help="Write the results to FILE as CSV.")
def results(remote: Remote, tournament_id: str, as_csv: bool, out: Path | None) -> None:
    """Show all results.

    There is a row for each seat of each match, in the order in which the matches ended. --csv and --json have more
    columns.
    """
    path = f"/api/v1/tournaments/{tournament_id}/results.csv"
    if out is not None:
        with remote.api.stream(path) as response, out.open("wb") as file:
            file.writelines(read_chunks(response))
        remote.show({"file": str(out), "bytes": out.stat().st_size}, f"{out}: {out.stat().st_size} bytes")
        return
    text = remote.api.fetch(path).decode()
    if as_csv and not remote.as_json:
        click.echo(text, nl=False)
        return
    items = list(csv.DictReader(io.StringIO(text, newline="")))
    table = TextTable(RESULTS, [[item[column] for column in RESULTS] for item in items], left=RESULTS_TEXT)
    remote.show({"items": items}, table.plain() if items else "No matches have been played yet.")


@service_command()
@click.argument("bot", metavar="BOT")
def waiting(remote: Remote, bot: str) -> None:
    """Show why a bot is not playing.

    The bot's owner and organisers also see its position in the queue and the reason for waiting.

    \b
    Example:
      referee tournament waiting "Ada sound"
    """
    document = remote.api.get(f"/bots/{lookup.bot_id(remote.api, bot)}/waiting")
    head = f"{bot}: no open match"
    if document["open"]:
        head = f"{bot}: {document['playing']} of {document['open']} open matches are being played"
    if document["reason"]:
        head += f"; {document['reason']['text']}"
    rows = [
        (match["match"], number(match["position"]), f"{_reason(match)}{_describe_unrated(match)}")
        for match in document["matches"]
    ]
    rows += [(tournament["tournament"], "-", _reason(tournament)) for tournament in document["tournaments"]]
    rows += [(ladder["ladder"], "-", _reason(ladder)) for ladder in document["ladders"]]
    waits_for = "match, tournament or ladder"
    table = TextTable((waits_for, "position", "reason"), rows, left=(waits_for, "reason"))
    text = f"{head}\n{table.plain()}" if rows else head
    remote.show(document, text)


def _progress(tournament: Json) -> str:
    by_status = tournament["progress"]["by_status"]
    counts = ", ".join(f"{count} {status}" for status, count in by_status.items())
    return formatting.progress(tournament) + (f" ({counts})" if counts else "")


def _format_entries(entries: Json) -> str:
    """Return the numbers of entries as text like ``5 entered: 4 ready, 1 absent, 1 replaced``."""
    fields = ("asked", "ready", "absent", "substitutes", "withdrawn", "disqualified")
    counts = [f"{entries[field]} {LABELS.get(field, field)}" for field in fields if entries[field]]
    return f"{entries['entered']} entered" + (f": {', '.join(counts)}" if counts else "")


def _entries(entries: list[Json]) -> str:
    rows = [
        (entry["name"], entry["bot"], number(entry["seed"]), entry["version"] or "-", _entry_state(entry))
        for entry in entries
    ]
    heads = ("bot", "id", "seed", "version", "pre-flight")
    return TextTable(heads, rows, left=("bot", "id", "version", "pre-flight")).plain()


def _entry_state(entry: Json) -> str:
    """Return a text with the result of the bot's pre-flight call and its consequences."""
    if entry["disqualified_at"]:
        reason = replace_control_characters(entry["disqualification_reason"])
        return f"disqualified {formatting.clock(entry['disqualified_at'])}: {reason}"
    if entry["withdrawn_at"]:
        return f"withdrawn {formatting.clock(entry['withdrawn_at'])}"
    parts = [entry["preflight"].replace(Preflight.NONE, "not called yet")]
    if entry["preflight_reason"]:
        parts.append(entry["preflight_reason"])
    if entry["substitute"]:
        since = f" since {formatting.clock(entry['substituted_at'])}" if entry["substituted_at"] else ""
        code = f" ({entry['substitution_code']})" if entry["substitution_code"] else ""
        parts.append(f"a house bot plays its seats{since}{code}")
    if entry["version_changed_at"]:
        parts.append(f"changed its version {formatting.clock(entry['version_changed_at'])}")
    if entry["first_round"] > 1:
        parts.append(f"plays from round {entry['first_round']} on")
    return ", ".join(parts)


def _fetch_all_pages(remote: Remote, path: str, limit: int | None = None) -> Json:
    """Return the first page with the items of all pages, or with the first ``limit`` of them."""
    first: Json = remote.api.get(path)
    items = list(islice(remote.api.items(path), limit)) if first["next"] else first["items"][:limit]
    return first | {"items": items, "next": None}


def _describe_unrated(match: Json) -> str:
    return f" ({rated_label({**match, 'rated': False})})" if match["unrated_reason"] else ""


def _reason(waiting: Json) -> str:
    return str(waiting["reason"]["text"]) if waiting["reason"] else "is being played"
