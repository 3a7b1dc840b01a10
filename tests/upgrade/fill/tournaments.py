"""Create tournaments of every format in every state."""

from typing import Any

from referee.canonical import Json
from referee.store.schema import Match
from sqlalchemy import select

from tests.store.events import go_on
from tests.upgrade.fill.filler import BEGIN, OPTIONS, PATIENT, Filler

TERMS: dict[str, Json] = {
    "round_robin": {"game": "saint-poker", "stand_in": "first"},
    "double_round_robin": {"game": "prince-albert"},
    "swiss": {"game": "pool-nap", "options": {"rounds": 2}, "format_options": {"stages": 2}, "late_entry": True},
    "knockout": {"game": "saint-poker", "open_seats": True},
    "gauntlet": {"game": "saint-poker", "deals": "duplicate", "trusted": True},
    "ladder": {"game": "pool-nap", "options": {"rounds": 2}, "format_options": {"at_once": 2}},
}
ENTERED = {
    "round_robin": ("ada", "bo", "cy", "sleepy"),
    "double_round_robin": ("di", "ed", "fay"),
    "swiss": ("ada", "cy", "ed", "gus", "hal"),
    "knockout": ("bo", "di", "fay", "hal"),
    "gauntlet": ("ada", "ed", "gus", "di"),
    "ladder": ("bo", "fay", "gus", "hal"),
}
ORGANISERS = {"running": "otto", "paused": "otto", "cancelled": "otto"}  # else Olga
PLAYED = {"round_robin": 1, "double_round_robin": 2, "swiss": 1, "knockout": 1, "gauntlet": 1, "ladder": 2}


def organiser(status: str) -> str:
    return ORGANISERS.get(status, "olga")


def announce(filler: Filler, status: str) -> None:
    """Draft a tournament of each format and, unless it stays a draft, open it and enter the bots."""
    for format, terms in TERMS.items():
        who, game = organiser(status), terms["game"]
        body = {"name": f"{format} {status}".replace("_", " "), "format": format, "seats": 2, "time": PATIENT}
        body |= {"options": OPTIONS[game], **terms}
        if (format, status) == ("knockout", "open"):
            body["starts_at"] = f"{BEGIN.year + 1}-01-01T00:00:00Z"
        made = filler.ask(who, "POST", "/tournaments", body)
        filler.tournaments[f"{format} {status}"] = made["id"]
        if status != "draft":
            filler.ask(who, "POST", f"/tournaments/{made['id']}/open")
            for name in ENTERED[format]:
                filler.ask(who, "POST", f"/tournaments/{made['id']}/enter", {"bot": filler.bots[name]})


async def start(filler: Filler, status: str) -> None:
    """Start the tournaments and check the bots; one no longer answers."""
    for format in TERMS:
        do(filler, format, status, "start")
    filler.server.unavailable.add("sleepy")
    await filler.run()


async def finish(filler: Filler) -> None:
    """Play tournaments to their end."""
    for format in TERMS:
        tournament_id = filler.tournaments[f"{format} finished"]
        go_on(filler.database, tournament_id)
        for _ in range(3 if format == "ladder" else 100):
            await filler.play(filler.due_in(tournament_id)[:1])
            go_on(filler.database, tournament_id)
            if not filler.due_in(tournament_id):
                break
    do(filler, "ladder", "finished", "finish")
    for format in TERMS:
        go_on(filler.database, filler.tournaments[f"{format} finished"])
        assert show(filler, format, "finished")["status"] == "finished", format


async def pause(filler: Filler) -> None:
    """Play a part, stop a runner in the middle of a match, and pause."""
    for format in TERMS:
        due = await _begin(filler, format, "paused")
        if format in ("round_robin", "gauntlet", "swiss"):
            filler.hang_after |= dict.fromkeys(due[:2], 2)
            await filler.play(due[:1], hand_over=True)
        do(filler, format, "paused", "pause")


async def cancel(filler: Filler) -> None:
    """Play a part, stop a runner in the middle of a match, and cancel."""
    for format in TERMS:
        due = await _begin(filler, format, "cancelled")
        filler.hang_after |= dict.fromkeys(due[:2], 1)
        await filler.play(due[:1], hand_over=True)
        do(filler, format, "cancelled", "cancel", {"reason": "no prizes"})


def arrange_interrupted(filler: Filler) -> list[str]:
    """Arrange matches of two tournaments during which the runner is going to be killed; one match may end before."""
    interrupted: list[str] = []
    for format, spared in (("round_robin", 1), ("gauntlet", 0)):
        tournament_id = filler.tournaments[f"{format} running"]
        go_on(filler.database, tournament_id)
        interrupted += filler.due_in(tournament_id)[spared:]
    filler.hang_after |= dict.fromkeys(interrupted, 2)
    return interrupted


async def play_half_way(filler: Filler) -> None:
    """Leave the other tournaments in the middle of a round; in one a bot withdraws and another enters late."""
    for format in ("double_round_robin", "swiss", "knockout", "ladder"):
        await _begin(filler, format, "running")
    swiss, knockout = (filler.tournaments[f"{format} running"] for format in ("swiss", "knockout"))
    filler.ask("otto", "POST", f"/tournaments/{swiss}/withdraw", {"bot": filler.bots["hal"]})
    filler.ask("otto", "POST", f"/tournaments/{swiss}/enter", {"bot": filler.bots["fay"]})
    (over,) = _finished(filler, knockout)
    body = {"reason": "played at the wrong table", "replay": True}
    (filler.notes["replay"],) = filler.ask("otto", "POST", f"/matches/{over}/void", body)["replays"]


def cancel_group(filler: Filler) -> None:
    """Cancel all matches of a deal group of a paused tournament."""
    tournament_id = filler.tournaments["round_robin paused"]
    waiting = select(Match.id).where(Match.tournament_id == tournament_id, Match.status == "waiting")
    with filler.database.read() as session:
        last = session.scalars(waiting.order_by(Match.stage.desc())).first()
    filler.ask("otto", "POST", f"/matches/{last}/cancel", {"reason": "too late", "whole_group": True})


async def _begin(filler: Filler, format: str, status: str) -> list[str]:
    """Play the first matches and return those that are due then."""
    tournament_id = filler.tournaments[f"{format} {status}"]
    go_on(filler.database, tournament_id)
    await filler.play(filler.due_in(tournament_id)[: PLAYED[format]])
    go_on(filler.database, tournament_id)
    due = filler.due_in(tournament_id)
    assert due, f"{format} {status}"
    return due


def _finished(filler: Filler, tournament_id: str) -> list[str]:
    over = select(Match.id).where(Match.tournament_id == tournament_id, Match.status == "finished")
    with filler.database.read() as session:
        return list(session.scalars(over))


def do(filler: Filler, format: str, status: str, what: str, body: Any = None) -> None:
    tournament_id = filler.tournaments[f"{format} {status}"]
    filler.ask(organiser(status), "POST", f"/tournaments/{tournament_id}/{what}", body)


def show(filler: Filler, format: str, status: str) -> Json:
    shown: Json = filler.ask("olga", "GET", f"/tournaments/{filler.tournaments[f'{format} {status}']}")
    return shown
