"""Implement `referee account`, with which users decide about their own account as a whole.

``account_recovery`` has its commands for lost tokens.
"""

import sys
from typing import BinaryIO

import click

from referee.accounts.entry_consent import EntryConsent
from referee.cli import saved_tokens
from referee.cli.account_recovery import recover, recovery_code
from referee.cli.options import choice_of
from referee.cli.plain_text import note
from referee.cli.tournament.remote import Remote, service_command


@click.group()
def account() -> None:
    """Rename, export, delete or recover your account, and decide who may enter its bots."""


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
@click.option(
    "--end-tournaments", is_flag=True, help="Cancel tournaments that only you run, even if others entered bots."
)
def delete(remote: Remote, name: str | None, end_tournaments: bool) -> None:
    """Delete your account for good, with all of your bots.

    Everything that says who you are is erased, and no token opens the account any longer. The results of your bots stay
    under the names that they played under, because the ratings of other bots follow from them. Tournaments and series
    that you run with other organisers pass to the first of them. Those that only you run end: drafts, and series
    without a finished tournament, are deleted; other tournaments that are not over are cancelled, and their texts are
    erased.
    `referee account export` writes a copy of your data before. This cannot be undone, so the command asks for the name
    of the account.

    \b
    Example:
      referee account delete
    """
    if name is None:
        if not sys.stdin.isatty():
            raise click.UsageError("A deletion cannot be undone. Pass --name NAME to delete the account of this name.")
        own = remote.api.get("/accounts/me")["name"]
        name = click.prompt(f"Type {own} to delete the account and all of its bots for good", err=True)
    deleted = remote.api.post("/accounts/me/delete", {"name": name, "end_tournaments": end_tournaments})
    if remote.token is not None and remote.token.is_saved:
        saved_tokens.delete(remote.api.url)
    remote.show(deleted, f"The account is deleted. Its bots are shown as those of {deleted['name']}.")


@service_command()
@click.argument("consent", metavar="[CONSENT]", type=choice_of(EntryConsent), required=False)
def entries(remote: Remote, consent: str | None) -> None:
    """Show or set whether organisers may enter your bots in tournaments.

    CONSENT is `everybody`, `ask` or `nobody`. With `ask`, an entry by an organiser is an invitation that you accept or
    decline with `referee invitations`.

    \b
    Example:
      referee account entries nobody
    """
    found = remote.api.get("/accounts/me")
    if consent is not None:
        found = remote.api.patch("/accounts/me", {"entry_consent": consent})
    remote.show(found, f"organisers may enter your bots: {found['entry_consent']}")


for command in (rename, entries, export, delete, recover, recovery_code):
    account.add_command(command)
