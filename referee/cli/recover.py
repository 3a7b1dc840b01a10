"""Implement `referee recover`, which replaces lost tokens."""

import sys
from pathlib import Path
from typing import TextIO

import click

from referee.cli.login import find_signed_in_account, refuse_other_account, save_sign_in
from referee.cli.options import PATH
from referee.cli.plain_text import note
from referee.cli.service.api_client import Api
from referee.cli.service.remote import Remote, service_command
from referee.match.canonical import Json
from referee.protocol.signing import current_secret, recovery_proof

SECRET_NAME = "secret.txt"  # noqa: S105  # the name of the file in the folder of a starter bot


@service_command()
@click.argument("name", metavar="ACCOUNT")
@click.option(
    "--code-file", type=click.File(), metavar="FILE", help="File with the recovery code; - is standard input."
)
@click.option("--bot", metavar="BOT", help="Recover with the secret of this bot of the account, an id or a name.")
@click.option(
    "--secret-file", type=PATH, metavar="FILE", help="File with the secret of the bot, or the folder of a starter bot."
)
def recover(remote: Remote, name: str, code_file: TextIO | None, bot: str | None, secret_file: Path | None) -> None:
    """Get a new token for an account whose tokens are lost.

    It is saved as by `referee login`. ACCOUNT is its name or id. You prove that the account is yours with its recovery
    code, which the command asks for, or with the secret of one of its verified bots. The secret stays on this machine;
    only a proof is sent. All earlier tokens and the recovery code end; the new recovery code is shown once.

    \b
    Examples:
      referee recover "Ada" --url https://referee.example
      referee recover "Ada" --bot "My bot" --secret-file mybot
    """
    if (bot is None) != (secret_file is None) or (bot is not None and code_file is not None):
        raise click.UsageError("Pass --bot and --secret-file, or --code-file, or nothing to be asked for the code.")
    signed_in = find_signed_in_account(remote)
    refuse_other_account(
        remote, signed_in, signed_in["id"] if signed_in and name in (signed_in["id"], signed_in["name"]) else None
    )
    with Api(remote.api.url) as api:  # without a token: a saved one may be revoked
        if bot is not None and secret_file is not None:
            recovered = _recover_with_bot(api, name, bot, _read_secret(secret_file))
        else:
            recovered = api.post("/accounts/recover", {"account": name, "recovery_code": _read_code(code_file)})
    save_sign_in(remote, recovered, recovered.pop("token")["token"])
    note("All earlier tokens of the account are revoked.")


def _read_code(file: TextIO | None) -> str:
    if file is not None:
        return file.readline().strip()
    if not sys.stdin.isatty():
        raise click.UsageError("Pass --code-file FILE with the recovery code, or --bot and --secret-file.")
    return str(click.prompt("Recovery code", hide_input=True, err=True)).strip()


def _read_secret(path: Path) -> str:
    path = path / SECRET_NAME if path.is_dir() else path
    try:
        secret = current_secret(None, path)
    except ValueError as error:
        raise click.UsageError(f"{error}.") from error
    if not secret:
        raise click.UsageError(f"{path} has no secret. Pass the file with the secret of the bot (whsec_…).")
    return secret


def _recover_with_bot(api: Api, name: str, bot: str, secret: str) -> Json:
    challenge = api.post("/accounts/recovery-challenge")["challenge"]
    proof = recovery_proof(secret, challenge)
    return dict(
        api.post("/accounts/recover-with-bot", {"account": name, "bot": bot, "challenge": challenge, "proof": proof})
    )
