"""Implement `referee house serve`, which serves a house player over HTTP."""

import errno
from pathlib import Path

import click

from referee.cli.options import FILE, PORT, Number, games_option, secret_option
from referee.house import server as served
from referee.house.players import NoSuchHousePlayer, find_player


@click.command()
@click.argument("player", metavar="PLAYER")
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", help="Address to serve on.")
@click.option("--port", type=PORT, default=9000, help="Port to serve on; 0 picks a free port.")
@secret_option("Secret of the bot, as shown when it was registered.")
@click.option(
    "--secret-file",
    type=FILE,
    help="Read the secret from this file at each call, so that `referee register --secret-file` can write it later.",
)
@games_option("Game to list in the manifest of the bot. Repeatable. [default: all]")
@click.option(
    "--latency-ms",
    type=Number(0, 60_000, unit="ms"),
    default=0,
    show_default=False,
    help="Delay of every answer, in milliseconds. [default: none]",
)
@click.option("--seed", metavar="TEXT", help="Any text; the same seed gives the same decisions. [default: random]")
def serve(
    player: str,
    host: str,
    port: int,
    secret: str | None,
    secret_file: Path | None,
    games: tuple[str, ...],
    latency_ms: int,
    seed: str | None,
) -> None:
    """Serve PLAYER (house:1 … house:4) over HTTP until Ctrl-C.

    Without a secret, the bot can play but cannot pass the challenge at registration. --secret (or $REFEREE_BOT_SECRET)
    takes precedence over --secret-file.
    """
    try:
        address = find_player(player).address()
        starting = served.serve(
            *(address, host, port, secret), secret_file=secret_file, latency_ms=latency_ms, games=games, seed=seed
        )
        served.run(starting, lambda url: click.echo(f"{address} plays at {url}"))
    except NoSuchHousePlayer as error:
        raise click.UsageError(str(error)) from error
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise click.UsageError(
                f"Port {port} is in use on {host}; pass another --port, or 0 for any free port."
            ) from error
        raise click.ClickException(f"Cannot serve on {host} port {port}: {error.strerror or error}") from error
