"""Build and try the service in a fork for each argument, without these extras, as in "keys,demo", or without ``all``.

Print the names of the extras and pages that each has, one JSON object a line.
"""

import gc
import importlib
import json
import os
import pkgutil
import sys
import tempfile
from pathlib import Path

import alembic.command  # noqa: F401  # what all forks import, except for what asks for the extras
import click
import flask_smorest  # noqa: F401  # imported before the fork, so that each fork has it

import referee.cli
import workers.scheduler  # noqa: F401  # imported before the fork, so that each fork has it
from referee.cli import main as program

ALL = "all"
PAGES = ("/", "/tournaments", "/ladders", "/account", "/docs")


def leave_out(names: str) -> None:
    if names == ALL:
        sys.modules["referee_extras"] = None  # type: ignore[assignment]  # also if it is installed elsewhere
        return
    listed = importlib.import_module("referee_extras")
    vars(listed)["EXTRAS"] = tuple(each for each in listed.EXTRAS if each not in names.split(","))


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


def report(names: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        leave_out(names)
        found = try_service(Path(folder))
        if names == ALL:
            play_and_verify(Path(folder))
        print(json.dumps({"without": names, **found, "commands": list_commands()}), flush=True)


def main() -> int:
    for module in pkgutil.walk_packages(referee.cli.__path__, "referee.cli."):  # what all forks import
        importlib.import_module(module.name)
    gc.disable()
    failed = 0
    for names in sys.argv[1:]:
        child = os.fork()
        if child == 0:
            report(names)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        failed += status != 0
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
