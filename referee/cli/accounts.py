"""Implement `referee accounts`, with which operators list, rename, suspend, restore and delete accounts."""

import re
from typing import Final
from urllib.parse import quote

import click

from referee.cli.tables import TextTable
from referee.cli.tournament.formatting import clock
from referee.cli.tournament.remote import Remote, RequestRefused, service_command
from referee.match.canonical import Json

ID: Final = re.compile("acc_[0-9a-z]{26}")
REASON = click.option("--reason", metavar="TEXT", required=True, help="Reason, kept in the list of acts.")


@click.group()
def accounts() -> None:
    """List, rename, suspend, restore and delete accounts, as an operator of a service.

    Pass an ACCOUNT by name or id. These commands need the token of an operator.
    """


@service_command("list")
@click.option("--name", metavar="TEXT", help="List only accounts whose names contain this text.")
def list_accounts(remote: Remote, name: str | None) -> None:
    """List accounts, the newest first.

    \b
    Example:
      referee accounts list --name ada
    """
    found = _find(remote, name)
    heads = ["id", "name", "role", "created", "state"]
    rows = [[item["id"], item["name"], item["role"], clock(item["created_at"]), _state(item)] for item in found]
    remote.show({"items": found}, TextTable(heads, rows, left=heads).plain() if rows else "No account fits.")


@service_command()
@click.argument("account", metavar="ACCOUNT")
@click.argument("name", metavar="NAME")
@REASON
def rename(remote: Remote, account: str, name: str, reason: str) -> None:
    """Give an account another name.

    Pages do not show the earlier name, and for 30 days nobody can take it, not even the owner.

    \b
    Example:
      referee accounts rename "Rude name" "Calm name" --reason "Offensive"
    """
    known = _one(remote, account)
    renamed = remote.api.post(f"/accounts/{known['id']}/rename", {"name": name, "reason": reason})
    remote.show(renamed, f"{known['name']} is now called {renamed['name']}")


@service_command()
@click.argument("account", metavar="ACCOUNT")
@REASON
def suspend(remote: Remote, account: str, reason: str) -> None:
    """Refuse all requests of an account, and pause its bots. The owner reads the reason.

    \b
    Example:
      referee accounts suspend Ada --reason "Spam"
    """
    _act(remote, account, "suspend", reason, "is suspended")


@service_command()
@click.argument("account", metavar="ACCOUNT")
@REASON
def restore(remote: Remote, account: str, reason: str) -> None:
    """End the suspension of an account. Its bots stay paused until their owner resumes them.

    \b
    Example:
      referee accounts restore Ada --reason "Promised to stop"
    """
    _act(remote, account, "restore", reason, "is not suspended any longer")


@service_command()
@click.argument("account", metavar="ACCOUNT")
@REASON
@click.option(
    "--end-tournaments", is_flag=True, help="Cancel tournaments that only it runs, even if others entered bots."
)
@click.option("--yes", is_flag=True, help="Do not ask for the name of the account.")
def delete(remote: Remote, account: str, reason: str, end_tournaments: bool, yes: bool) -> None:
    """Delete an account for good, with all of its bots, for example at the request of its owner.

    The reason must not say who the owner is. The results of the bots stay. This cannot be undone, so the command asks
    for the name of the account.

    \b
    Example:
      referee accounts delete acc_01j8z2k4p6r8t0v2x4y6a8c0e2 \\
          --reason "At the owner's request"
    """
    known = _one(remote, account)
    name = known["name"] if yes else click.prompt(f"Type {known['name']} to delete the account for good", err=True)
    body = {"name": name, "reason": reason, "end_tournaments": end_tournaments}
    deleted = remote.api.post(f"/accounts/{known['id']}/delete", body)
    remote.show(deleted, f"{known['id']} is deleted and shown as {deleted['name']}")


def _act(remote: Remote, account: str, verb: str, reason: str, done: str) -> None:
    changed = remote.api.post(f"/accounts/{_one(remote, account)['id']}/{verb}", {"reason": reason})
    remote.show(changed, f"{changed['name']} {done}")


def _one(remote: Remote, wanted: str) -> Json:
    """Return the account with this id or name. Raise ``RequestRefused`` if there is none."""
    by_id = ID.fullmatch(wanted) is not None
    for item in _find(remote, None if by_id else wanted):
        if wanted in (item["id"], item["name"]) or (not by_id and item["name"].lower() == wanted.lower()):
            return item
    raise RequestRefused(f"Unknown account {wanted!r}; `referee accounts list` lists the accounts.")


def _find(remote: Remote, name: str | None) -> list[Json]:
    query = "" if name is None else f"&name={quote(name)}"
    return list(remote.api.items(f"/accounts?limit=100{query}"))


def _state(account: Json) -> str:
    if account["deleted_at"]:
        return f"deleted {clock(account['deleted_at'])}"
    if account["suspended_at"]:
        return f"suspended {clock(account['suspended_at'])}: {account['suspension_reason']}"
    return "active"


for command in (list_accounts, rename, suspend, restore, delete):
    accounts.add_command(command)
