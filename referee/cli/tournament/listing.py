"""`referee tournament list` and `show`: the terms of a tournament and its entries."""

from itertools import islice

import click

from referee.cli.tables import Table, number
from referee.cli.tournament import formatting
from referee.cli.tournament.remote import Remote, asks_service, tournament_argument
from referee.match.canonical import Json

STATES = ("draft", "open", "running", "paused", "finished", "cancelled")
LISTED = 50
SHOWN = 100  # entries


@click.command("list")
@click.option("--status", type=click.Choice(STATES), help="List only tournaments in this state.")
@click.option("--game", metavar="GAME", help="List only tournaments of this game.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    default=LISTED,
    show_default=True,
    help="Largest number of tournaments to list.",
)
@asks_service
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
            one["id"],
            one["name"],
            one["status"],
            one["game"],
            str(one["seats"]),
            one["format"],
            formatting.clock(one["created_at"]),
        )
        for one in found
    ]
    heads = ("id", "name", "status", "game", "seats", "format", "drafted")
    text = Table(heads, rows, left=("id", "name", "status", "game", "format", "drafted")).plain()
    remote.tell({"items": found}, text if found else "No tournaments found.")


@click.command()
@tournament_argument
@asks_service
def show(remote: Remote, tournament_id: str) -> None:
    """Show a tournament.

    This shows its terms, its progress, its entries, and which bots answered before the start.

    \b
    Example:
      referee tournament show "Spring cup"
    """
    event = remote.api.get(f"/tournaments/{tournament_id}")
    count = event["entries"]["entered"] + event["entries"]["withdrawn"]
    listed = remote.api.items(f"/tournaments/{tournament_id}/entries?limit=100")
    entries = list(listed if remote.as_json else islice(listed, SHOWN))
    parts = [
        f"{event['name']} ({event['id']})",
        formatting.lines([*formatting.terms(event), ("progress", _progress(event))]),
    ]
    if entries:
        parts.append(f"\n{_format_entries(event['entries'])}\n{_entries(entries)}")
    if count > len(entries):
        parts.append(f"… and {count - len(entries)} more; --json has them all")
    remote.tell({**event, "entered": entries}, "\n".join(parts))


def _progress(event: Json) -> str:
    by_status = event["progress"]["by_status"]
    told = ", ".join(f"{count} {status}" for status, count in by_status.items())
    return formatting.progress(event) + (f" ({told})" if told else "")


def _format_entries(entries: Json) -> str:
    """``5 entered: 4 ready, 1 absent, 1 stand in``."""
    names = (
        ("asked", "asked"),
        ("ready", "ready"),
        ("absent", "absent"),
        ("substitutes", "replaced"),
        ("withdrawn", "withdrawn"),
    )
    told = [f"{entries[field]} {word}" for field, word in names if entries[field]]
    return f"{entries['entered']} entered" + (f": {', '.join(told)}" if told else "")


def _entries(entries: list[Json]) -> str:
    rows = [
        (entry["name"], entry["bot"], number(entry["seed"]), entry["version"] or "-", _state(entry))
        for entry in entries
    ]
    heads = ("bot", "id", "seed", "version", "pre-flight")
    return Table(heads, rows, left=("bot", "id", "version", "pre-flight")).plain()


def _state(entry: Json) -> str:
    """How the bot did when it was called, and what came of it."""
    if entry["withdrawn_at"]:
        return f"withdrawn {formatting.clock(entry['withdrawn_at'])}"
    said = [entry["preflight"].replace("none", "not called yet")]
    if entry["preflight_reason"]:
        said.append(entry["preflight_reason"])
    if entry["substitute"]:
        said.append("a house bot plays its seats")
    if entry["version_changed_at"]:
        said.append(f"changed its version {formatting.clock(entry['version_changed_at'])}")
    if entry["first_round"] > 1:
        said.append(f"plays from stage {entry['since']} on")
    return ", ".join(said)
