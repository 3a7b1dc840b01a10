"""Implement `referee admin keys`, which lists the keys of a service and rotates its master key."""

import json
from dataclasses import asdict
from pathlib import Path

import click

import referee.schema  # noqa: F401  # reading needs all tables, because their foreign keys refer to each other
from referee.cli.options import data_option, json_option
from referee.cli.output import show
from referee.cli.tables import TextTable
from referee.errors import Conflict
from referee.master_keys import MasterKey, new_key, parse_key_file, render_key_file
from referee.private_files import write_private_file
from referee.runtime.data_dir import DataDir
from referee.runtime.service_database import open_database
from referee.settings import KEY_FILE, Settings, environment
from referee_extras.keys import rotation
from referee_extras.keys.rotation import KeyUse

STEPS = """The master key is set by REFEREE_MASTER_KEY, so it is changed there. A new one:

    {new}

1. Add it to REFEREE_ACCEPTED_MASTER_KEYS on every host, and restart all processes, one after the other.
2. Set REFEREE_MASTER_KEY to it and REFEREE_ACCEPTED_MASTER_KEYS to the old one on every host, and restart again.
3. Run `referee admin keys reseal`, and ask owners to rotate the secrets of bots and webhooks.
4. When `referee admin keys list` shows no unfinished groups for the old key, remove it and restart."""
OTHER_KEYS = """Other keys:
  bots       secrets derive from the master key; owners rotate one with POST /api/v1/bots/ID/rotate-secret, and the old
             one is accepted for 24 hours
  webhooks   the same, with POST /api/v1/webhooks/ID/rotate-secret
  tokens     do not derive from the master key; owners replace them on the page /account
  sessions   there are none: pages send the token"""


@click.command("list")
@data_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def list_keys(data: Path | None, *, as_json: bool) -> None:
    """List the master keys, the keys that sign logs, and what still needs them."""
    settings, database = open_database(data)
    try:
        with database.read() as session:
            uses = rotation.list_key_uses(session, settings.master_key)
    finally:
        database.dispose()
    if as_json:
        click.echo(json.dumps({"items": [_as_json(use) for use in uses]}))
        return
    headings = ("master key", "use", "signing key", "signs since", "until entry", "unfinished groups", "ended groups")
    click.echo(TextTable(headings, [_cells(use) for use in uses], left=headings[:5]).plain())
    click.echo(f"\n{OTHER_KEYS}")


@click.command()
@data_option
@json_option
def rotate(data: Path | None, *, as_json: bool) -> None:
    """Make a new master key the current one, and accept the old one.

    This changes the file master.key in the data directory; restart the service afterwards. If the key is set by
    REFEREE_MASTER_KEY, the command prints a new key and what to do, and changes nothing.
    """
    settings, database = open_database(data)
    database.dispose()
    if _is_set_by_environment():
        new = new_key().hex()
        show({"rotated": False, "new_master_key": new}, STEPS.format(new=new), as_json=as_json)
        return
    old = _read(settings)
    if old.accepted:
        raise Conflict("An earlier master key is still accepted. End it first, with `referee admin keys end`.")
    _write(settings, MasterKey(new_key(), [bytes(old)]))
    text = (
        "A new master key is the current one, and the old one is accepted. Restart the service, then run `referee "
        "admin keys reseal`. Keep a copy of master.key apart from your backups."
    )
    show({"rotated": True}, text, as_json=as_json)


@click.command()
@data_option
@json_option
def reseal(data: Path | None, *, as_json: bool) -> None:
    """Seal the seeds of ended deal groups with the current key.

    The old key is then not needed for them.
    """
    settings, database = open_database(data)
    try:
        report = rotation.reseal_ended_groups(database, settings.master_key)
    finally:
        database.dispose()
    document = {"resealed": report.resealed, "unreadable": report.unreadable}
    show(document, f"{report.resealed} seeds were sealed with the current key.", as_json=as_json)
    if report.unreadable:
        raise click.ClickException(f"{report.unreadable} seeds cannot be read with any key of the settings.")


@click.command()
@data_option
@click.option("--force", is_flag=True, help="End them even if unfinished or ended deal groups need them.")
@json_option
def end(data: Path | None, *, force: bool, as_json: bool) -> None:
    """Stop accepting earlier master keys.

    Secrets of bots and webhooks from before the rotation become invalid. The command refuses this while matches that
    began with them are not over, or ended ones were not resealed, or while `referee up` has not been restarted, because
    it would begin more of them.
    """
    settings, database = open_database(data)
    try:
        with database.read() as session:
            uses = rotation.list_key_uses(session, settings.master_key)[1:]
    finally:
        database.dispose()
    needed = [use for use in uses if use.unfinished_groups or use.ended_groups]
    if needed and not force:
        use = needed[0]
        raise Conflict(
            f"Master key {use.id} is needed for {use.unfinished_groups} unfinished and {use.ended_groups} ended deal "
            "groups. Let the matches end and run `referee admin keys reseal`, or pass --force."
        )
    if not force and not _is_set_by_environment():
        _check_restart(settings)
    if _is_set_by_environment():
        text = "Unset REFEREE_ACCEPTED_MASTER_KEYS on every host, and restart all processes."
        show({"ended": 0, "set_by_environment": True}, text, as_json=as_json)
        return
    _write(settings, MasterKey(bytes(_read(settings))))
    text = f"{len(uses)} earlier keys were ended. Restart the service."
    show({"ended": len(uses), "set_by_environment": False}, text, as_json=as_json)


def _is_set_by_environment() -> bool:
    return bool(environment().get("REFEREE_MASTER_KEY"))


def _check_restart(settings: Settings) -> None:
    """Raise ``Conflict`` if `referee up` began before the key file was changed and so uses the earlier key."""
    if DataDir(settings.data_dir).is_owner_older_than(settings.data_dir / KEY_FILE):
        raise Conflict(
            "The service has not been restarted since the rotation, so it begins matches with the old key. Restart it, "
            "or pass --force."
        )


def _read(settings: Settings) -> MasterKey:
    return parse_key_file((settings.data_dir / KEY_FILE).read_text())


def _write(settings: Settings, key: MasterKey) -> None:
    """Replace the key file by one that only its owner can read. It is never incomplete."""
    write_private_file(settings.data_dir / KEY_FILE, render_key_file(key).encode())


def _cells(use: KeyUse) -> tuple[str, ...]:
    signed = use.signed
    return (
        use.id,
        "current" if use.is_current else "accepted",
        use.signing_key,
        f"{signed.since:%Y-%m-%d %H:%M}" if signed else "",
        str(signed.last_number) if signed and signed.last_number else "",
        str(use.unfinished_groups),
        str(use.ended_groups),
    )


def _as_json(use: KeyUse) -> dict[str, object]:
    signed = use.signed
    members = {name: value for name, value in asdict(use).items() if name != "signed"}
    return members | {
        "since": signed.since.isoformat() if signed else None,
        "until": signed.until.isoformat() if signed and signed.until else None,
        "last_number": signed.last_number if signed else None,
    }
