"""Implement `referee account`, which renames, exports and deletes the user's own account."""

import sys
from typing import BinaryIO

import click

from referee.cli import saved_tokens
from referee.cli.plain_text import note
from referee.cli.tournament.remote import Remote, service_command


@click.group()
def account() -> None:
    """Rename, export or delete your account."""


@service_command()
@click.argument("name", metavar="NAME")
def rename(remote: Remote, name: str) -> None:
    """Give your account another name.

    The page with your bots shows earlier names. For 30 days nobody else can take the earlier name. A name can be
    changed 5 times in 30 days.

    \b
    Example:
      referee account rename "Ada"
    """
    before = remote.api.get("/accounts/me")["name"]
    renamed = remote.api.patch("/accounts/me", {"name": name})
    remote.show(renamed, f"{before} is now called {renamed['name']}")


@service_command()
@click.argument("file", metavar="FILE", type=click.File("wb"))
def export(remote: Remote, file: BinaryIO) -> None:
    """Write all that the service has stored about your account to FILE, as JSON. - is standard output.

    Secrets and hashes of tokens are left out. `referee logs` downloads the logs of matches.

    \b
    Example:
      referee account export account.json
    """
    size = 0
    with remote.api.stream("/api/v1/accounts/me/export") as response:
        while piece := response.read(65_536):
            file.write(piece)
            size += len(piece)
    note(f"{size} bytes written")
    if remote.as_json and file.name not in ("-", "<stdout>"):
        remote.show({"file": file.name, "bytes": size}, "")


@service_command()
@click.option("--name", metavar="NAME", help="Name of the account, to confirm the deletion without a question.")
def delete(remote: Remote, name: str | None) -> None:
    """Delete your account for good, with all of your bots.

    Everything that says who you are is erased, and no token opens the account any longer. The results of your bots stay
    under the names that they played under, because the ratings of other bots follow from them. `referee account export`
    writes a copy of your data before. This cannot be undone, so the command asks for the name of the account.

    \b
    Example:
      referee account delete
    """
    if name is None:
        if not sys.stdin.isatty():
            raise click.UsageError("A deletion cannot be undone. Pass --name NAME to delete the account of this name.")
        own = remote.api.get("/accounts/me")["name"]
        name = click.prompt(f"Type {own} to delete the account and all of its bots for good", err=True)
    deleted = remote.api.post("/accounts/me/delete", {"name": name})
    if remote.token is not None and remote.token.is_saved:
        saved_tokens.delete(remote.api.url)
    remote.show(deleted, f"The account is deleted. Its bots are shown as those of {deleted['name']}.")


for command in (rename, export, delete):
    account.add_command(command)
