"""Play on official ladders: what the scheduler does before its first sweep and in each, step by step."""

from datetime import timedelta
from typing import Any

from sqlalchemy import select, update

from referee.bots import house_bots
from referee.ladders import official_matches
from referee.ladders.ladder_sync import sync_ladders
from referee.ladders.official import OfficialLadder, load_official_ladders
from referee.ladders.tables import Ladder, LadderMember
from referee.matches.states import PLAYABLE, MatchState
from referee.matches.tables import MatchSeat, StoredMatch
from tests.database.world import GAME, World, manifest_of
from tests.surroundings import MASTER_KEY


def prepare(world: World, official: tuple[OfficialLadder, ...] | None = None) -> list[str]:
    """Do what the scheduler does before its first sweep."""
    with world.database.write() as session:
        house_bots.get_or_create_house_bots(session)
        return sync_ladders(session, load_official_ladders() if official is None else official)


def sweep(world: World) -> list[StoredMatch]:
    """Make the matches that are due. Return them."""
    with world.database.read() as session:
        before = set(session.scalars(select(StoredMatch.id)))
        works = official_matches.has_work(session, master_key=MASTER_KEY)
    with world.database.write() as session:
        made = official_matches.make_matches(session, master_key=MASTER_KEY)
        found = session.scalars(select(StoredMatch).where(StoredMatch.id.not_in(before))).all()
        assert len(found) == made
        assert works or not made
        return list(found)


def seated(world: World, match: StoredMatch) -> list[str]:
    with world.database.read() as session:
        query = select(MatchSeat.bot_id).where(MatchSeat.match_id == match.id).order_by(MatchSeat.seat)
        return list(session.scalars(query))


def later(world: World, **time: float) -> None:
    world.clock.moment += timedelta(**time)


def finish_all(world: World) -> None:
    for claim in world.claim(100):
        world.finish(claim)


def end_all(world: World) -> None:
    """End all matches, as if they were played, without results."""
    ended = {"status": MatchState.FINISHED, "finished_at": world.clock.utc_now()}
    world.execute(update(StoredMatch).where(StoredMatch.status.in_(PLAYABLE)).values(ended))


def member_of(world: World, bot_id: str, game: str = GAME) -> LadderMember:
    with world.database.read() as session:
        query = select(LadderMember).join(Ladder, Ladder.id == LadderMember.ladder_id)
        return session.scalars(query.where(LadderMember.bot_id == bot_id, Ladder.game == game)).one()


def poker_bot(world: World, **how: Any) -> str:
    return world.bot(manifest=manifest_of(games=[GAME]), **how)
