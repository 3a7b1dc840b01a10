"""Implement `referee faults`, which lists faults of the user's bots and shows one with its request and reply."""

from itertools import islice

import click

from referee.cli.browser import open_option, open_page
from referee.cli.options import Number
from referee.cli.plain_text import indent_lines
from referee.cli.tables import TextTable
from referee.cli.tournament import lookup
from referee.cli.tournament.formatting import clock
from referee.cli.tournament.remote import Remote, service_command
from referee.match.canonical import Json

MAX_SHOWN = 1_000  # characters of a question or a reply; --json shows all


@service_command()
@click.argument("whose", metavar="BOT|MATCH|FAULT")
@click.option("--code", metavar="CODE", help="List only faults with this code, such as deadline.")
@click.option("--limit", type=Number(1, 100), default=10, help="Maximum number of faults to list.")
@open_option
def faults(remote: Remote, whose: str, code: str | None, limit: int, opens: bool) -> None:
    """List the faults of your bot, or of your bots in a match, newest first.

    For a bot, also list its response times by version, and the errors in its own code that it reported. Given the
    number of a fault, show its request, the reply and a command that repeats the request.

    \b
    Examples:
      referee faults "My bot" --code deadline
      referee faults 17
    """
    if whose.isdecimal():
        fault = remote.api.get(f"/faults/{whose}")
        remote.show(fault, format_report(fault))
        if opens:
            open_page(remote.page(f"bots/{fault['bot']}/faults/{fault['id']}"))
        return
    kind = "matches" if whose.startswith("mat_") else "bots"
    found_id = whose if kind == "matches" else lookup.bot_id(remote.api, whose)
    query = f"/{kind}/{found_id}/faults?limit={limit}" + (f"&code={code}" if code else "")
    found = list(islice(remote.api.items(query), limit))
    about: Json = {}
    if kind == "bots" and not code:
        about["health"] = remote.api.get(f"/bots/{found_id}/health")["items"]
        about["errors"] = remote.api.get(f"/bots/{found_id}/errors?limit={limit}")["items"]
    hint = "`referee faults NUMBER` shows the request, the reply and a command that repeats the request."
    parts = [format_health(about["health"]), *map(format_error, about["errors"])] if about else []
    parts += [*map(format_summary, found), hint] if found else ["No faults found."]
    remote.show({"items": found, **about}, "\n\n".join(filter(None, parts)))
    if opens:
        open_page(remote.page(f"{kind}/{found_id}"))


def format_health(items: list[Json]) -> str:
    """Return the response times of the last matches with open logs as a table, by version, or an empty string."""
    rows = [
        (
            item["version"] or "-",
            *map(str, (item["matches"], item["decisions"])),
            *(str(item["ms"][figure]) for figure in ("p50", "p90", "p99", "max")),
            *map(str, (sum(item["faults"].values()), item["errors"])),
        )
        for item in items
    ]
    heads = ("version", "matches", "answers", "median", "90 %", "99 %", "max", "faults", "errors")
    title = "Response times in ms, in the last matches with open logs:"
    return TextTable(heads, rows, left=("version",), title=title).plain() if rows else ""


def format_error(error: Json) -> str:
    """Return the errors that a bot reported in a match as text, with the last one."""
    count = "1 error" if error["errors"] == 1 else f"{error['errors']} errors"
    where = f"    {error['match']}, last in decision {error['n']}, seat {error['seat'] + 1}"
    head = f"{clock(error['created_at'])}  {count} in the bot's own code, version {error['version'] or '-'}"
    return f"{head}\n{where}\n    {indent_lines(error['error'])}\n    The default action was played."


def format_summary(fault: Json) -> str:
    head = f"{fault['id']}  {clock(fault['created_at'])}  {fault['code']}: {fault['detail']}"
    where = f"    {fault['match']}, decision {fault['n']}, seat {fault['seat'] + 1}, version {fault['version'] or '-'}"
    return f"{head}\n{where}\n    {_times(fault['timing'] or {})}\n    {fault['advice']}"


def format_report(fault: Json) -> str:
    """Return a fault as text, with its request, its reply and a command that repeats the request."""
    reply = fault["reply"] if fault["reply_base64"] is None else f"(base64) {fault['reply_base64']}"
    parts = [
        format_summary(fault),
        f"request\n{_truncate(fault['request'])}",
        f"reply of your bot\n{_truncate(reply)}",
        f"action played instead\n{fault['played'] or 'not yet known'}",
    ]
    return "\n\n".join([*parts, *([f"command that repeats the request\n{fault['curl']}"] if fault["curl"] else [])])


def _times(timing: Json) -> str:
    return ", ".join(f"{name.removesuffix('_ms')} {value:g} ms" for name, value in timing.items() if name[-3:] == "_ms")


def _truncate(text: str | None) -> str:
    if not text:
        return "nothing"
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]} … ({len(text):,} characters; --json shows all)"
