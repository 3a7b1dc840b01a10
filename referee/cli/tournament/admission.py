"""Implement `referee tournament admission`, `requests`, `approve`, `refuse` and `organisers`.

They decide who may enter a tournament, and who runs it.
"""

from collections.abc import Iterable
from typing import Final

import click

from referee.cli.plain_text import note
from referee.cli.tables import TextTable
from referee.cli.tournament import lookup
from referee.cli.tournament.formatting import clock
from referee.cli.tournament.remote import Remote, tournament_command

NOBODY: Final = "no organiser is left"


@tournament_command("admission", example='--code "spring 2030" --guest Ada')
@click.option("--code", metavar="CODE", help="Join code with which owners enter bots: 6 to 40 letters and digits.")
@click.option("--no-code", is_flag=True, help="Remove the join code.")
@click.option(
    "--guest", "guests", metavar="ACCOUNT", multiple=True, help="Add an account that needs no code. Repeatable."
)
@click.option("--no-guests", is_flag=True, help="Remove all guests, before those of --guest are added.")
def admission(
    remote: Remote, tournament_id: str, code: str | None, no_code: bool, guests: tuple[str, ...], no_guests: bool
) -> None:
    """Show or change who may enter bots: those who know a code, and guests.

    Without a code and without guests, every account may.
    """
    if code is not None and no_code:
        raise click.UsageError("Pass either --code or --no-code, not both.")
    path = f"/tournaments/{tournament_id}/admission"
    document = remote.api.get(path)
    if code is not None or no_code or guests or no_guests:
        kept = [] if no_guests else [guest["id"] for guest in document["guests"]]
        join_code = None if no_code else code if code is not None else document["join_code"]
        document = remote.api.put(path, {"join_code": join_code, "guests": [*kept, *guests]})
    names = ", ".join(guest["name"] for guest in document["guests"]) or "none"
    remote.show(document, f"join code: {document['join_code'] or 'none'}\nguests: {names}")


@tournament_command("requests")
def requests(remote: Remote, tournament_id: str) -> None:
    """List requests to enter a tournament that approves its entries.

    Its organiser sees all requests, others see those for their own bots.
    """
    document = remote.api.get(f"/tournaments/{tournament_id}/requests")
    rows = [
        (request["name"], request["bot"], clock(request["created_at"]), _decision(request))
        for request in document["items"]
    ]
    heads = ("bot", "id", "asked", "decision")
    remote.show(document, TextTable(heads, rows, left=heads).plain() if rows else "No requests.")


@tournament_command("approve", example='"Ada sound"')
@click.argument("bot")
def approve(remote: Remote, tournament_id: str, bot: str) -> None:
    """Enter a bot whose owner asked for it."""
    bot_id = lookup.bot_id(remote.api, bot)
    remote.show(remote.api.post(f"/tournaments/{tournament_id}/requests/{bot_id}/approve"), f"{bot}: entered")


@tournament_command("refuse", example='"Carl random" --reason "This cup is for students."')
@click.argument("bot")
@click.option("--reason", metavar="TEXT", help="Reason that the owner of the bot reads.")
def refuse(remote: Remote, tournament_id: str, bot: str, reason: str | None) -> None:
    """Refuse a bot whose owner asked to enter it.

    The owner cannot ask again. You can still ask them, with `referee tournament enter`.
    """
    bot_id = lookup.bot_id(remote.api, bot)
    body = {} if reason is None else {"reason": reason}
    document = remote.api.post(f"/tournaments/{tournament_id}/requests/{bot_id}/refuse", body)
    remote.show(document, f"{bot}: refused")


@tournament_command("organisers", example='--invite "Ada Lovelace"')
@click.option("--invite", "invited", metavar="ACCOUNT", multiple=True, help="Invite an account to run it. Repeatable.")
@click.option(
    "--remove", "removed", metavar="ACCOUNT", multiple=True, help="Remove an organiser, or yourself. Repeatable."
)
def organisers(remote: Remote, tournament_id: str, invited: tuple[str, ...], removed: tuple[str, ...]) -> None:
    """Show, invite or remove the accounts that run a tournament together.

    An invited account runs it when it has accepted. `referee invitations list --tournament` shows who has not. If you
    created the tournament and leave it, its first co-organiser takes it over.
    """
    change_organisers(remote, f"/tournaments/{tournament_id}", invited, removed)


def change_organisers(remote: Remote, path: str, invited: Iterable[str], removed: Iterable[str]) -> None:
    """Invite and remove organisers of the tournament or series at ``path``, and show those that are left."""
    for name in invited:
        remote.api.post(f"{path}/organisers", {"account": name})
        note(f"{name} is invited.")
    ids = {
        known: organiser["id"]
        for organiser in remote.api.get(path)["organisers"]
        for known in (organiser["id"], organiser["name"])
    }
    for name in removed:
        if name not in ids:
            raise click.UsageError(f"{name!r} is not an organiser. Organisers: {', '.join(ids)}.")
        remote.api.delete(f"{path}/organisers/{ids[name]}")
    document = remote.api.get(path)["organisers"]
    remote.show({"items": document}, "\n".join(f"{item['name']} ({item['id']})" for item in document) or NOBODY)


def _decision(request: dict[str, str | None]) -> str:
    if request["refused_at"] is None:
        return "waits"
    return "refused" + (f": {request['reason']}" if request["reason"] else "")
