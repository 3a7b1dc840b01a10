"""Why a bot waits: positions in the queue, and one reason from a closed list."""

from typing import Any

from sqlalchemy import event, func, select, update

from referee.matches import matches
from referee.matches.queue import claims
from referee.matches.tables import StoredMatch
from referee.tournaments.tables import TournamentRound
from referee.workflows.explaining import waiting
from referee.workflows.explaining.waiting import BotQueue
from referee.workflows.explaining.waiting_reasons import Reason
from tests.database.tournaments import begun
from tests.database.world import MANIFEST, World, manifest_of
from tests.matches.test_match_queue import arranged, plan


def asked(world: World, bot_id: str) -> BotQueue:
    return world.read(waiting.explain_waiting, bot_id, runner_slots=100)


def test_positions_follow_the_turns_of_those_who_arrange(world: World) -> None:
    early, late, many, few = *world.bots(2), world.account(), world.account()
    pair = world.bots(2)
    arranged(world, *[plan(pair, many)] * 5)
    (last,) = arranged(world, plan([early, late], many))
    (alone,) = arranged(world, plan([early, pair[0]], few))

    told = asked(world, early)

    # Accounts take turns: many, few, then the others of many. The match of few shares its turn with the first of many.
    assert [(one.match_id, one.position) for one in told.matches] == [(last, 7), (alone, 2)]
    assert told.reason == Reason("behind", ahead=6)
    assert told.reason.text == "matches ahead of it in the queue: 6"
    assert (told.playing, told.open) == (0, 2)
    claimed = [claim.match_id for claim in world.claim(7)]
    assert (claimed.index(alone), claimed.index(last)) == (1, 6)
    assert (asked(world, early).playing, asked(world, early).reason) == (2, None)


def test_owners_are_told_when_no_runner_claims_although_matches_are_played(world: World) -> None:
    early, *pair = world.bots(3)
    arranged(world, plan([early, pair[0]]))
    assert len(world.claim()) == 1
    (ahead,) = arranged(world, plan(pair))
    (match_id,) = arranged(world, plan([pair[1], early]))

    for stalled, wanted in ((False, Reason("behind", ahead=1)), (True, Reason("runner_needed"))):
        how: dict[str, Any] = {"runner_slots": 100, "are_matches_stalled": stalled}
        found = world.read(waiting.explain_waiting, pair[1], **how)
        assert [match.reason for match in found.matches] == [Reason("runner_needed" if stalled else "next"), wanted]
        assert world.read(waiting.explain_match, match_id, **how) == found.matches[1]
    world.claim(match_id=ahead)
    world.finish(*world.claim(match_id=match_id))
    assert world.read(waiting.explain_match, match_id, runner_slots=100) is None


def test_a_match_that_lost_its_runners_says_so(world: World) -> None:
    bot_id, other = world.bots(2)
    world.match([bot_id, other])
    (claim,) = world.claim()
    world.pass_seconds(16)
    found = [asked(world, bot_id).matches[0].reason]
    world.write(claims.release_claims, [claim])
    world.execute(update(StoredMatch).values(lost_claims=2))
    found.append(asked(world, bot_id).matches[0].reason)

    assert found == [Reason("runner_needed"), Reason("played_alone")]


def test_a_match_without_its_own_bot_waits_for_a_seat_that_is_full(world: World) -> None:
    busy, other = world.bot(manifest=manifest_of("1", MANIFEST.games, 1)), world.bot()
    arranged(world, plan([other, busy]))
    assert len(world.claim()) == 1
    (blocked,) = arranged(world, plan([other, busy]))

    found = world.read(waiting.explain_match, blocked, runner_slots=100)

    assert found
    assert (found.match_id, found.reason) == (blocked, Reason("rival_full", seat=1))


def test_the_rounds_of_an_event_are_not_asked_about_one_by_one(world: World) -> None:
    tournament_id, (bot_id, *_) = begun(world, 4, format="round_robin", cycles=10)
    world.write(matches.cancel_unstarted, bot_id, tournament_id)
    statements: list[str] = []

    with world.database.read() as session:
        rounds = session.scalars(
            select(func.count()).select_from(TournamentRound).where(TournamentRound.ended_at.is_(None))
        ).one()
        event.listen(session.connection(), "before_cursor_execute", lambda *said: statements.append(said[2]))
        (found,) = waiting.explain_waiting(session, bot_id, runner_slots=100).tournaments

    assert found.tournament_id == tournament_id
    assert len(statements) <= 20 < rounds
