"""Which installation a command is about: its data directory, chosen by an option, and the settings that go with it."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from referee.settings import Settings
from referee.store.db import Database
from referee.store.upgrading import newest, revision, upgrade


def data_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--data``, the same for all commands that work on the record."""
    return click.option(
        "--data",
        type=click.Path(path_type=Path, file_okay=False),
        help="The data directory. [default: REFEREE_DATA, else ./referee-data]",
    )(command)


def settings_of(data: Path | None) -> Settings:
    """The settings with ``--data`` in place of REFEREE_DATA, for this process and its children."""
    if data is not None:
        os.environ["REFEREE_DATA"] = str(data.expanduser().resolve())
    return Settings.load()


def record_of(data: Path | None) -> tuple[Settings, Database]:
    """An existing record; refuses to make one where there is none."""
    settings = settings_of(data)
    database = Database.from_settings(settings) if _exists(settings) else None
    if database is None or revision(database) is None:
        raise click.ClickException(
            f"there is no record in {settings.data_dir}; `referee up` makes one, or name another with --data"
        )
    if revision(database) != newest():
        upgrade(database)
    return settings, database


def made_record_of(data: Path | None) -> tuple[Settings, Database]:
    """The record, made where there is none and brought up to date."""
    settings = settings_of(data)
    database = Database.from_settings(settings)
    upgrade(database)
    return settings, database


def _exists(settings: Settings) -> bool:
    if not settings.database_url.startswith("sqlite"):
        return True
    return (settings.data_dir / "referee.db").exists() or "referee.db" not in settings.database_url
