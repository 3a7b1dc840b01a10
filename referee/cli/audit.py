"""`referee audit`: everything stored compared with what follows from the logs."""

import sys
from pathlib import Path

import click

from referee.cli.installation import data_option, record_of
from referee.store import audit as auditing

SHOWN = 100


@click.command()
@data_option
def audit(data: Path | None) -> None:
    """Replay every log, fold every ladder anew, and compare bit for bit.

    The exit status is 1 when anything differs.
    """
    settings, database = record_of(data)
    found = 0
    with database.read() as session:
        for difference in auditing.audit(session):
            found += 1
            if found <= SHOWN:
                click.echo(str(difference))
    database.dispose()
    if found > SHOWN:
        click.echo(f"… and {found - SHOWN} more")
    click.echo(f"{settings.data_dir}: " + ("the record holds" if not found else f"{found} differences"))
    sys.exit(1 if found else 0)
