"""Voided matches: their effect on ladders, what stays readable, and rematches."""

import pytest
from sqlalchemy import select, update

from referee.audit.database_audit import audit
from referee.errors import BadOption, Conflict
from referee.ladders import ratings
from referee.ladders.ladder_rows import load_rows
from referee.ladders.tables import LedgerEntry, Rating
from referee.matches import matches
from referee.matches.deals import deal_groups
from referee.matches.logs import logs
from referee.matches.tables import Result, StoredMatch
from referee.ratings.elo import START
from referee.tournaments.tables import TournamentRound
from referee.workflows.voids import match_cancellation
from tests.database.world import World
from tests.surroundings import MASTER_KEY
from tests.workflows.test_void_proposals import make_tournament

WHY = "a rule was misread"


def holds(world: World) -> bool:
    return [str(one) for one in world.listed(audit)] == []


def standing(world: World) -> dict[str, tuple[int, int]]:
    return {row.bot_id: (row.value, row.games) for row in world.scalars(select(Rating))}


def together(world: World, count: int, kind: str = "common") -> list[str]:
    """Return matches that share cards: of different bots, or of the same two in a duplicate group."""
    pair = world.bots(2)
    tables = [pair if kind == "duplicate" else world.bots(2) for _ in range(count)]
    return world.sharing(tables, kind)


def play_all(world: World, match_ids: list[str]) -> None:
    for match_id in match_ids:
        for claim in world.claim(match_id=match_id):  # those of a duplicate group come together
            world.finish(claim)


def test_F10_a_void_leaves_the_ladder_as_if_the_match_had_not_been_and_both_stay_readable(world: World) -> None:
    one, other, third = world.bots(3)
    first = world.play([one, other], choice=1)
    alone = standing(world)
    wrong = world.play([other, third], choice=0)
    before = standing(world)

    done = world.void(wrong.match_id, WHY)

    assert standing(world) == {**alone, third: (START, 0)}
    with world.database.read() as session:
        ladder = str(first.ladder_id)
        (act,) = session.scalars(select(LedgerEntry).where(LedgerEntry.kind == "void"))
        assert (act.seq, act.match_id, act.reason) == (done.entry_seqs[0], wrong.match_id, WHY)
        now, then = load_rows(session, ladder), load_rows(session, ladder, as_of=act.seq - 1)
        assert {line.bot_id: (line.value, line.games) for line in now.page.items} == alone
        assert {line.bot_id: (line.value, line.games) for line in then.page.items} == before
        assert (now.as_of_seq, then.as_of_seq) == (act.seq, act.seq - 1)
        latest, result, *_ = ratings.list_changes(session, ladder, other).items
        assert (latest.kind, latest.match_id, latest.reason) == ("void", wrong.match_id, WHY)
        assert (result.kind, result.after, latest.before) == ("result", before[other][0], before[other][0])
        match = matches.get_match(session, wrong.match_id)
        assert (match.status, match.reason) == ("void", WHY)
        assert logs.read_log_file(session, match, gzipped=False).splitlines()
    assert holds(world)


def test_what_is_not_over_or_void_already_or_without_reason_is_refused(world: World) -> None:
    due = world.match()
    with pytest.raises(Conflict, match="The match is due"):
        world.void(due)
    played = world.play(world.bots(2))
    with pytest.raises(BadOption, match="reason"):
        world.void(played.match_id, " ")
    world.void(played.match_id)
    with pytest.raises(Conflict, match="The match is void"):
        world.void(played.match_id)


def test_a_stuck_match_becomes_void_and_ends_its_group(world: World) -> None:
    stuck, other = together(world, 2)
    play_all(world, [other])
    assert standing(world) == {}  # the group is not over
    world.execute(update(StoredMatch).where(StoredMatch.id == stuck).values(status="stuck"))

    done = world.void(stuck)

    assert (done.matches, done.entry_seqs) == ([stuck], [])
    assert len(standing(world)) == 2  # the other one counts now
    assert holds(world)


def test_a_match_void_before_its_group_is_over_never_counts(world: World) -> None:
    one, other = together(world, 2)
    play_all(world, [one])

    done = world.void(one)
    play_all(world, [other])

    assert len(done.entry_seqs) == 1
    assert len(standing(world)) == 2
    assert holds(world)


def test_results_of_a_common_group_count_together_in_their_order(world: World) -> None:
    one, two, three = together(world, 3)
    play_all(world, [three, one])
    assert standing(world) == {}
    play_all(world, [two])

    counted = world.scalars(select(LedgerEntry.match_id).order_by(LedgerEntry.seq))
    assert counted == world.scalars(select(Result.match_id).order_by(Result.seq)) == [three, one, two]
    assert holds(world)


def test_a_duplicate_group_becomes_void_as_a_whole_and_only_if_wished(world: World) -> None:
    one, two = together(world, 2, "duplicate")
    play_all(world, [one, two])

    with pytest.raises(Conflict, match="whole_group"):
        world.void(one)
    done = world.void(one, whole_group=True, rematch=True)

    assert set(done.matches) == {one, two}
    assert all(games == 0 for _, games in standing(world).values())
    with world.database.read() as session:
        again = [matches.get_match(session, match_id) for match_id in done.rematches]
        assert {match.rematch_of for match in again} == {one, two}
        (group_id,) = {match.group_id for match in again}
        assert deal_groups.get_group(session, group_id).kind == "duplicate"
    assert holds(world)


def test_cancelling_one_of_a_group_needs_the_wish_and_takes_all(world: World) -> None:
    one, two, three = together(world, 3)
    play_all(world, [one])

    with world.database.write() as session, pytest.raises(Conflict, match="whole_group"):
        match_cancellation.cancel_match(session, two, master_key=MASTER_KEY)
    world.write(match_cancellation.cancel_match, two, "the wrong options", master_key=MASTER_KEY, whole_group=True)

    with world.database.read() as session:
        states = {
            id: (match.status, match.reason) for id in (one, two, three) if (match := session.get(StoredMatch, id))
        }
        assert deal_groups.get_group(session, matches.get_match(session, one).group_id).state == "revealed"
    assert states[one] == ("void", "the wrong options")
    assert states[two] == states[three] == ("cancelled", "the wrong options")
    assert standing(world) == {}
    assert holds(world)


@pytest.mark.parametrize(("state", "due"), [("running", "due"), ("paused", "waiting")])
def test_a_match_of_an_event_is_played_again_at_its_table(world: World, state: str, due: str) -> None:
    seated = world.bots(2)
    event = make_tournament(world, world.account(), state=state)
    result = world.play(seated, tournament_id=event, tournament_round=1, table_no=3, leg=2)

    (again,) = world.void(result.match_id, rematch=True).rematches

    with world.database.read() as session:
        old, new = matches.get_match(session, result.match_id), matches.get_match(session, again)
        place = (new.tournament_id, new.tournament_round, new.table_no, new.leg, new.rematch_of, new.rated, new.status)
        assert place == (event, 1, 3, 2, old.id, True, due)
        assert [seat.bot_id for seat in matches.seats_of(session, [again])[again]] == seated
        assert new.group_id != old.group_id
        assert session.get_one(TournamentRound, (event, 1)).ended_at is None
