"""Why a bot waits: positions in the queue, and one reason from a closed list."""

from sqlalchemy import event, func, select, update

from referee.matches import matches
from referee.matches.queue import claims
from referee.matches.tables import StoredMatch
from referee.tournaments.tables import TournamentRound
from referee.workflows.ending import match_retry
from referee.workflows.explaining import waiting
from referee.workflows.explaining.waiting import BotQueue
from referee.workflows.explaining.waiting_reasons import Reason
from tests.database.tournaments import begun
from tests.database.world import MANIFEST, World, manifest_of
from tests.matches.test_match_queue import arranged, plan


def asked(world: World, bot_id: str) -> BotQueue:
    with world.database.read() as session:
        return waiting.explain_waiting(session, bot_id, runner_slots=100)


def reason(world: World, bot_id: str) -> Reason | None:
    return asked(world, bot_id).reason


def change(world: World, table: type, **values: object) -> None:
    with world.database.write() as session:
        session.execute(update(table).values(values))


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
    assert (asked(world, early).playing, reason(world, early)) == (2, None)


def test_owners_are_told_when_no_runner_claims_although_matches_are_played(world: World) -> None:
    early, *pair = world.bots(3)
    arranged(world, plan([early, pair[0]]))
    assert len(world.claim()) == 1
    arranged(world, plan(pair), plan([pair[1], early]))

    with world.database.read() as session:
        told = [
            waiting.explain_waiting(session, pair[1], runner_slots=100, are_matches_stalled=stalled)
            for stalled in (False, True)
        ]

    assert told[0].matches[1].reason == Reason("behind", ahead=1)
    assert [match.reason for match in told[1].matches] == [Reason("runner_needed")] * 2


def test_a_match_itself_says_what_it_waits_for(world: World) -> None:
    busy, other, third = world.bot(manifest=manifest_of("1", MANIFEST.games, 1)), world.bot(), world.bot()
    (first,) = arranged(world, plan([other, third]))
    (second,) = arranged(world, plan([other, busy]))

    with world.database.read() as session:
        told = [waiting.explain_match(session, id, runner_slots=100) for id in (first, second)]
        stalled = waiting.explain_match(session, second, runner_slots=100, are_matches_stalled=True)
    assert [(one.position, one.reason) for one in told if one] == [(1, Reason("next")), (2, Reason("behind", ahead=1))]
    assert stalled
    assert stalled.reason == Reason("runner_needed")

    world.claim(5)
    (blocked,) = arranged(world, plan([third, busy]))
    with world.database.read() as session:
        found = waiting.explain_match(session, blocked, runner_slots=100)
    assert found
    assert (found.match_id, found.reason) == (blocked, Reason("rival_full", seat=1))


def test_every_match_says_what_keeps_it(world: World) -> None:
    busy, other = world.bot(manifest=manifest_of("1", MANIFEST.games, 1)), world.bot()
    first, second = arranged(world, plan([busy, other])) + arranged(world, plan([busy, other]))
    assert reason(world, busy) == Reason("next")
    world.clock.moment = world.clock.moment.replace(year=2027)
    assert reason(world, busy) == Reason("runner_needed")

    (claim,) = world.claim(5)
    assert [one.reason for one in asked(world, other).matches] == [
        Reason("group_opening"), Reason("rival_full", seat=0)
    ]  # fmt: skip
    assert asked(world, busy).matches[1].reason == Reason("bot_full")
    world.pass_seconds(16)
    assert asked(world, busy).matches[0].reason == Reason("runner_needed")

    with world.database.write() as session:
        claims.release_claims(session, [claim])
        session.execute(update(StoredMatch).where(StoredMatch.id == first).values(lost_claims=2))
        session.execute(update(StoredMatch).where(StoredMatch.id == second).values(status="stuck"))
    assert [one.reason for one in asked(world, busy).matches] == [Reason("played_alone"), Reason("stuck")]
    with world.database.write() as session:
        match_retry.retry_match(session, second)
        session.execute(update(StoredMatch).values(status="waiting"))
    assert reason(world, busy) == Reason("tournament_paused")


def test_a_duplicate_group_says_that_it_goes_out_whole(world: World) -> None:
    pair = world.bots(2)
    arranged(world, *[plan(pair, together="a")] * 2)
    claimed = world.claim(2)
    with world.database.write() as session:
        claims.release_claims(session, claimed[:1])

    told = {one.match_id: one.reason for one in asked(world, pair[0]).matches}

    assert told[claimed[0].match_id] == Reason("group_playing")


def test_the_rounds_of_an_event_are_not_asked_about_one_by_one(world: World) -> None:
    tournament_id, (bot_id, *_) = begun(world, 4, format="round_robin", cycles=30)
    with world.database.write() as session:
        matches.cancel_unstarted(session, bot_id, tournament_id)
    statements: list[str] = []

    with world.database.read() as session:
        rounds = session.scalars(
            select(func.count()).select_from(TournamentRound).where(TournamentRound.ended_at.is_(None))
        ).one()
        event.listen(session.connection(), "before_cursor_execute", lambda *said: statements.append(said[2]))
        (found,) = waiting.explain_waiting(session, bot_id, runner_slots=100).tournaments

    assert found.tournament_id == tournament_id
    assert len(statements) <= 20 < rounds
