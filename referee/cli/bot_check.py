"""Wait for the check of a bot by a service, and format its report and its play on official ladders."""

import time
from typing import Final

from referee.bots.states import CheckState
from referee.cli.check_report import describe_finding
from referee.cli.plain_text import note, quote_argument
from referee.cli.service.api_client import ApiRefusal
from referee.cli.service.remote import Remote
from referee.errors import RefereeError
from referee.match.canonical import Json
from referee.pairing.official import VERSION_MATCHES, VERSIONS_A_DAY
from referee.protocol.fault_advice import ADVICE as FAULT_ADVICE
from referee.protocol.fault_advice import HANDSHAKE_ADVICE

POLL_S: Final = 0.5
CHECK_TIMEOUT_S: Final = 150.0  # the conformance suite alone may take 90 s
RUN_AGAIN: Final = "run the same command again"
ADVICE: Final = {  # by the code in the report
    **{code: advice.remedy for code, advice in FAULT_ADVICE.items()},
    **HANDSHAKE_ADVICE,
    "no_known_game": "list games in the manifest that `referee games` shows",
    "referee_failed": f"not your fault: {RUN_AGAIN}",
}

TWICE_A_DAY: Final = f"at most {VERSIONS_A_DAY} times in 24 hours"
PLAY: Final = {"on": "plays on official ladders", "off": "does not play on official ladders"}


def wait_for_check(remote: Remote, bot: Json) -> Json:
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


def format_report(bot: Json, *further: str) -> str:
    """Return the last handshake and check as text, with replies and advice. It ends with whether the bot is certified.

    Lines in ``further`` come before the last.
    """
    report = bot["handshake"]["report"] or {}
    lines, answered = [], []
    for part, request in (("challenge", "POST /notify with a challenge"), ("manifest", "GET / for the manifest")):
        step = report.get(part)
        if step is None:
            continue
        if step["ok"]:
            answered.append(f"{request}: {step['total_ms']} ms")
            continue
        lines.append(f"  fail  {request}: {step['code']}: {step['detail']}")
        advice = ADVICE.get(step["code"], "look at the answers of your bot with referee check URL")
        lines.append(f"        {advice}" if RUN_AGAIN in advice else f"        {advice}; then {RUN_AGAIN}")
    lines[:0] = [f"  ok    {'; '.join(answered)}"] if answered else []
    if report and not report.get("ok"):
        move = f"referee bots move {quote_argument(bot['name'])} URL"
        lines.append(f"        The service called {bot['url']}. If this is not the address of your bot, run `{move}`.")
    if report.get("ok"):
        lines += _format_check(bot)
    certified = f"certified: {', '.join(bot['certified'])}" if bot["certified"] else bot["status"]
    return "\n".join([*lines, *further, f"{bot['id']} ({bot['name']}) is {certified}"])


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


def _format_check(bot: Json) -> list[str]:
    """Return lines with the findings of the check, worst first, and its result."""
    check, certificate = bot["check"], bot.get("certificate")
    report = check["report"] if check["version"] == bot["version"] else None
    lines = []
    if set(bot["handshake"]["report"]["games"]) != set(bot["certified"]):
        lines.append(f"  plays {', '.join(bot['handshake']['report']['games'])}; version {bot['version']}")
    lines += [] if report is None else _format_findings(report)
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
    failures, warnings = ([each for each in report["findings"] if each["severity"] == of] for of in ("fail", "warn"))
    lines = [f"  {line}" for failure in failures for line in describe_finding(failure)]
    lines += dict.fromkeys(f"  warn  {item.get('cause') or item['id']}: {item['advice']}" for item in warnings)
    if not report.get("calls"):
        return lines
    figures = f"{report['questions']} questions, {report['calls']} calls"
    latency = report["latency"]["total"]
    if latency.get("calls"):
        figures += f"; ms per call: median {latency['p50']:.0f}, 99th percentile {latency['p99']:.0f}"
    return [*lines, f"  checked: {figures}"]
