"""Implement `referee fork`, which continues a finished match from a decision with other players and the same deals."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from referee.cli import problem_report
from referee.cli.options import FILE, Number, secret_option, usage_errors
from referee.cli.plain_text import note
from referee.cli.play import summary, table, write
from referee.cli.service.remote import Remote, service_command
from referee.errors import BadOption
from referee.local import bot_files, matches
from referee.local.matches import LocalEntrant, LocalResult, PlannedMatch, local_id
from referee.match import replay
from referee.match.canonical import Json
from referee.match.log import LINK_MEMBERS
from referee.match.time_limits import Limits
from referee_extras.decisions.commands.recorded_match import RecordedDecision, RecordedMatch, decision_argument


@service_command()
@click.argument("log", metavar="LOG|MATCH")
@decision_argument
@click.argument("players", metavar="PLAYER...", nargs=-1, required=True)
@click.option(
    "--seat", type=Number(1, 99), help="Seat of the first PLAYER, counted from 1. [default: the seat asked at DECISION]"
)
@click.option("--others", metavar="PLAYER", default="house:3", help="Player in all other seats.")
@click.option("--out", type=FILE, help="Write the new log to this file.")
@secret_option("Secret that signs the calls to bots.")
def fork(
    remote: Remote,
    log: str,
    decision: RecordedDecision,
    players: tuple[str, ...],
    seat: int | None,
    others: str,
    out: Path | None,
    secret: str | None,
) -> None:
    """Continue a finished match from a decision with other PLAYERs.

    A PLAYER is a bot's URL, its file, or house:1 … house:4. LOG and DECISION are as for `referee reask`. The first
    PLAYER takes --seat, the others take the following seats; seat 1 follows the last seat. All random outcomes follow
    from the seed of the original match. Time banks and faults are kept: a seat that was retired stays retired. The exit
    status is 3 if a player was never reached or if a bot that was started from a file exited on its own.
    """
    recorded = RecordedMatch.read(remote, log)
    seats = recorded.header["seats"]
    if len(players) > seats:
        raise click.UsageError(f"There are {len(players)} players, but the match has {seats} seats.")
    with usage_errors():
        n, seat_of_id = recorded.locate(decision)
        first = replay.find_request(recorded.replay_to(n), seat_of_id).seat if seat is None else seat - 1
        if first >= seats:
            raise BadOption("--seat", f"the match has seats 1 to {seats}")
        entrants = _assign_seats(players, first, others, seats)
        with bot_files.run_bots(entrants, (secret,) if secret else (), note) as running:
            played = asyncio.run(_play_fork(recorded, n, running.entrants, running.secrets))
            problems = dict(zip((entrant.name for entrant in running.entrants), played.problems, strict=True))
            report = problem_report.report(running, problems, Limits(**recorded.header["time"]))
    if out:
        write(out, played.lines)
    remote.show(summary(played, out), table(played) + (f"\nlog: {out}" if out else ""))
    report.show()
    sys.exit(report.status)


def _assign_seats(players: Sequence[str], first: int, others: str, seats: int) -> list[LocalEntrant]:
    sources = [*players, *[others] * (seats - len(players))]
    return matches.parse_entrants([sources[(seat - first) % seats] for seat in range(seats)])


def forked_header(recorded: RecordedMatch, n: int, entrants: Sequence[LocalEntrant]) -> Json:
    """Return the header of the new log.

    The match id begins with ``fork_``. Each player has a member ``fork`` with the original match, the decision from
    which the player took over, and the player it replaced. A log cannot prove these statements.
    """
    header = recorded.header
    players = [
        {
            "bot": entrant.id,
            "name": entrant.name,
            "version": entrant.version,
            "fork": {"match": header["match"], "n": n, "before": before},
        }
        for entrant, before in zip(entrants, header["players"], strict=True)
    ]
    id = local_id("fork", header["match"], n, *(entrant.id for entrant in entrants))
    return {**header, "match": id, "players": players, "rated": False}


async def _play_fork(
    recorded: RecordedMatch, n: int, entrants: Sequence[LocalEntrant], secrets: tuple[str, ...]
) -> LocalResult:
    match, reveal = recorded.replay_to(n, forked_header(recorded, n, entrants)), recorded.rows[-1]
    id = match.header["match"]
    sitting = PlannedMatch(id, entrants, recorded.header["group"]["id"], bytes.fromhex(reveal["seed"]), id)
    revealed = {name: value for name, value in reveal.items() if name not in LINK_MEMBERS}
    return await matches.play_to_end(match, sitting, secrets, revealed)
