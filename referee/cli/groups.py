"""Declare the groups of commands that have no package of their own. Their commands are in other modules."""

import click

from referee.cli.lazy_group import LazyGroup

HOUSE = {"Commands": {"serve": ("house", "Serve PLAYER (house:1 … house:4) over HTTP until Ctrl-C.")}}
BOTS = {
    "Commands": {
        "list": ("bots", "List your bots with their states, certificates, ladders and ratings."),
        "move": ("bots", "Change the URL of a bot, and have the bot checked there."),
        "show": ("bots", "Show one of your bots, as in the list."),
    }
}
ADMIN = {
    "Accounts": {
        "create": ("admin", "Create an account and print its first token."),
        "role": ("admin", "Change the role of an account."),
        "token": ("admin", "Print another token for an account."),
    },
    "Database": {
        "upgrade": ("admin", "Create the database or upgrade its schema."),
        "retry": ("admin", "Make a stuck match due again."),
        "audit": ("audit", "Replay all logs, recompute all ratings, and compare them with the database."),
    },
}


class ListByDefault(LazyGroup):
    """Run the subcommand `list` if none is given."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names):
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group(cls=LazyGroup, members=HOUSE)
def house() -> None:
    """Serve house players as bots, or measure how strong they are.

    \b
    house:1  Random  plays any legal action
    house:2  Novice  plays like a beginner
    house:3  Sound   plays by good rules of thumb
    house:4  Search  tries actions in positions that fit what it knows
    """


@click.group(cls=ListByDefault, members=BOTS)
def bots() -> None:
    """List and show your bots, or move one to another URL.

    Pass a BOT by name or id. `referee bots` alone lists them.
    """


@click.group(cls=LazyGroup, members=ADMIN)
def admin() -> None:
    """Operate a service: accounts, stuck matches, the database, backups, keys and the deployment.

    Most of these commands use the data directory of the service, as its operator on this machine. `class` needs the
    token of an operator, and anybody can run `audit --url`.
    """
