"""Implement `referee logs` and `referee tournament logs`, which download many logs into one file."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from referee.cli.options import PATH
from referee.cli.service import lookup
from referee.cli.service.api_client import Api
from referee.cli.service.remote import Remote, service_command, tournament_command
from referee_extras.log_downloads.download import LogSource, download_logs, file_name


def download_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a download of logs: ``out`` and ``verifies``."""
    out = click.option(
        "--out", type=PATH, help="File or directory to write to. [default: a file named after the subject]"
    )
    verify = click.option(
        "--verify", "verifies", is_flag=True, help="Verify every log: rules, legality, deals and result."
    )
    return out(verify(command))


@service_command()
@click.option("--bot", metavar="BOT", help="Only logs of matches in which this bot (name or id) played.")
@click.option("--ladder", metavar="LADDER", help="Only logs of rated matches of this ladder (name or id).")
@click.option(
    "--complete",
    is_flag=True,
    help="With --ladder, also download its results and the keys of the service, all into one directory.",
)
@click.option("--since", "finished_since", metavar="TIME", help="Only matches that ended at this time or later.")
@click.option("--before", "finished_before", metavar="TIME", help="Only matches that ended before this time.")
@download_options
def logs(
    remote: Remote,
    bot: str | None,
    ladder: str | None,
    complete: bool,
    finished_since: str | None,
    finished_before: str | None,
    **options: Any,
) -> None:
    """Download the logs of a bot, of a ladder, or of a span of time.

    All available logs are written to one gzip file of JSON lines, in the order in which the matches ended. If the file
    exists, for example after an interruption, the download continues at its end. A TIME is a date, such as 2027-01-31,
    which means its beginning in UTC, or a time such as 2027-01-31T18:00:00Z. With --verify the exit status is 1 if any
    log fails. For a tournament, use `referee tournament logs`.

    \b
    Examples:
      referee logs --bot Ada --since 2027-01-01 --verify
      referee logs --ladder "Saint Poker" --complete --out saint-poker
    """
    if complete and ladder is None:
        raise click.UsageError("--complete needs --ladder.")
    if bot is not None and ladder is not None:
        raise click.UsageError("Pass either --bot or --ladder, not both.")
    if bot is None and ladder is None and finished_since is None:
        raise click.UsageError("Pass --bot, --ladder or --since.")
    given = {"finished_since": finished_since, "finished_before": finished_before}
    span = {name: value for name, value in given.items() if value is not None}
    if bot is not None:
        source = _named_source(remote.api, "bots", lookup.bot_id(remote.api, bot), span)
    elif ladder is not None:
        source = _named_source(remote.api, "ladders", lookup.ladder_id(remote.api, ladder), span)
        if complete:
            options["out"] = _save_results(remote.api, source, options["out"])
    else:
        source = LogSource("/matches", f"matches since {finished_since}", span)
    download_logs(remote, source, **options)


@tournament_command("logs", example="--out cup.ndjson.gz --verify")
@download_options
def tournament_logs(remote: Remote, tournament_id: str, **options: Any) -> None:
    """Download the logs of a tournament.

    All available logs are written to one gzip file of JSON lines. If the file exists, for example after an
    interruption, the download continues at its end. With --verify the exit status is 1 if any log fails.
    """
    tournament = remote.api.get(f"/tournaments/{tournament_id}")
    download_logs(remote, LogSource(f"/tournaments/{tournament['id']}", tournament["name"]), **options)


def _named_source(api: Api, kind: str, id: str, span: Mapping[str, str]) -> LogSource:
    return LogSource(f"/{kind}/{id}", api.get(f"/{kind}/{id}")["name"], span)


def _save_results(api: Api, source: LogSource, folder: Path | None) -> Path:
    """Write the results of a ladder and the keys of the service to a directory, and return it."""
    folder = folder or Path(file_name(source.title))
    folder.mkdir(parents=True, exist_ok=True)
    for name, path in (("results.csv", f"/api/v1{source.path}/results.csv"), ("keys.json", "/api/v1/keys")):
        (folder / name).write_bytes(api.fetch(path))
        click.echo(f"{folder / name}: {(folder / name).stat().st_size} bytes", err=True)
    return folder
