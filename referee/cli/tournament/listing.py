"""Implement `referee tournament list` and `show`, which list tournaments and show the terms and entries of one."""

from itertools import islice
from textwrap import indent

import click

from referee.cli.browser import open_option, open_page
from referee.cli.options import Number, choice_of
from referee.cli.plain_text import replace_control_characters
from referee.cli.service import formatting
from referee.cli.service.remote import Remote, service_command, tournament_command
from referee.cli.tables import TextTable, number
from referee.match.canonical import Json
from referee.tournaments.states import Preflight, TournamentState

DEFAULT_LIMIT = 50
MAX_ENTRIES_SHOWN = 100
LABELS = {"substitutes": "replaced"}  # of counts, where they differ from the name of the field


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
@open_option
def show(remote: Remote, tournament_id: str, opens: bool) -> None:
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
    if opens:
        open_page(remote.page(f"tournaments/{tournament_id}"))


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
        (entry["name"], entry["bot"], number(entry["seed"]), entry["version"] or "-", _state(entry))
        for entry in entries
    ]
    heads = ("bot", "id", "seed", "version", "pre-flight")
    return TextTable(heads, rows, left=("bot", "id", "version", "pre-flight")).plain()


def _state(entry: Json) -> str:
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
