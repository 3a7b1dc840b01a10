"""Implement `referee bots`, which lists the user's bots, shows one and moves it to another URL."""

import sys
from typing import Any

import click

from referee.bots.states import BotState
from referee.cli.bot_check import PLAY, format_report, wait_for_check
from referee.cli.plain_text import note, quote_argument
from referee.cli.service import lookup
from referee.cli.service.remote import Remote, service_command
from referee.labels import state_label
from referee.match.canonical import Json


@service_command("list")
@click.option("--retired", is_flag=True, help="List retired bots, too.")
def list_bots(remote: Remote, retired: bool) -> None:
    """List your bots with their states, certificates, ladders and ratings.

    \b
    Example:
      referee bots list
    """
    shown = [bot for bot in lookup.list_own_bots(remote.api) if retired or bot["status"] != BotState.RETIRED]
    items = [_load(remote, bot["id"]) for bot in shown]
    none = "You have no bots on this service. `referee register --start FILE --name NAME` registers one."
    remote.show({"items": items}, "\n\n".join(map(format_bot, items)) or none)


@service_command()
@click.argument("bot", metavar="BOT")
def show(remote: Remote, bot: str) -> None:
    """Show one of your bots, as in the list.

    \b
    Example:
      referee bots show "My bot"
    """
    found = _load(remote, lookup.own_bot(remote.api, bot)["id"])
    remote.show(found, format_bot(found))


@service_command()
@click.argument("bot", metavar="BOT")
@click.argument("address", metavar="URL")
@click.option("--no-check", is_flag=True, help="Do not wait for the check of the bot at its new URL.")
def move(remote: Remote, bot: str, address: str, no_check: bool) -> None:
    """Change the URL of a bot, and have the bot checked there.

    The bot keeps its name, secret, ratings and matches. It gets no new matches until it has proved at the new URL that
    it knows its secret. The exit status is 1 if the check fails.

    \b
    Example:
      referee bots move "My bot" http://127.0.0.1:9001
    """
    own = lookup.own_bot(remote.api, bot)
    moved = remote.api.patch(f"/bots/{own['id']}", {"url": address})
    note(f"{moved['name']} moved from {own.get('url')} to {moved['url']}")
    if no_check:
        remote.show(moved, f"{moved['id']} ({moved['name']}) is {state_label(moved['status'])}")
        return
    checked = wait_for_check(remote, moved)
    remote.show(checked, format_report(checked))
    if not checked["certificate"]:
        sys.exit(1)


def _load(remote: Remote, bot_id: str) -> Json:
    """Return the bot as its owner sees it, with its play on official ladders as ``ladder_play``."""
    return {**remote.api.get(f"/bots/{bot_id}"), "ladder_play": remote.api.get(f"/bots/{bot_id}/ladders")}


def format_bot(bot: Json) -> str:
    """Return a bot as lines of text: its state, URL, certified games and ladders."""
    reason = f" ({bot['status_reason']})" if bot.get("status_reason") else ""
    version = f", version {bot['version']}" if bot["version"] else ""
    if bot["deleted_at"]:
        return f"{bot['name']} ({bot['id']}): deleted{version}"
    lines = [
        f"{bot['name']} ({bot['id']}): {state_label(bot['status'])}{reason}{version}",
        f"  url        {bot['url']}",
    ]
    check_again = f"referee register {quote_argument(bot['url'])} --name {quote_argument(bot['name'])}"
    lines.append(f"  certified  {', '.join(bot['certified']) or f'for no game: {check_again} has it checked'}")
    return "\n".join([*lines, f"  ladders    {_ladders(bot)}"])


def _ladders(bot: Json) -> str:
    play = bot["ladder_play"]
    ratings: dict[str, Any] = {rating["ladder"]: rating for rating in bot["ratings"]}
    active = [ladder for ladder in play["ladders"] if ladder["active"]]
    if not active:
        return PLAY[play["play"]] + ("" if bot["certified"] else ", once it is certified")
    return ", ".join(_ladder(ladder["name"], ratings.get(ladder["ladder"])) for ladder in active)


def _ladder(name: str, rating: Json | None) -> str:
    if rating is None:
        return f"{name} (no rated match yet)"
    return f"{name} {rating['rating']} ({rating['games']} {'game' if rating['games'] == 1 else 'games'})"
