"""Build and try the service in a fork for each name given, without this extra or, for ``all``, without their package.

Print the names of the extras and pages that each has, one JSON object a line.
"""

import importlib
import json
import os
import sys
import tempfile
from pathlib import Path

import alembic.command  # noqa: F401  # what all forks import
import click
import flask_smorest  # noqa: F401

import referee.schema  # noqa: F401
from referee.cli import main as program

ALL = "all"
PAGES = ("/", "/tournaments", "/bots", "/ladders", "/matches", "/organise", "/account", "/docs")


def leave_out(name: str) -> None:
    if name == ALL:
        sys.modules["referee_extras"] = None  # type: ignore[assignment]  # also if it is installed elsewhere
        return
    listed = importlib.import_module("referee_extras")
    vars(listed)["EXTRAS"] = tuple(each for each in listed.EXTRAS if each != name)


def try_service(folder: Path) -> dict[str, object]:
    """Create the schema and the application, ask for pages and for the document, and build all commands."""
    from api import openapi
    from api.app import create_app
    from referee.db.engine import Database
    from referee.db.revisions import check
    from referee.db.upgrading import upgrade
    from referee.plugs import extras

    settings = openapi.example_settings(folder)
    database = Database(settings.database_url)
    upgrade(database)
    check(database)
    database.dispose()
    app = create_app(settings)
    client = app.test_client()
    paths = list(app.extensions["referee.document"]()["paths"])
    statuses = {page: client.get(page).status_code for page in PAGES}
    app.extensions["referee.database"].dispose()
    return {"extras": [extra.name for extra in extras()], "paths": paths, "statuses": statuses}


def play_and_verify(folder: Path) -> None:
    log = str(folder / "match.ndjson")
    played = ["play", "saint-poker", "house:1", "house:2", "--seed", "1", "--log", log, "--quiet"]
    for arguments in (played, ["verify", log]):
        try:
            program.main(arguments)
        except SystemExit as ended:
            if ended.code:
                raise


def list_commands(group: click.Group = program, path: str = "main") -> list[str]:
    """Return the paths of all commands, after they were imported."""
    found = []
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        found += [f"{path} {name}"]
        found += list_commands(command, f"{path} {name}") if isinstance(command, click.Group) else []
    return found


def report(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        leave_out(name)
        found = try_service(Path(folder))
        if name == ALL:
            play_and_verify(Path(folder))
        print(json.dumps({"without": name, **found, "commands": list_commands()}), flush=True)


def main() -> int:
    failed = 0
    for name in sys.argv[1:]:
        child = os.fork()
        if child == 0:
            report(name)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        failed += status != 0
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
