"""Implement `referee admin doctor`."""

import json
from dataclasses import asdict
from pathlib import Path

import click

import referee.schema  # noqa: F401  # reading needs all tables, because their foreign keys refer to each other
from referee.cli.options import FOLDER, data_option
from referee.cli.plain_text import replace_control_characters
from referee.runtime.service_database import NoDatabase, service_folder, use_data_dir
from referee.settings import environment
from referee_extras.doctor.examination import CHECKS, Options, examine
from referee_extras.doctor.findings import DeploymentFinding, FindingLevel

LABELS = {
    FindingLevel.OK: "ok     ",
    FindingLevel.WARNING: "WARNING",
    FindingLevel.FAILURE: "FAILURE",
    FindingLevel.SKIPPED: "-      ",
}


@click.command()
@data_option
@click.option("--url", metavar="URL", help="Public URL of the service, to check proxy, streams and TLS.")
@click.option("--backups", type=FOLDER, help="Folder of your backups, to check the age of the newest.")
@click.option(
    "--skip",
    "without",
    type=click.Choice(CHECKS),
    metavar="CHECK",
    multiple=True,
    help=f"Leave out a check: {', '.join(CHECKS)}. Repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array of findings instead of text.")
@click.pass_context
def doctor(
    context: click.Context,
    data: Path | None,
    url: str | None,
    backups: Path | None,
    without: tuple[str, ...],
    *,
    as_json: bool,
) -> None:
    """Check a deployment and say what to mend.

    Run it on a host of the service, with the environment of its processes and as the user of its workers. It changes
    nothing. The exit status is 1 if a check fails; warnings do not count.
    """
    if data is not None:
        use_data_dir(data)
    folder = service_folder(None)
    has_key = environment().get("REFEREE_MASTER_KEY") or (folder / "master.key").exists()
    if not has_key and environment().get("REFEREE_ENV") != "production":  # loading the settings would create a key
        raise NoDatabase(
            f"There is no service in {folder}, which has no master key. Pass its data directory with --data."
        )
    findings = []
    for finding in examine(environment(), Options(url, backups, without)):
        findings.append(finding)
        if not as_json:
            click.echo(replace_control_characters(_describe(finding)))
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings]))
    else:
        failures = sum(finding.level == FindingLevel.FAILURE for finding in findings)
        warnings = sum(finding.level == FindingLevel.WARNING for finding in findings)
        click.echo(f"{len(findings)} findings: {failures} failures, {warnings} warnings")
    context.exit(int(any(finding.level == FindingLevel.FAILURE for finding in findings)))


def _describe(finding: DeploymentFinding) -> str:
    advice = f". {finding.advice}" if finding.advice else ""
    return f"{LABELS[finding.level]}  {finding.check}: {finding.found}{advice}"
