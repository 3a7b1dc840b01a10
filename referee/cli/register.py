"""Implement `referee register`, which registers a bot, waits for its check, and plays it against house bots."""

import os
import shlex
import sys
import time
from pathlib import Path
from typing import Final

import click

from referee.bots.states import BotState, CheckState
from referee.cli.api_client import ApiRefusal
from referee.cli.ladders import PLAY
from referee.cli.options import FILE
from referee.cli.plain_text import one_line
from referee.cli.tournament.remote import Remote, RequestRefused, error_sentence, service_command
from referee.cli.watch import follow_match, note, result
from referee.errors import RefereeError
from referee.match.canonical import Json
from referee.protocol.fault_advice import ADVICE as FAULT_ADVICE
from referee.protocol.fault_advice import HANDSHAKE_ADVICE, SET_UP_SIGNING

POLL_S: Final = 0.3
CHECK_TIMEOUT_S: Final = 150.0  # the conformance suite alone may take 90 s
MAX_LINE_LENGTH: Final = 2_000  # characters; longer commands are not printed
RUN_AGAIN: Final = "run the same command again"
UNREACHABLE_FAULTS: Final = ("egress_denied", "dns_failed", "unreachable", "deadline")
CHOICES: Final = """\
The service calls your bot, so it must be able to reach it. Without a public address you can
- play here, without a service: referee play GAME URL house:3, referee check URL, referee tournament local;
- open a tunnel that gives the bot a public https address, and register that address;
- run your own service: REFEREE_EGRESS_ALLOW=127.0.0.1/32:1024-65535 referee up, then --url http://127.0.0.1:8000."""
ADVICE: Final = {  # by the code in the report
    **{code: advice.remedy for code, advice in FAULT_ADVICE.items()},
    **HANDSHAKE_ADVICE,
    "no_known_game": "list games in the manifest that `referee games` shows",
    "referee_failed": f"not your fault: {RUN_AGAIN}",
}


@service_command()
@click.argument("address", metavar="URL")
@click.option("--name", metavar="NAME", required=True, help="Name under which the bot is listed.")
@click.option(
    "--secret-file",
    type=FILE,
    help="Write the secret to this new file, which only you can read; starter bots read secret.txt in their folder.",
)
@click.option(
    "--practice", "games", multiple=True, metavar="GAME", help="Play an unrated match against house bots. Repeatable."
)
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
    address: str,
    name: str,
    secret_file: Path | None,
    games: tuple[str, ...],
    no_check: bool,
    **profile: str | None,
) -> None:
    """Register the bot at URL, have it checked, and practise.

    The secret is shown once. A bot that reads it from the --secret-file (starter bots, the SDK, `referee house`) may
    already be running; restart any other bot with the secret. To have a bot that you own checked again, or to change
    what is said about it, run the same command. The exit status is 1 if the check fails or no game is certified.

    \b
    Example, if the folder mybot contains a starter bot that is running and reachable at this URL:
      referee register https://bots.example.org/mine --name "My bot" --secret-file mybot/secret.txt --practice pool-nap
    """
    if no_check and games:
        raise click.UsageError("--practice needs a checked bot and cannot be combined with --no-check.")
    given = {field: text or None for field, text in profile.items() if text is not None}
    bot = _find_own_bot(remote, address, name)
    if bot is None:
        bot = _register_bot(remote, {"name": name, "url": address, **given}, secret_file, waits=not no_check)
    elif given:
        bot = remote.api.patch(f"/bots/{bot['id']}", given)
        note(f"what is said about it was changed: {', '.join(given)}")
    if no_check:
        remote.show(bot, f"{bot['id']} ({bot['name']}) is {bot['status']}: start it, then run this without --no-check")
        return
    bot = _wait_for_check(remote, bot)
    report = bot["handshake"]["report"]
    if bot["status"] != BotState.VERIFIED:
        remote.show(bot, format_report(bot))
        if not remote.as_json and (report or {}).get("challenge", {}).get("code") in UNREACHABLE_FAULTS:
            click.echo(CHOICES)
        raise SystemExit(1)
    ladders = remote.api.get(f"/bots/{bot['id']}/ladders")
    played = [_play_practice_match(remote, bot, game) for game in games]
    report_text = f"{format_report(bot)}\n  {_format_ladders(bot, ladders)}"
    remote.show({**bot, "practice": played}, "\n\n".join([report_text, *map(result, played)]))
    if not bot["certificate"]:
        raise SystemExit(1)


def format_report(bot: Json) -> str:
    """Return the last handshake and check as text, with the requests, the replies and advice."""
    report = bot["handshake"]["report"] or {}
    certified = f"certified: {', '.join(bot['certified'])}" if bot["certified"] else bot["status"]
    lines = [f"{bot['id']} ({bot['name']}) is {certified}"]
    for part, request in (("challenge", "POST /notify with a challenge"), ("manifest", "GET / for the manifest")):
        step = report.get(part)
        if step is None:
            continue
        if step["ok"]:
            lines.append(f"  ok    {request}: {step['total_ms']} ms")
            continue
        lines.append(f"  fail  {request}: {step['code']}: {step['detail']}")
        advice = ADVICE.get(step["code"], "look at the answers of your bot with referee check URL")
        lines.append(f"        {advice}" if RUN_AGAIN in advice else f"        {advice}; then {RUN_AGAIN}")
    if report.get("ok"):
        lines.append(f"  plays {', '.join(report['games'])}; version {bot['version']}")
        lines += _format_check(bot)
    return "\n".join(lines)


def _format_ladders(bot: Json, ladders: Json) -> str:
    if not bot["certificate"]:
        return "no rating before it passes its check"
    return f"{PLAY[ladders['play']]}: referee ladders {shlex.quote(bot['name'])} shows which, and its next matches"


def _format_check(bot: Json) -> list[str]:
    """Return lines with the findings of the check, worst first, and its result."""
    check, certificate = bot["check"], bot.get("certificate")
    report = check["report"] if check["version"] == bot["version"] else None
    lines = [] if report is None else _format_findings(report)
    if certificate:
        games = ", ".join(f"{game} (rules {version})" for game, version in certificate["rules"].items())
        return [
            *lines,
            f"  certificate of {certificate['issued_at'][:10]} for version {certificate['version']}: {games}",
        ]
    if report is None:
        return [f"  no certificate: version {bot['version']} was not checked; {RUN_AGAIN}"]
    if report["verdict"] == "referee_failed":
        return [*lines, f"  no certificate: {report['detail']}: not your fault, {RUN_AGAIN}"]
    similar = f"referee check {bot['url']} --questions 60 --seed {report['seed']} asks similar questions"
    return [*lines, f"  no certificate, so no rated matches; fix the bot, then {RUN_AGAIN}; {similar}"]


def _format_findings(report: Json) -> list[str]:
    lines = [line for finding in report["findings"] if finding["severity"] != "ok" for line in _finding(finding)]
    if not report.get("calls"):
        return lines
    figures = f"{report['questions']} questions, {report['calls']} calls"
    latency = report["latency"]["total"]
    if latency.get("calls"):
        figures += f"; ms per call: median {latency['p50']:.0f}, 99th percentile {latency['p99']:.0f}"
    return [*lines, f"  checked: {figures}"]


def _finding(finding: Json) -> list[str]:
    where = f" ({finding['where']})" if finding["where"] else ""
    times = f", {finding['times']} times" if finding["times"] > 1 else ""
    lines = [
        f"  {finding['severity']:<4}  {finding['id']}{where}: {finding['expected']}",
        f"        came: {finding['fault']}{times}: {one_line(finding['came'])}",
        f"        {finding['advice']}",
    ]
    shown = finding["curl"] and len(finding["curl"]) <= MAX_LINE_LENGTH
    return [*lines, f"        {one_line(finding['curl'])}"] if shown else lines


def _find_own_bot(remote: Remote, address: str, name: str) -> Json | None:
    """Return the caller's bot with this name, or None if there is no such bot or it is retired.

    Raise ``RequestRefused`` if the bot has another URL.
    """
    me = remote.api.get("/accounts/me")["id"]
    own = remote.api.items(f"/bots?owner={me}&limit=100")
    found = next((bot for bot in own if bot["name"].casefold() == name.casefold()), None)
    if found is None or found["status"] == BotState.RETIRED:
        return None
    bot: Json = remote.api.get(f"/bots/{found['id']}")
    if bot["url"].rstrip("/") != address.rstrip("/"):
        raise RequestRefused(
            f"Your bot {bot['name']!r} is already registered at {bot['url']}. Pass that URL or another --name."
        )
    note(f"{bot['id']} is already registered to you; it is not registered again")
    return bot


def _register_bot(remote: Remote, new_bot: Json, secret_file: Path | None, *, waits: bool) -> Json:
    if secret_file is not None and secret_file.exists():
        raise click.UsageError(
            f"{secret_file} already exists, and a secret in it would be lost. Pass another --secret-file."
        )
    try:
        bot: Json = remote.api.post("/bots", new_bot)
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
    return bot


def _write(file: Path, secret: str) -> None:
    """Write the secret to a new file, or print it if that fails, so that it is not lost."""
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
            opened.write(f"{secret}\n")
    except OSError as error:
        note(f"{file} cannot be written ({error.strerror}); the secret, shown only once: {secret}")


def _wait_for_check(remote: Remote, bot: Json) -> Json:
    """Request a check, wait for its end, and return the bot with its ``certificate``, which may be None.

    Raise ``RefereeError`` if the check takes longer than ``CHECK_TIMEOUT_S`` seconds.
    """
    path = f"/bots/{bot['id']}"
    note("the service checks the bot …")
    end = time.monotonic() + CHECK_TIMEOUT_S
    noted = ""
    bot = remote.api.post(f"{path}/check")
    begun_before = bot["handshake"]["state"] == CheckState.RUNNING  # perhaps before the bot knew its secret
    while True:
        bot = remote.api.get(path)
        if begun_before and bot["handshake"]["state"] == CheckState.IDLE:
            begun_before = False
            bot = bot if bot["handshake"]["report"]["ok"] else remote.api.post(f"{path}/check")
        check = bot["check"]
        if bot["handshake"]["state"] == check["state"] == CheckState.IDLE:
            return {**bot, "certificate": _certificate(remote, path)}
        if check["state"] == CheckState.RUNNING and check["current_step"] != noted:
            noted = check["current_step"]
            sent, total = check["questions_sent"], check["questions_total"]
            note(f"the service checks the bot: {sent} of {total} questions, {noted}")
        if time.monotonic() > end:
            pending = "check" if bot["handshake"]["state"] == CheckState.IDLE else "handshake"
            raise RefereeError(f"The {pending} did not end within {CHECK_TIMEOUT_S:.0f} s. To wait again, {RUN_AGAIN}.")
        time.sleep(POLL_S)


def _certificate(remote: Remote, path: str) -> Json | None:
    try:
        return dict(remote.api.get(f"{path}/certificate"))
    except ApiRefusal as error:
        if error.status != 404:
            raise
        return None


def _play_practice_match(remote: Remote, bot: Json, game: str) -> Json:
    """Play an unrated match with the smallest number of seats against house bots, and return the match.

    Raise ``RequestRefused`` for an unknown game and ``RefereeError`` if there are too few house bots.
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
    return follow_match(remote, match["id"])
