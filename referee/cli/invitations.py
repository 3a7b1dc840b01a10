"""Implement `referee invitations`, which lists, accepts, declines and withdraws invitations."""

import click

from referee.cli.tables import TextTable
from referee.cli.tournament import lookup
from referee.cli.tournament.formatting import clock
from referee.cli.tournament.remote import Remote, service_command
from referee.match.canonical import Json
from referee.tournaments.states import InvitationKind


@click.group()
def invitations() -> None:
    """List, accept, decline or withdraw invitations to enter your bots, and to run tournaments and series."""


@service_command("list")
@click.option("--tournament", "of_tournament", metavar="TOURNAMENT", help="List those of a tournament that you run.")
@click.option("--series", metavar="SERIES", help="List those of a series that you run.")
@click.option("--all", "everything", is_flag=True, help="Also list invitations that are decided or have lapsed.")
def list_invitations(remote: Remote, of_tournament: str | None, series: str | None, everything: bool) -> None:
    """List the invitations that wait for you, newest first.

    \b
    Example:
      referee invitations list
    """
    if of_tournament is not None and series is not None:
        raise click.UsageError("Pass either --tournament or --series, not both.")
    filters = [] if everything else ["pending=true"]
    if of_tournament is not None:
        filters.append(f"tournament={lookup.tournament_id(remote.api, of_tournament)}")
    if series is not None:
        filters.append(f"series={lookup.series_id(remote.api, series)}")
    found = list(remote.api.items("/invitations" + ("?" + "&".join(filters) if filters else "")))
    heads = ["id", "from", "to", "asks", "state", "sent"]
    rows = [
        [
            *(item["id"], item["invited_by_name"], item["account_name"]),
            *(describe(item), item["state"], clock(item["created_at"])),
        ]
        for item in found
    ]
    remote.show({"items": found}, TextTable(heads, rows, left=heads).plain() if rows else "No invitations found.")


@service_command("accept")
@click.argument("invitation_id", metavar="ID")
def accept(remote: Remote, invitation_id: str) -> None:
    """Accept an invitation.

    To enter a bot: it is entered. To run a tournament or series: you may do everything there that its organisers may,
    your name is shown with theirs, and you take it over if the account that created it leaves before you. You can leave
    at any time, with `organisers --remove` and your name.
    """
    found = remote.api.post(f"/invitations/{invitation_id}/accept")
    if found["kind"] == InvitationKind.ENTRY:
        remote.show(found, f"{found['bot_name']} is entered in {found['name']}")
    else:
        remote.show(found, f"you run {found['name']} now, together with its other organisers")


@service_command("decline")
@click.argument("invitation_id", metavar="ID")
def decline(remote: Remote, invitation_id: str) -> None:
    """Decline an invitation. You are not asked again, but can still accept it."""
    remote.show(remote.api.post(f"/invitations/{invitation_id}/decline"), f"{invitation_id} is declined")


@service_command("withdraw")
@click.argument("invitation_id", metavar="ID")
def withdraw(remote: Remote, invitation_id: str) -> None:
    """Withdraw an invitation of a tournament or series that you run."""
    remote.show(remote.api.post(f"/invitations/{invitation_id}/withdraw"), f"{invitation_id} is withdrawn")


def describe(invitation: Json) -> str:
    """Return what an invitation asks for, such as ``to enter Ada in Spring cup``."""
    if invitation["kind"] == InvitationKind.ENTRY:
        return f"to enter {invitation['bot_name']} in {invitation['name']}"
    return f"to run the {invitation['kind']} {invitation['name']}"


for command in (list_invitations, accept, decline, withdraw):
    invitations.add_command(command)
