"""Implement `referee friendlies`, which shows and changes who may challenge a bot, and decides about requests."""

import click

from referee.cli.options import choice_of
from referee.cli.tables import TextTable
from referee.cli.tournament import lookup
from referee.cli.tournament.formatting import clock
from referee.cli.tournament.remote import Remote, service_command
from referee.cli.watch import tell_time_limit
from referee.friendlies.states import Challengers
from referee.match.canonical import Json


@click.group()
def friendlies() -> None:
    """Decide who may challenge your bots to friendlies, and when."""


@service_command("rules")
@click.argument("bot", metavar="BOT")
@click.option("--challengers", type=choice_of(Challengers), help="Set who may challenge the bot.")
@click.option("--hours", metavar="HH:MM-HH:MM", help="Let friendlies begin only in these hours of the day.")
@click.option("--time-zone", default="UTC", metavar="ZONE", help="Time zone of the hours, such as Europe/Berlin.")
@click.option("--any-hours", is_flag=True, help="Let friendlies begin at any time.")
def show_rules(
    remote: Remote, bot: str, challengers: str | None, hours: str | None, time_zone: str, any_hours: bool
) -> None:
    """Show or change who may challenge a bot.

    \b
    Example:
      referee friendlies rules "My bot" --challengers on_request \\
          --hours 18:00-23:00 --time-zone Europe/Berlin
    """
    if hours is not None and any_hours:
        raise click.UsageError("Pass either --hours or --any-hours, not both.")
    changes: Json = {} if challengers is None else {"challengers": challengers}
    if any_hours:
        changes["hours"] = None
    if hours is not None:
        begin, _, end = hours.partition("-")
        changes["hours"] = {"begin": begin, "end": end, "time_zone": time_zone}
    path = f"/bots/{lookup.bot_id(remote.api, bot)}/friendlies"
    found = remote.api.patch(path, changes) if changes else remote.api.get(path)
    remote.show(found, f"{bot}: {found['text']}")


@service_command("requests")
@click.option("--all", "everything", is_flag=True, help="Also list requests that are decided or have expired.")
def list_requests(remote: Remote, everything: bool) -> None:
    """List the requests for friendlies that you sent or that wait for you, newest first."""
    found = list(remote.api.items("/friendly-requests" + ("" if everything else "?pending=true")))
    heads = ["id", "from", "game", "bots", "state", "waits for you", "sent"]
    rows = [
        [
            *(request["id"], request["created_by_name"] or "deleted account", request["game"]),
            *(", ".join(request["bot_names"]), request["state"]),
            *("yes" if request["waits_for_you"] else "no", clock(request["created_at"])),
        ]
        for request in found
    ]
    remote.show({"items": found}, TextTable(heads, rows, left=heads).plain() if rows else "No requests found.")


@service_command("accept")
@click.argument("request_id", metavar="ID")
def accept_request(remote: Remote, request_id: str) -> None:
    """Accept a request for a friendly with your bots."""
    found = remote.api.post(f"/friendly-requests/{request_id}/accept")
    said = "other owners have to accept it, too"
    if found["match"]:
        said = f"the match is {found['match']}; {tell_time_limit(remote.api.get('/matches/' + found['match']))}"
    remote.show(found, f"{request_id} is accepted; {said}")


@service_command("decline")
@click.argument("request_id", metavar="ID")
@click.option("--reason", metavar="TEXT", help="Reason, for the account that asked.")
def decline_request(remote: Remote, request_id: str, reason: str | None) -> None:
    """Decline a request for a friendly with your bots."""
    found = remote.api.post(f"/friendly-requests/{request_id}/decline", {"reason": reason})
    remote.show(found, f"{request_id} is declined")


for command in (show_rules, list_requests, accept_request, decline_request):
    friendlies.add_command(command)
