"""Implement `referee login`, `whoami` and `logout`, which save, show and delete the user's token for a service."""

import sys
from pathlib import Path

import click

from referee.cli.plain_text import note
from referee.cli.service import saved_tokens
from referee.cli.service.api_client import Api, ApiRefusal
from referee.cli.service.remote import Remote, RequestRefused, error_sentence, service_command, validate_token
from referee.match.canonical import Json

UNAUTHENTICATED = 401
FORBIDDEN = 403
KEEP_CODE = (
    "The recovery code is shown only once. Keep it apart from the token: if you lose all tokens, "
    "`referee recover` gives you a new one with it."
)


@service_command()
@click.option("--name", metavar="NAME", help="Open an account with this name, which is public once it has a bot.")
def login(remote: Remote, name: str | None) -> None:
    """Open an account on a service, or use one that you have.

    All later commands use this service and its token. Pass --name to open an account, if the service lets everybody
    open one, or --token-file to use a token that you have. Without either, the command asks. The token is saved in a
    file that only you can read, one for each service (in $XDG_CONFIG_HOME/referee/tokens, or ~/.config/referee/tokens).
    --url, --token, --token-file and their environment variables take precedence over it; if you are signed in to
    several services, --url or $REFEREE_URL chooses one. The recovery code of a new account is shown once; `referee
    recover` gives you a new token with it.

    \b
    Examples:
      referee login --name "Ada" --url https://referee.example
      referee login --token-file token.txt
    """
    given = None if remote.token is None or remote.token.is_saved else remote.token.text
    if name is None and given is None:
        name, given = _ask_for_account()
    elif name is not None and given is not None:
        raise click.UsageError("Pass --name to open an account or a token to use one, not both.")
    signed_in = find_signed_in_account(remote)
    if given is not None:
        with Api(remote.api.url, given) as api:
            account = api.get("/accounts/me")
        refuse_other_account(remote, signed_in, account["id"])
    else:
        refuse_other_account(remote, signed_in, None)
        account, given = _open_account(remote, name or "")
    save_sign_in(remote, account, given)


@service_command()
def whoami(remote: Remote) -> None:
    """Show the account that commands use for a service, and where its token comes from.

    The exit status is 1 if there is no token or the service does not accept it.
    """
    if remote.token is None:
        raise RequestRefused(f"You are not signed in to {remote.api.url}. Run `referee login`.")
    account = remote.api.get("/accounts/me")
    text = f"{account['name']} ({account['id']}), {account['role']} at {remote.api.url}\ntoken: {remote.token.source}"
    remote.show(_document(remote, account, remote.token.source), text)


@service_command()
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def logout(remote: Remote, yes: bool) -> None:
    """Delete the token that `referee login` saved for a service.

    The token itself remains valid; revoke it on the account page of the service. The service never shows it again, so
    the command asks for confirmation.
    """
    path = saved_tokens.path_of(remote.api.url)
    if path.exists() and not yes:
        if not sys.stdin.isatty():
            raise click.UsageError(f"{path} may hold the only copy of your token. Pass --yes to delete it.")
        click.confirm(f"{path} may hold the only copy of your token. Delete it?", abort=True, err=True)
    deleted = saved_tokens.delete(remote.api.url)
    done = f"signed out of {remote.api.url}" if deleted else f"No token is saved for {remote.api.url}."
    remote.show({"url": remote.api.url, "deleted": str(deleted) if deleted else None}, done)


def _ask_for_account() -> tuple[str | None, str | None]:
    """Ask on the terminal for a token or, if there is none, for the name of a new account, and return both."""
    if not sys.stdin.isatty():
        raise click.UsageError(
            "Pass --name NAME to open an account, or --token-file FILE to use a token that you have."
        )
    token = click.prompt(
        "Your token (press Enter to open a new account)", default="", show_default=False, hide_input=True, err=True
    )
    if token.strip():
        return None, validate_token(token.strip())
    return click.prompt("Name of the new account, public once it has a bot", err=True), None


def find_signed_in_account(remote: Remote) -> Json | None:
    """Return the account of the saved token, or None if there is none or the service does not accept it."""
    text = saved_tokens.load(remote.api.url)
    if text is None:
        return None
    try:
        with Api(remote.api.url, text) as api:
            return dict(api.get("/accounts/me"))
    except ApiRefusal as error:
        if error.status != UNAUTHENTICATED:
            raise
        return None


def refuse_other_account(remote: Remote, signed_in: Json | None, account_id: str | None) -> None:
    """Raise ``RequestRefused`` if a valid token of another account is saved, which would be lost."""
    if signed_in is not None and signed_in["id"] != account_id:
        raise RequestRefused(
            f"You are signed in to {remote.api.url} as {signed_in['name']}. To use another service, pass its --url. To "
            f"use another account, copy {saved_tokens.path_of(remote.api.url)} and run `referee logout` first."
        )


def _open_account(remote: Remote, name: str) -> tuple[Json, str]:
    """Open an account and return it and its token. Raise ``RequestRefused`` if only the operator opens accounts."""
    try:
        with Api(remote.api.url) as api:
            account = dict(api.post("/accounts", {"name": name}))
    except ApiRefusal as error:
        if error.status != FORBIDDEN:
            raise
        raise RequestRefused(f"{error_sentence(error)}. Then run `referee login --token-file FILE`.") from error
    return account, str(account.pop("token")["token"])


def save_sign_in(remote: Remote, account: Json, token: str) -> None:
    """Save the token, and show the account, with its recovery code if it has a new one."""
    path = _save(remote, token, account.get("recovery_code"))
    text = f"signed in to {remote.api.url} as {account['name']}"
    if "recovery_code" in account:
        text += f"\nrecovery code: {account['recovery_code']}"
    remote.show(_document(remote, account, str(path)), text)
    note(f"The token is saved in {path}, the only place where it can be read again.")
    if "recovery_code" in account:
        note(KEEP_CODE)


def _save(remote: Remote, token: str, code: str | None) -> Path:
    """Save the token and return its file. If that fails, print token and code, so that they are not lost."""
    try:
        return saved_tokens.save(remote.api.url, token)
    except OSError as error:
        raise RequestRefused(
            f"{saved_tokens.path_of(remote.api.url)} cannot be written ({error.strerror}). Save the token yourself and "
            f"pass it with --token-file. It is not shown again: {token}" + (f" (recovery code: {code})" if code else "")
        ) from error


def _document(remote: Remote, account: Json, source: str) -> Json:
    return {"url": remote.api.url, "account": account, "token_source": source}
