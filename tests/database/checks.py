"""Helpers for tests of certificates and checks."""

from collections.abc import Mapping
from typing import Any

import pytest
from sqlalchemy import select, update

from referee.bots import bots, certificates, handshakes
from referee.bots.checks import CheckOutcome, ClaimedCheck
from referee.bots.tables import Bot, Check
from referee.protocol.messages import PROTOCOL
from referee.tournaments import match_creation, tournaments
from referee.tournaments.tables import TournamentEntry
from referee.workflows.bots import check_claims, check_results, handshake_results
from tests.database.world import GAME, World, manifest_of

BOTH = certificates.current_rules_versions([GAME, "pool-nap"])
on_one_database = pytest.mark.parametrize("url", ["sqlite"], indirect=True)  # nothing there differs between the two


def called(world: World, bot_id: str, version: str = "1.0", *, with_check: bool = False) -> None:
    """Perform another handshake with the bot."""
    with world.database.write() as session:
        bots.request_handshake(session, bot_id, with_check=with_check)
        (handshake,) = handshakes.claim_due_handshakes(session)
        handshake_results.finish_handshake(
            session, bot_id, handshake.epoch, {"ok": True}, manifest_of(version, [GAME, "pool-nap"], 100)
        )


def claimed(world: World) -> ClaimedCheck:
    (one,) = world.write(check_claims.claim_due, 3)
    return one


def ended(world: World, one: ClaimedCheck, passed: Mapping[str, int], version: str | None = "1.0") -> None:
    outcome = CheckOutcome(version, BOTH, passed, PROTOCOL, {"verdict": "…"}, ["budget"])
    world.write(check_results.finish_check, one, outcome)


def checked(world: World, passed: Mapping[str, int] = BOTH, version: str = "1.0") -> None:
    ended(world, claimed(world), passed, version)


def newcomer(world: World) -> str:
    """Return a verified bot whose check is due."""
    with world.database.write() as session:
        owner = world._account(session)
        bot_id = bots.register(session, owner, f"New {next(world.numbers)}", "http://127.0.0.1:8999/").id
    called(world, bot_id)
    return bot_id


def row_of(world: World, bot_id: str) -> Check:
    return world.get_one(Check, bot_id)


def held(world: World, bot_id: str) -> list[tuple[str, dict[str, Any], str | None]]:
    """Return (version, rules, why it ended) of all its certificates, newest first."""
    with world.database.read() as session:
        found = certificates.list_certificates(session, bot_id).items
        return [(one.version, one.rules, one.ended_reason) for one in found]


def lacking(world: World, bot_id: str, game: str = GAME) -> str | None:
    with world.database.read() as session:
        return certificates.explain_missing_certificate(session, session.get_one(Bot, bot_id), game)


def preflight_of(world: World, tournament_id: str, bot_id: str) -> tuple[str, str | None]:
    entry = world.get_one(TournamentEntry, (tournament_id, bot_id))
    return entry.preflight, entry.preflight_reason


def playing_in(world: World, tournament_id: str) -> set[str]:
    """Return the entries whose own bot the tournament would seat now."""
    with world.database.read() as session:
        tournament = tournaments.get_tournament(session, tournament_id)
        entered_in = TournamentEntry.tournament_id == tournament_id
        entries = list(session.scalars(select(TournamentEntry.bot_id).where(entered_in)))
        return {one for one, by in match_creation.find_players(session, tournament, entries).items() if by == one}


def change(world: World, bot_id: str, **values: Any) -> None:
    world.execute(update(Check).where(Check.bot_id == bot_id).values(**values))
