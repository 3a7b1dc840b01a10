"""Implement `referee register`, which registers a bot, waits for its check, and plays it against house bots."""

import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import click

from referee.bots.states import BotState
from referee.cli.bot_check import PLAY, format_immediate_matches, format_report, wait_for_check
from referee.cli.check_report import save_requests
from referee.cli.hosting import Program, host_registered, keep_running
from referee.cli.options import FILE, FOLDER, PATH, PORT
from referee.cli.plain_text import note, quote_argument
from referee.cli.problem_report import format_faults
from referee.cli.service.api_client import ApiRefusal
from referee.cli.service.lookup import list_own_bots
from referee.cli.service.remote import Remote, RequestRefused, error_sentence, service_command
from referee.cli.watch import follow_match, result, tell_time_limit
from referee.errors import RefereeError
from referee.local.problems import Problems
from referee.match.canonical import Json
from referee.match.log import parse_row
from referee.matches.states import MatchState
from referee.protocol.fault_advice import SET_UP_SIGNING

UNREACHABLE_FAULTS: Final = ("egress_denied", "dns_failed", "unreachable", "deadline")
CHOICES: Final = """\
The service calls your bot, so it must be able to reach it. Without a public address you can
- play here, without a service: referee play GAME URL house:3, referee check URL, referee tournament local;
- register an address on a private network that the service calls, if its operator named some;
- open a tunnel that gives the bot a public https address, and register that address;
- run your own service: REFEREE_EGRESS_ALLOW=127.0.0.1/32:1024-65535 referee up, then --url http://127.0.0.1:8000."""


@service_command()
@click.argument("address", metavar="[URL]", required=False)
@click.option("--name", metavar="NAME", required=True, help="Name under which the bot is listed.")
@click.option(
    "--start",
    type=PATH,
    metavar="FILE",
    help="Start the bot's program, as `referee play` does, and keep it running until Ctrl-C.",
)
@click.option(
    "--port", type=PORT, help="Port that the program gets. [default: that of the URL, else 9000 or a free one]"
)
@click.option(
    "--secret-file",
    type=FILE,
    help="Write the secret to this new file, which only you can read; starter bots read secret.txt in their folder. "
    "With --start, it is by default secret.txt beside the program.",
)
@click.option(
    "--practice", "games", multiple=True, metavar="GAME", help="Play an unrated match against house bots. Repeatable."
)
@click.option("--save", type=FOLDER, help="Write the request behind each finding to a shell script in DIR.")
@click.option(
    "--no-check",
    is_flag=True,
    help="Register the bot without a check. To have it checked later, run the command again without this option.",
)
@click.option("--summary", metavar="TEXT", help="Say in public what the bot is, in one sentence. Empty to remove it.")
@click.option("--language", metavar="TEXT", help="Say in which language it is written. Empty to remove it.")
@click.option("--link", metavar="URL", help="Show this link beside the bot. Empty to remove it.")
def register(
    remote: Remote,
    address: str | None,
    name: str,
    start: Path | None,
    port: int | None,
    secret_file: Path | None,
    games: tuple[str, ...],
    save: Path | None,
    no_check: bool,
    **profile: str | None,
) -> None:
    """Register the bot at URL, have it checked, and practise.

    With --start, the command runs the bot's program itself: it registers the bot once the program answers, gives it the
    secret and keeps it running. Without a URL it registers the program's address on this machine, which only a service
    on this machine can call. With the URL of an address that this machine has on a network, the program gets its port
    and listens on all addresses. Run the same command to start the bot again; if it was paused, it is resumed.

    The secret is shown once. A bot that reads it from the --secret-file (starter bots, the SDK, `referee house`) may
    already be running; restart any other bot with the secret. To have a bot that you own checked again, or to change
    what is said about it, run the same command. To change its URL, use `referee bots move`. A program that changed
    under the same version is reported. The exit status is 1 if the check fails or no game is certified, and 3 if the
    program ends.

    \b
    Examples, if the folder mybot contains a starter bot, which in the second
    is running and reachable at this URL:
      referee register --start mybot --name "My bot"
      referee register https://bots.example.org/mine --name "My bot" \\
          --secret-file mybot/secret.txt --practice pool-nap
    """
    if no_check and (games or start):
        raise click.UsageError("--no-check cannot be combined with --practice or --start, which need a checked bot.")
    given = {field: text or None for field, text in profile.items() if text is not None}
    bot = _find_own_bot(remote, name)
    if start is not None:
        program = Program.find(start, secret_file, port)
        new_bot = partial(_register_bot, remote, {"name": name, **given})
        with host_registered(program, address, bot, new_bot) as (bot, running):
            _refuse_other_address(bot, address)
            _update_profile(remote, bot, given)
            bot = _check_and_practise(remote, bot, games, save)
            program.compare_with_checked(bot["certificate"]["version"])
            status = keep_running(running, name, bot["url"])
        raise SystemExit(status)
    if address is None:
        raise click.UsageError("Pass the URL of the bot, or --start FILE to start its program here.")
    if bot is None:
        bot, _ = _register_bot(remote, {"name": name, **given}, address, secret_file, waits=not no_check)
    else:
        _refuse_other_address(bot, address)
        bot = _update_profile(remote, bot, given)
    if no_check:
        remote.show(bot, f"{bot['id']} ({bot['name']}) is {bot['status']}: start it, then run this without --no-check")
        return
    _check_and_practise(remote, bot, games, save)


def _check_and_practise(remote: Remote, bot: Json, games: tuple[str, ...], save: Path | None) -> Json:
    """Have the bot checked, play a practice match of each game, print the results, and return the bot.

    Exit with status 1 if the bot gets no certificate.
    """
    if bot["status"] == BotState.PAUSED:
        note(f"its pause ends ({bot['status_reason']})")
        bot = remote.api.post(f"/bots/{bot['id']}/resume")
    bot = wait_for_check(remote, bot)
    if save:
        report = bot["check"]["report"] or {}
        save_requests(((finding["id"], finding["curl"]) for finding in report.get("findings", ())), save)
    if bot["status"] != BotState.VERIFIED:
        challenge = (bot["handshake"]["report"] or {}).get("challenge", {})
        remote.show(bot, _format_end(remote, bot, CHOICES if challenge.get("code") in UNREACHABLE_FAULTS else ""))
        raise SystemExit(1)
    ladders = remote.api.get(f"/bots/{bot['id']}/ladders")
    played = [_play_practice_match(remote, bot, game) for game in games]
    practice = [_format_practice(remote, bot, match, problems) for match, problems in played]
    matches = [{**match, "faults": problems.faults, "retired": bool(problems.retired)} for match, problems in played]
    text = "\n\n".join([*practice, _format_end(remote, bot, *_next(bot, ladders))])
    remote.show({**bot, "practice": matches}, text)
    if not bot["certificate"]:
        raise SystemExit(1)
    return bot


def _format_end(remote: Remote, bot: Json, *further: str) -> str:
    """Return the report of the check, which ends with its verdict and with the URL of the bot's page."""
    return "\n".join([format_report(bot, *filter(None, further)), remote.page(f"bots/{bot['id']}")])


def _next(bot: Json, ladders: Json) -> Iterator[str]:
    """Yield lines about what follows the check: rated matches, or how to find out what to mend."""
    if bot["certificate"]:
        shows = f"referee bots show {quote_argument(bot['name'])} shows which, its page also its next matches"
        yield f"  {PLAY[ladders['play']]}: {shows}"
        yield f"  {format_immediate_matches(ladders)}"
    else:
        yield "  no rating before it passes its check; --save DIR writes the requests behind the findings to scripts"


def _format_practice(remote: Remote, bot: Json, match: Json, problems: Problems) -> str:
    """Return the result of a practice match, with the faults of the bot."""
    faults, page = format_faults(bot["name"], problems), remote.page(f"matches/{match['id']}")
    return result(match) + (f"\n{faults}\n  more: {page}" if faults else "")


def _find_own_bot(remote: Remote, name: str) -> Json | None:
    """Return the caller's bot with this name, or None if there is no such bot or it is retired."""
    found = next((bot for bot in list_own_bots(remote.api) if bot["name"].casefold() == name.casefold()), None)
    if found is None or found["status"] == BotState.RETIRED:
        return None
    bot: Json = remote.api.get(f"/bots/{found['id']}")
    note(f"{bot['id']} is already registered to you; it is not registered again")
    return bot


def _refuse_other_address(bot: Json, address: str | None) -> None:
    """Raise ``RequestRefused`` if the bot is registered at another URL."""
    if address is not None and bot["url"].rstrip("/") != address.rstrip("/"):
        raise RequestRefused(
            f"Your bot {bot['name']!r} is already registered at {bot['url']}. Pass that URL or another --name, or move "
            f"the bot: referee bots move {quote_argument(bot['name'])} {quote_argument(address)}"
        )


def _update_profile(remote: Remote, bot: Json, given: Json) -> Json:
    """Change what is said about the bot, if it differs, and return the bot."""
    changes = {field: text for field, text in given.items() if bot[field] != text}
    if not changes:
        return bot
    note(f"what is said about it was changed: {', '.join(changes)}")
    return dict(remote.api.patch(f"/bots/{bot['id']}", changes))


def _register_bot(
    remote: Remote, new_bot: Json, address: str, secret_file: Path | None, *, waits: bool = False
) -> tuple[Json, str]:
    """Register a bot, write or show its secret, and return both."""
    if secret_file is not None and secret_file.exists():
        raise click.UsageError(
            f"{secret_file} already exists, and a secret in it would be lost. Pass another --secret-file."
        )
    try:
        bot: Json = remote.api.post("/bots", {**new_bot, "url": address})
    except ApiRefusal as error:
        if any(field == "url" for field, _ in error.fields):
            raise RequestRefused(f"{error_sentence(error)}\n{CHOICES}") from error
        raise
    secret = bot.pop("secret")
    if secret_file is None:
        note(
            f"{bot['id']} is registered. Its secret, shown only once: {secret}\n"
            f"To give it to the bot, {SET_UP_SIGNING}."
        )
    else:
        _write(secret_file, secret)
        note(f"{bot['id']} is registered. Its secret is in {secret_file}.")
    if waits and sys.stdin.isatty() and not remote.as_json:
        click.pause("Make sure that the bot is running and knows the secret, then press a key …", err=True)
    return bot, secret


def _write(file: Path, secret: str) -> None:
    """Write the secret to a new file, or print it if that fails, so that it is not lost."""
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
            opened.write(f"{secret}\n")
    except OSError as error:
        note(f"{file} cannot be written ({error.strerror}); the secret, shown only once: {secret}")


def _play_practice_match(remote: Remote, bot: Json, game: str) -> tuple[Json, Problems]:
    """Play an unrated match with the smallest number of seats against house bots.

    Return the match and the problems of the bot. Raise ``RequestRefused`` for an unknown game and ``RefereeError`` if
    there are too few house bots.
    """
    known = {listed["name"]: listed for listed in remote.api.items("/games")}
    if game not in known:
        raise RequestRefused(f"--practice: unknown game {game!r}; available: {', '.join(known)}")
    house = list(remote.api.items("/bots?status=house"))
    house.sort(key=lambda bot: "Sound" not in bot["name"])  # the usual opponent first
    seats = known[game]["seats"]["minimum"]
    if len(house) < seats - 1:
        raise RefereeError("This service has no house bots yet. Run the command again in a moment.")
    seated = [bot["id"], *(opponent["id"] for opponent in house[: seats - 1])]
    match = remote.api.post("/matches", {"game": game, "bots": seated, "rated": False})
    note(f"{match['id']} is arranged; {tell_time_limit(match)}")
    match = follow_match(remote, match["id"])
    return match, _find_problems(remote, match, bot["id"])


def _find_problems(remote: Remote, match: Json, bot_id: str) -> Problems:
    """Return the problems of a bot that the log of a match names. A match that was not finished may have no log."""
    if match["status"] != MatchState.FINISHED:
        return Problems()
    seat = next(seat["seat"] for seat in match["seats"] if seat["bot"] == bot_id)
    return Problems.of_log(map(parse_row, remote.api.fetch(f"/api/v1/matches/{match['id']}/log").splitlines()), seat)
