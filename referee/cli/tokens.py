"""Implement `referee tokens`, which lists, creates and revokes the tokens of the user's account."""

from collections.abc import Sequence

import click

from referee.accounts.accounts import MAX_LIFETIME_DAYS
from referee.accounts.scopes import Scope
from referee.cli.options import Number, choice_of
from referee.cli.plain_text import note
from referee.cli.tables import TextTable
from referee.cli.tournament.formatting import clock
from referee.cli.tournament.remote import Remote, service_command
from referee.match.canonical import Json


@click.group()
def tokens() -> None:
    """List, create and revoke the tokens of your account."""


@service_command("list")
def list_tokens(remote: Remote) -> None:
    """List your tokens, including revoked and expired ones, newest first."""
    found = remote.api.get("/accounts/me/tokens")
    heads = ["id", "name", "text", "scopes", "created", "last used", "expires", "revoked"]
    rows = [
        [
            *(token["id"], token["name"], token["hint"], ",".join(token["scopes"])),
            *map(clock, (token["created_at"], token["last_used_at"])),
            "never" if token["expires_at"] is None else clock(token["expires_at"]),
            clock(token["revoked_at"]),
        ]
        for token in found["items"]
    ]
    remote.show(found, TextTable(heads, rows, left=heads).plain())


@service_command("create")
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    type=choice_of(Scope),
    multiple=True,
    default=[Scope.ALL.value],
    help="What the token may do. Repeatable.",
)
@click.option("--days", type=Number(1, MAX_LIFETIME_DAYS), help="Days after which the token expires. [default: never]")
def create_token(remote: Remote, name: str, scopes: Sequence[str], days: int | None) -> None:
    """Create a token and print it. The token is shown only once.

    Every token may read what your account may see.

    \b
    Example:
      referee tokens create "build server" --scope play --days 90
    """
    wish: Json = {"name": name, "scopes": list(scopes), "expires_in_days": days}
    made = remote.api.post("/accounts/me/tokens", wish)
    remote.show(made, made["token"])


@service_command("revoke")
@click.argument("token_id", metavar="ID")
def revoke_token(remote: Remote, token_id: str) -> None:
    """Revoke a token, which is then no longer accepted.

    If it made the recovery code of the account, the code ends, too, and secrets of bots that it made no longer recover
    the account. `referee account recovery-code` makes a new code.

    \b
    Example:
      referee tokens revoke tok_01j8z2k4p6r8t0v2x4y6a8c0e2
    """
    remote.api.delete(f"/accounts/me/tokens/{token_id}")
    remote.show({"id": token_id}, f"{token_id} is revoked")
    note("If it made your recovery code, the code has ended. `referee account recovery-code` makes a new one.")


for command in (list_tokens, create_token, revoke_token):
    tokens.add_command(command)
