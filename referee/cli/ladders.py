"""Implement `referee ladders`, which shows and changes the play of a bot on official ladders."""

import click

from referee.cli.options import Number
from referee.cli.tables import TextTable
from referee.cli.tournament import lookup
from referee.cli.tournament.formatting import clock
from referee.cli.tournament.remote import Remote, service_command
from referee.match.canonical import Json
from referee.pairing.official import VERSION_MATCHES, VERSIONS_A_DAY

TWICE_A_DAY = f"at most {VERSIONS_A_DAY} times in 24 hours"
PLAY = {
    "on": "plays on official ladders",
    "off": "does not play on official ladders",
}


@service_command()
@click.argument("bot", metavar="BOT")
@click.option("--on/--off", "plays", default=None, help="Let the bot play on official ladders, or stop that.")
@click.option("--game", "games", multiple=True, metavar="GAME", help="Play this game only. Repeatable.")
@click.option("--all-games", is_flag=True, help="Play all games of the bot's manifest.")
@click.option("--unlisted", multiple=True, metavar="LADDER", help="Play on this unlisted ladder (its id). Repeatable.")
@click.option("--no-unlisted", is_flag=True, help="Play on no unlisted ladder.")
@click.option(
    "--daily-maximum", type=Number(1, 100_000), help="Play at most this many matches a day on all official ladders."
)
@click.option("--no-daily-maximum", is_flag=True, help="Play as many matches a day as the ladders make.")
def ladders(
    remote: Remote,
    bot: str,
    plays: bool | None,
    games: tuple[str, ...],
    all_games: bool,
    unlisted: tuple[str, ...],
    no_unlisted: bool,
    daily_maximum: int | None,
    no_daily_maximum: bool,
) -> None:
    """Show on which official ladders a bot plays, or change that.

    A bot joins the official ladder of a game when it passes its check, and the unlisted ladders that its owner names.
    The service makes the matches and chooses the opponents. Only the owner of the bot can change anything. For the
    reason why a bot is not playing, use `referee tournament waiting`.

    \b
    Examples:
      referee ladders "My bot"
      referee ladders "My bot" --on --game saint-poker --daily-maximum 20
    """
    if (games and all_games) or (unlisted and no_unlisted) or (daily_maximum is not None and no_daily_maximum):
        raise click.UsageError(
            "Pass --game or --all-games, --unlisted or --no-unlisted, and --daily-maximum or --no-daily-maximum, but "
            "not both."
        )
    changes: Json = {}
    if plays is not None:
        changes["play"] = "on" if plays else "off"
    if games or all_games:
        changes["games"] = list(games) or None
    if unlisted or no_unlisted:
        changes["unlisted"] = list(unlisted)
    if daily_maximum is not None or no_daily_maximum:
        changes["daily_maximum"] = daily_maximum
    path = f"/bots/{lookup.bot_id(remote.api, bot)}/ladders"
    document = remote.api.patch(path, changes) if changes else remote.api.get(path)
    remote.show(document, format_play(bot, document))


def format_play(bot: str, document: Json) -> str:
    """Return the owner's settings in a sentence, and the ladders of the bot as a table."""
    limits = [f"games: {', '.join(document['games'])}"] if document["games"] else []
    limits += [f"unlisted ladders: {', '.join(document['unlisted'])}"] if document["unlisted"] else []
    limits += [f"at most {document['daily_maximum']} matches a day"] if document["daily_maximum"] else []
    head = f"{bot} {PLAY[document['play']]}" + "".join(f"; {limit}" for limit in limits)
    heads = ("ladder", "plays", "matches", "today", "immediate", "next")
    rows = [
        (
            ladder["name"],
            "yes" if ladder["active"] else "no",
            str(ladder["matches"]),
            _format_today(ladder),
            str(ladder["immediate_matches"]),
            clock(ladder["due_at"]) if ladder["due_at"] else "-",
        )
        for ladder in document["ladders"]
    ]
    return f"{head}\n{TextTable(heads, rows, left=('ladder', 'plays', 'next')).plain()}" if rows else head


def format_immediate_matches(document: Json) -> str:
    """Return how many immediate matches the bot has left, as a sentence."""
    counts = {ladder["name"]: ladder["immediate_matches"] for ladder in document["ladders"]}
    left = [f"{count} on {name}" for name, count in counts.items() if count]
    if not left:
        return f"no immediate rated matches are left; a new version gets {VERSION_MATCHES}, {TWICE_A_DAY}"
    return (
        f"immediate rated matches left: {', '.join(left)}; use them with your best bot: later ones are spread over the "
        f"day, and a new version gets {VERSION_MATCHES} more, {TWICE_A_DAY}"
    )


def _format_today(ladder: Json) -> str:
    """Return the matches of today that count towards the pace of the ladder, and the others."""
    extra = f" + {ladder['extra_today']}" if ladder["extra_today"] else ""
    return f"{ladder['matches_today'] - ladder['extra_today']} of {ladder['daily_matches']}{extra}"
