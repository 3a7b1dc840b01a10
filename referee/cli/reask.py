"""`referee reask`: a recorded question, put to a bot as it is now."""

import asyncio
import json
import sys
from dataclasses import asdict
from typing import Any

import click

from referee import recall
from referee.bots.aliases import aliases
from referee.bots.client import BotCaller, BotSeat, Reply, Target
from referee.canonical import Json
from referee.cli import bot_files, local
from referee.cli.house import checked_secret
from referee.cli.local import HOUSE, LOCAL_POLICY
from referee.cli.recalled import Decision, Recorded
from referee.cli.tables import columns
from referee.cli.tournament.remote import Remote, asks_service, plain
from referee.errors import BadOption, IllegalAction, UrlRefused
from referee.match import FAULTS, Answer, Match, Request


@click.command()
@click.argument("log", metavar="LOG|MATCH")
@click.argument("decision", type=Decision())
@click.argument("bot", metavar="[URL|FILE]", required=False)
@click.option("--seat", type=click.IntRange(0, 99), help="Who is asked, where several choose at once.")
@click.option(
    "--secret", envvar="REFEREE_BOT_SECRET", callback=checked_secret, help="whsec_…: sign the question with it."
)
@asks_service
def reask(
    remote: Remote,
    log: str,
    decision: tuple[int, int | None],
    bot: str | None,
    seat: int | None,
    secret: str | None,
) -> None:
    """Ask a bot again what was asked in a match, and compare.

    LOG is a file as `referee verify` takes it, MATCH the id of a match of the service. DECISION is the number n
    of the decision in the log, or the id of the question. URL is the bot's, or a FILE that is started for this;
    without one the service is asked for the URL, which tells owners alone.

    Observation, legal actions, news, default and time are those of the match; only the players' ids may differ,
    which no log holds. The exit status is 1 when the answer would be a fault.
    """
    n, seat_of_id = decision
    recorded = Recorded.read(remote, log)
    try:
        match = recorded.at(n)
        request = recall.question(match, seat_of_id if seat is None else seat)
    except BadOption as error:
        raise click.UsageError(str(error)) from error
    url = bot or _url_of(remote, recorded.header["players"][request.seat]["bot"])
    if url.startswith(HOUSE):
        raise click.UsageError(f"{url} is asked in play; give a bot's URL or file")
    url, question, answer, reply = _put(recorded.header, request, url, (secret,) if secret else ())
    then = recorded.answer(n, request.seat)
    now = _judged(match, request, answer, reply)
    document = {"match": match.header["match"], "n": n, "seat": request.seat, "bot": url, "question": question}
    same = not now["fault"] and now["action"] == then["action"]
    remote.tell(document | {"then": _then(then), "now": now, "same": same}, _text(request, _then(then), now, same=same))
    sys.exit(1 if now["fault"] else 0)


def _url_of(remote: Remote, bot_id: str) -> str:
    if not bot_id.startswith("bot_"):
        raise click.UsageError("give the bot's URL")
    found = remote.api.get(f"/bots/{bot_id}").get("url")
    if not found:
        raise click.UsageError("give the bot's URL: the service tells it to its owner alone")
    return str(found)


def _put(header: Json, request: Request, bot: str, secrets: tuple[str, ...]) -> tuple[str, Json, Answer, Reply]:
    """Asks the bot at a URL, or in a file that is started for this: its URL, the question as it went out, what came."""
    try:
        (entrant,) = local.entrants([bot])
        with bot_files.started([entrant], secrets) as running:
            url = running.entrants[0].address
            return url, *asyncio.run(_asked(header, request, url, running.secrets))
    except local.NoSuchPlayer as error:
        raise click.UsageError(str(error)) from error
    except UrlRefused as error:
        raise click.UsageError(error.reason) from error


async def _asked(header: Json, request: Request, url: str, secrets: tuple[str, ...]) -> tuple[Json, Answer, Reply]:
    """The question as it went out, and what came back."""
    players = [player["bot"] for player in header["players"]]
    target = Target(players[request.seat], url, secrets)
    seat = BotSeat(BotCaller(target, LOCAL_POLICY), header, request.seat, ids=aliases(b"", "referee play", players))
    try:
        answer = await seat.ask(request)
    finally:
        seat.close()
    assert seat.last is not None, "it was just asked"
    body, reply = seat.last
    return json.loads(body), answer, reply


def _then(row: Json) -> Json:
    kept = {name: row.get(name) for name in ("action", "source", "ms", "note")}
    return kept | {"fault": row.get("fault", "")}


def _judged(match: Match, request: Request, answer: Answer, reply: Reply) -> Json:
    """The new answer as the match would take it."""
    fault, detail, action = answer.trouble, reply.detail, answer.action
    if not fault and answer.choice is not None:
        action = request.legal[answer.choice]  # the wire has checked its bounds
    if not fault:
        try:
            action = match.state.checked(request.seat, action)
        except IllegalAction as error:
            fault, detail = "illegal_action", str(error)
    return {
        "action": action,
        "fault": fault,
        "detail": detail,
        "ms": reply.ms,
        "timing": asdict(reply.timing),
        "note": answer.note,
    }


def _text(request: Request, then: Json, now: Json, *, same: bool) -> str:
    rows: list[tuple[str, ...]] = [("", "then", "now"), ("answer", _shown(then), _shown(now))]
    rows.append(("legal", *("no" if one["fault"] else "yes" for one in (then, now))))
    rows.append(("time", f"{then['ms']} ms", f"{now['ms']} ms of {request.deadline_ms} ms"))
    if then.get("note") or now["note"]:
        rows.append(("note", plain(str(then.get("note") or "")), plain(now["note"])))
    table = columns(rows, frozenset({"", "then", "now"}))
    phase = request.observation["phase"]
    told = f"decision {request.n}, seat {request.seat}, phase {phase}, {len(request.legal)} legal actions\n{table}\n"
    if now["fault"]:
        return f"{told}fault: {FAULTS[now['fault']]} ({plain(now['detail'])})"
    return told + ("the same answer" if same else "another answer")


def _shown(answer: Json) -> str:
    action: Any = answer["action"]
    text = "-" if action is None else json.dumps(action, sort_keys=True)
    if answer["fault"]:
        text = (
            f"{answer['fault']}; default {text}" if answer.get("source") == "default" else f"{answer['fault']}: {text}"
        )
    return plain(text)
