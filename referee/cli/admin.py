"""Implement the commands of `referee admin` that change the database as only the operator of this machine may."""

from pathlib import Path

import click
from sqlalchemy.orm import Session

import referee.schema  # noqa: F401  # flushing needs all tables, because their foreign keys refer to each other
from referee.accounts import accounts
from referee.accounts.roles import Role
from referee.cli.options import choice_of, data_option, json_option
from referee.cli.output import show
from referee.db.revisions import describe_tables_left, list_uninstalled_extras, required_revision
from referee.errors import NotFound
from referee.ladders.ladder_sync import sync_ladders
from referee.ladders.official import load_official_ladders
from referee.matches.states import MatchState
from referee.runtime.service_database import load_settings, open_database, open_or_create_database
from referee.workflows.accounts import account_oversight
from referee.workflows.ending import match_retry

TOKEN_NAME = "command line"  # noqa: S105  # a name, not a token


@click.command()
@click.argument("name")
@click.option("--role", type=choice_of(Role), default="organiser", help="Role of the account.")
@data_option
@json_option
def create(name: str, role: str, data: Path | None, as_json: bool) -> None:
    """Create an account and print its first token.

    The token is shown only once.
    """
    _, database = open_database(data)
    with database.write() as session:
        token = open_account(session, name, role)
    click.echo(f"{role} {name}", err=True)
    show({"name": name, "role": role, "token": token}, token, as_json=as_json)


@click.command()
@click.argument("name")
@click.argument("new_role", metavar="ROLE", type=choice_of(Role))
@click.option("--reason", metavar="TEXT", help="Reason, kept in the list of acts.")
@data_option
@json_option
def role(name: str, new_role: str, reason: str | None, data: Path | None, as_json: bool) -> None:
    """Change the role of an account.

    An organiser runs listed and rated tournaments, an admin operates the service. The change is recorded as an act of
    the command line.
    """
    _, database = open_database(data)
    with database.write() as session:
        account_oversight.change_role(session, None, _find_account(session, name), Role(new_role), reason)
    click.echo(f"{name} has the role {new_role}", err=True)
    if as_json:
        show({"name": name, "role": new_role}, "", as_json=True)


@click.command()
@click.argument("name")
@data_option
@json_option
def token(name: str, data: Path | None, as_json: bool) -> None:
    """Print another token for an account.

    The token is shown only once. Use this command if all tokens of an account were lost.
    """
    _, database = open_database(data)
    with database.write() as session:
        _, text = accounts.create_token(session, _find_account(session, name), TOKEN_NAME)
    show({"name": name, "token": text}, text, as_json=as_json)


@click.command()
@data_option
@json_option
def upgrade(data: Path | None, as_json: bool) -> None:
    """Create the database or upgrade its schema.

    The command `referee up` does this when it starts. The ladders that got another name or became official are listed.
    """
    official = load_official_ladders(load_settings(data).ladders)  # before anything is changed
    _, database = open_or_create_database(data)
    with database.write() as session:
        changes = sync_ladders(session, official)
        left = list_uninstalled_extras(session.connection())
    database.dispose()
    sentences = [*changes, *map(describe_tables_left, left), f"The schema is at revision {required_revision()}."]
    described = {"revision": required_revision(), "changes": changes, "uninstalled_extras": left}
    show(described, "\n".join(sentences), as_json=as_json)


@click.command()
@click.argument("match_id", metavar="MATCH")
@data_option
@json_option
def retry(match_id: str, data: Path | None, as_json: bool) -> None:
    """Make a stuck match due again.

    A match is stuck after its runners have died repeatedly. Run this command once you have removed the cause.
    """
    _, database = open_database(data)
    with database.write() as session:
        match_retry.retry_match(session, match_id)
    click.echo(f"{match_id} is due", err=True)
    if as_json:
        show({"match": match_id, "status": MatchState.DUE}, "", as_json=True)


def _find_account(session: Session, name: str) -> str:
    try:
        return accounts.find_account(session, name).id
    except NotFound as error:
        raise click.ClickException(f"Unknown account {name!r}. Create it with `referee admin create`.") from error


def open_account(session: Session, name: str, role: str) -> str:
    """Create an account and return its first token."""
    account = accounts.create_account(session, name, role)
    return accounts.create_token(session, account.id, TOKEN_NAME)[1]
