"""Helpers for tournaments: entries, the start, successful handshakes, steps, results."""

from collections.abc import Sequence
from typing import Any

from referee.bots import handshakes
from referee.bots.tables import Bot
from referee.db.engine import Database
from referee.match.time_limits import Limits
from referee.tournaments import editing, entries, progress, progression, starting, tournaments
from referee.tournaments.tables import Tournament
from referee.workflows.bots import handshake_results
from tests.database import scripted
from tests.database.world import GAME, World, manifest_of
from tests.surroundings import MASTER_KEY

DRAW = bytes(range(32))


def create(world: World, **terms: Any) -> str:
    usual = {"game": GAME, "options": {}, "seats": 2, "limits": Limits()}
    organiser = terms.pop("created_by", None) or world.account("organiser")
    with world.database.write() as session:
        return tournaments.create_tournament(session, "A Cup", created_by=organiser, **{**usual, **terms}).id


def entered(world: World, count: int, **terms: Any) -> tuple[str, list[str]]:
    """Return an open tournament with this number of bots, each of a different owner."""
    seated = world.bots(count)
    tournament_id = create(world, **terms)
    enter(world, tournament_id, *seated)
    return tournament_id, seated


def enter(world: World, tournament_id: str, *bots: str) -> None:
    with world.database.write() as session:
        for bot in bots:
            entries.enter_bot(session, tournament_id, bot)


def start(world: World, tournament_id: str, *, draw_key: bytes = DRAW) -> None:
    world.write(starting.start, tournament_id, draw_key=draw_key)


def answer_handshakes(database: Database, absent: Sequence[str] = ()) -> None:
    """Record handshakes as a runner would: all bots answer as before, except the absent."""
    with database.write() as session:
        while claimed := handshakes.claim_due_handshakes(session):
            for handshake in claimed:
                bot = session.get_one(Bot, handshake.bot_id)
                manifest = manifest_of(bot.version or "1.0", bot.games, bot.max_concurrent_requests)
                failed = {"ok": False, "challenge": {"ok": False, "code": "unreachable"}, "manifest": None}
                report = (failed, None) if handshake.bot_id in absent else ({"ok": True}, manifest)
                handshake_results.finish_handshake(session, handshake.bot_id, handshake.epoch, *report)


def go_on(database: Database, tournament_id: str) -> list[str]:
    """Take steps until the tournament must wait; return their names."""
    taken = []
    while step := progression.take_next_step(database, tournament_id, master_key=MASTER_KEY):
        taken.append(step)
        assert len(taken) < 1000, taken[-5:]
    return taken


def begun(world: World, count: int, **terms: Any) -> tuple[str, list[str]]:
    """Return a tournament after the preflight, whose first matches are due."""
    tournament_id, seated = entered(world, count, **terms)
    begin(world, tournament_id)
    return tournament_id, seated


def begin(world: World, tournament_id: str, absent: Sequence[str] = ()) -> None:
    start(world, tournament_id)
    answer_handshakes(world.database, absent)
    go_on(world.database, tournament_id)


def progress_of(world: World, tournament_id: str) -> progress.Progress:
    return world.read(progress.load_progress, tournament_id)


def play_all(world: World, tournament_id: str) -> None:
    """Play the matches that are due, and go on, until none is."""
    while scripted.play_due(world.database, tournament_id):
        go_on(world.database, tournament_id)


def edit(world: World, tournament_id: str, **changes: Any) -> Tournament:
    revision = world.read(tournaments.get_tournament, tournament_id).revision
    with world.database.write() as session:
        return editing.edit(session, tournament_id, revision=revision, **changes)


def status_of(world: World, tournament_id: str) -> tuple[str, str | None]:
    tournament = world.read(tournaments.get_tournament, tournament_id)
    return tournament.status, tournament.status_reason
