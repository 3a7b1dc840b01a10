"""Add ``--open`` to commands that show something that has a page, and open that page in the browser."""

import os
import tempfile
import webbrowser
from pathlib import Path

import click

from referee.cli.options import Command
from referee.cli.plain_text import note


def open_option(command: Command) -> Command:
    """Add ``--open``, passed as ``opens``."""
    return click.option(
        "--open", "opens", is_flag=True, help="Also open the page in the browser, and print its URL on standard error."
    )(command)


def open_page(url: str) -> None:
    """Print the URL on standard error and open it in the browser, or say that there is no browser.

    The environment variable BROWSER selects the browser.
    """
    note(url)
    if not webbrowser.open(url):
        note("No browser can be started here. Open this URL yourself, or name a browser in $BROWSER.")


def temporary_page() -> Path:
    """Create an empty HTML file that stays until the system cleans its temporary files, and return its path."""
    handle, name = tempfile.mkstemp(prefix="referee-", suffix=".html")
    os.close(handle)
    return Path(name)
