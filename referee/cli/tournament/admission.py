"""Implement `referee tournament admission`, `requests`, `approve` and `refuse`: who may enter a tournament."""

import click

from referee.cli.tables import TextTable
from referee.cli.tournament import lookup
from referee.cli.tournament.formatting import clock
from referee.cli.tournament.remote import Remote, tournament_command


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

    The owner cannot ask again; you can still enter the bot.
    """
    bot_id = lookup.bot_id(remote.api, bot)
    body = {} if reason is None else {"reason": reason}
    document = remote.api.post(f"/tournaments/{tournament_id}/requests/{bot_id}/refuse", body)
    remote.show(document, f"{bot}: refused")


@tournament_command("organisers", example='--add "Ada Lovelace"')
@click.option("--add", "added", metavar="ACCOUNT", multiple=True, help="Let an account run it, too. Repeatable.")
@click.option("--remove", "removed", metavar="ACCOUNT", multiple=True, help="Take it from a co-organiser. Repeatable.")
def organisers(remote: Remote, tournament_id: str, added: tuple[str, ...], removed: tuple[str, ...]) -> None:
    """Show, add or remove the accounts that run a tournament together."""
    path = f"/tournaments/{tournament_id}"
    for name in added:
        remote.api.post(f"{path}/organisers", {"account": name})
    ids = {
        known: organiser["id"]
        for organiser in remote.api.get(path)["organisers"]
        for known in (organiser["id"], organiser["name"])
    }
    for name in removed:
        if name not in ids:
            raise click.UsageError(f"{name!r} does not run this tournament; those who do: {', '.join(ids)}.")
        remote.api.delete(f"{path}/organisers/{ids[name]}")
    document = remote.api.get(path)["organisers"]
    remote.show({"items": document}, "\n".join(f"{item['name']} ({item['id']})" for item in document))


def _decision(request: dict[str, str | None]) -> str:
    if request["refused_at"] is None:
        return "waits"
    return "refused" + (f": {request['reason']}" if request["reason"] else "")
