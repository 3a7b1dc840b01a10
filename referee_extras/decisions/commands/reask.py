"""Implement `referee reask`, which asks a bot a recorded question again and compares the answers."""

import asyncio
import json
import sys
from dataclasses import asdict
from typing import Any

import click

from referee.botclient.client import BotCaller, BotSeat, CallTarget
from referee.botclient.reply import Reply
from referee.cli import problem_report
from referee.cli.options import NO_LIMITS, Number, no_limits_option, secret_option, usage_errors
from referee.cli.plain_text import note, one_line, replace_control_characters
from referee.cli.service.remote import Remote, service_command
from referee.cli.tables import TextTable
from referee.errors import IllegalAction
from referee.house.players import is_house
from referee.local import bot_files, matches
from referee.local.matches import LOCAL_POLICY
from referee.match import replay
from referee.match.canonical import Json
from referee.match.log import AnswerSource
from referee.match.match import FAULTS, Answer, Match, Request
from referee_extras.decisions.commands.recorded_match import RecordedDecision, RecordedMatch, decision_argument


@service_command()
@click.argument("log", metavar="LOG|MATCH")
@decision_argument
@click.argument("bot", metavar="[URL|FILE]", required=False)
@click.option("--seat", type=Number(1, 99), help="Seat to ask, counted from 1, if several seats choose simultaneously.")
@no_limits_option
@secret_option("Secret that signs the question.")
def reask(
    remote: Remote,
    log: str,
    decision: RecordedDecision,
    bot: str | None,
    seat: int | None,
    no_time_limits: bool,
    secret: str | None,
) -> None:
    """Ask a bot a question from a match again, and compare the answers.

    LOG is a log file, as for `referee verify`; MATCH is the id of a match of the service. DECISION is the number n of
    the decision in the log, or the id of the question. URL is the address of the bot; FILE is a bot that is started for
    this question. Without either, the service is asked for the URL, which it shows only to the owner.

    The question is the same as in the match; only the players differ if the tournament was anonymous, since the log
    names them, and its time with --no-time-limits. An error that the bot reports in its answer is shown, and so is the
    related output of a FILE. The exit status is 1 if the answer would be a fault.
    """
    recorded = RecordedMatch.read(remote, log)
    with usage_errors():
        n, seat_of_id = recorded.locate(decision)
        match = recorded.replay_to(n)
        request = replay.find_request(match, seat_of_id if seat is None else seat - 1)
    if no_time_limits:
        request = request._replace(time=request.time | asdict(NO_LIMITS))
    url = bot or _url_of(remote, recorded.header["players"][request.seat]["bot"])
    if is_house(url):
        raise click.UsageError(f"{url} is a house player. Pass the URL or the file of a bot.")
    asked, now, output = _ask_bot(match, request, url, (secret,) if secret else ())
    row = recorded.answer(n, request.seat)
    then = {name: row.get(name) for name in ("action", "source", "ms", "note")} | {"fault": row.get("fault", "")}
    same = not now["fault"] and now["action"] == then["action"]
    document = {"match": match.header["match"], "n": n, "seat": request.seat} | asked
    document |= {"then": then, "now": now, "same": same}
    remote.show(document, _text(request, then, now, same=same))
    if output:
        click.echo(f"\n{replace_control_characters(output)}", err=True)
    sys.exit(1 if now["fault"] else 0)


def _url_of(remote: Remote, bot_id: str) -> str:
    if not bot_id.startswith("bot_"):
        raise click.UsageError("The log does not contain the id of a bot. Pass the bot's URL.")
    found = remote.api.get(f"/bots/{bot_id}").get("url")
    if not found:
        raise click.UsageError("Pass the bot's URL, because the service shows it only to the owner of the bot.")
    return str(found)


def _ask_bot(match: Match, request: Request, bot: str, secrets: tuple[str, ...]) -> tuple[Json, Json, str]:
    """Ask the bot at a URL, or start the bot in a file and ask it.

    Return an object with the URL and the question, an object with the answer, and the relevant output of a started bot.
    """
    with usage_errors():
        (entrant,) = matches.parse_entrants([bot])
        with bot_files.run_bots([entrant], secrets, note) as running:
            asked, now = asyncio.run(_ask_url(match, request, running.entrants[0].address, running.secrets))
            failed = bool(now["fault"] or now["error"])
            outputs = [problem_report.output_of(entrant.name, process, failed=failed) for process in running.processes]
            return asked, now, "\n".join(outputs)


async def _ask_url(match: Match, request: Request, url: str, secrets: tuple[str, ...]) -> tuple[Json, Json]:
    target = CallTarget(match.header["players"][request.seat]["bot"], url, secrets)
    seat = BotSeat(BotCaller(target, LOCAL_POLICY), match.header, request.seat)
    try:
        answer = await seat.ask(request)
    finally:
        seat.close()
    assert seat.last is not None, "it was just asked"
    body, reply = seat.last
    now = _judge_answer(match, request, answer, reply) | {"error": seat.error}
    return {"bot": url, "question": json.loads(body)}, now


def _judge_answer(match: Match, request: Request, answer: Answer, reply: Reply) -> Json:
    """Return the new answer with the action or fault that the match would record."""
    fault, detail, action = answer.trouble, reply.detail, answer.action
    if not fault and answer.choice is not None:
        action = request.legal_actions[answer.choice]  # the client has checked that it is within bounds
    if not fault:
        try:
            action = match.state.validate_action(request.seat, action)
        except IllegalAction as error:
            fault, detail = "illegal_action", str(error)
    timing = reply.timing._asdict()
    return {"action": action, "fault": fault, "detail": detail, "ms": reply.ms, "timing": timing, "note": answer.note}


def _text(request: Request, then: Json, now: Json, *, same: bool) -> str:
    heads = ("", "then", "now")
    rows: list[tuple[str, ...]] = [("answer", _format_answer(then), _format_answer(now))]
    rows.append(("accepted", *("no" if answer["fault"] else "yes" for answer in (then, now))))
    rows.append(("time", f"{then['ms']} ms", f"{now['ms']} ms of {request.deadline_ms} ms"))
    if then.get("note") or now["note"]:
        rows.append(
            ("note", replace_control_characters(str(then.get("note") or "")), replace_control_characters(now["note"]))
        )
    if now["error"]:
        rows.append(("error", "", one_line(now["error"])))
    table = TextTable(heads, rows, left=heads).plain()
    phase = request.observation["phase"]
    text = f"decision {request.n}, seat {request.seat + 1}, phase {phase}, {len(request.legal_actions)} legal actions"
    text += f"\n{table}\n"
    if now["fault"]:
        return f"{text}fault: {FAULTS[now['fault']]} ({replace_control_characters(now['detail'])})"
    if now["error"]:
        text += "the bot's own code failed, and it played the default action: "
    return text + ("the same answer" if same else "another answer")


def _format_answer(answer: Json) -> str:
    action: Any = answer["action"]
    text = "-" if action is None else json.dumps(action, sort_keys=True)
    if answer["fault"]:
        text = answer["fault"] + ("; default " if answer.get("source") == AnswerSource.DEFAULT else ": ") + text
    return replace_control_characters(text)
