"""Voided matches: their effect on ladders, what stays readable, and rematches."""

import pytest
from sqlalchemy import select, update

from referee.audit.database_audit import audit
from referee.errors import BadOption, Conflict
from referee.ladders import ratings
from referee.ladders.ladder_rows import load_rows
from referee.ladders.tables import LedgerEntry, Rating, RatingChange
from referee.matches import matches
from referee.matches.deals import deal_groups
from referee.matches.logs import logs
from referee.matches.states import DealSharing
from referee.matches.tables import Result, StoredMatch
from referee.ratings.elo import START
from referee.tournaments.states import TournamentState
from referee.tournaments.tables import Tournament, TournamentRound
from referee.workflows.voids import match_cancellation, voiding
from tests.database.world import World
from tests.surroundings import MASTER_KEY


def void(world: World, match_id: str, reason: str = "a rule was misread", **how: bool) -> voiding.VoidReport:
    with world.database.write() as session:
        return voiding.void_match(session, match_id, reason, created_by=None, master_key=MASTER_KEY, **how)


def holds(world: World) -> bool:
    with world.database.read() as session:
        return [str(one) for one in audit(session)] == []


def standing(world: World) -> dict[str, tuple[int, int]]:
    with world.database.read() as session:
        rated = session.execute(select(Rating.bot_id, Rating.value, Rating.games))
        return {bot: (value, games) for bot, value, games in rated}


def together(world: World, count: int, kind: str = "common") -> list[str]:
    """Return matches that share cards: of different bots, or of the same two in a duplicate group."""
    pair = world.bots(2)
    tables = [pair if kind == "duplicate" else world.bots(2) for _ in range(count)]
    with world.database.write() as session:
        entries = [bot for table in tables for bot in table]
        group = deal_groups.create_group(session, entries, master_key=MASTER_KEY, kind=DealSharing(kind))
        return [world.matched(session, table, group=group).id for table in tables]


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

    done = void(world, wrong.match_id)

    assert standing(world) == {**alone, third: (START, 0)}
    with world.database.read() as session:
        ladder = str(first.ladder_id)
        (act,) = session.scalars(select(LedgerEntry).where(LedgerEntry.kind == "void"))
        assert (act.seq, act.match_id, act.reason) == (done.entry_seqs[0], wrong.match_id, "a rule was misread")
        now, then = load_rows(session, ladder), load_rows(session, ladder, as_of=act.seq - 1)
        assert {line.bot_id: (line.value, line.games) for line in now.page.items} == alone
        assert {line.bot_id: (line.value, line.games) for line in then.page.items} == before
        assert (now.as_of_seq, then.as_of_seq) == (act.seq, act.seq - 1)
        latest, result, *_ = ratings.list_changes(session, ladder, other).items
        assert (latest.kind, latest.match_id, latest.reason) == ("void", wrong.match_id, "a rule was misread")
        assert (result.kind, result.after, latest.before) == ("result", before[other][0], before[other][0])
        match = matches.get_match(session, wrong.match_id)
        assert (match.status, match.reason) == ("void", "a rule was misread")
        assert logs.read_log_file(session, match, gzipped=False).splitlines()
    assert holds(world)


def test_F10_a_void_takes_back_what_its_result_gave_and_changes_no_other_result(world: World) -> None:
    bots = world.bots(5)
    played = [world.play([bots[number], bots[number + 1]], choice=number % 2) for number in range(4)]
    played += [world.play([bots[3], bots[1]], choice=number % 2) for number in range(3)]
    gains = {result.match_id: gains_of(world, result) for result in played}
    voided = [played[number].match_id for number in (5, 1, 2)]
    for match_id in voided:
        void(world, match_id)

    kept = [gains[result.match_id] for result in played if result.match_id not in voided]
    for bot, (value, games) in standing(world).items():
        assert value == START + sum(gain.get(bot, 0) for gain in kept)
        assert games == sum(bot in gain for gain in kept)
    assert holds(world)


def gains_of(world: World, result: Result) -> dict[str, int]:
    """What the ledger entry of a result gave, by bot."""
    with world.database.read() as session:
        entry = select(LedgerEntry.seq).where(LedgerEntry.match_id == result.match_id, LedgerEntry.kind == "result")
        changes = session.scalars(select(RatingChange).where(RatingChange.seq == session.scalars(entry).one())).all()
        return {change.bot_id: change.after - change.before for change in changes}


def test_what_is_not_over_or_void_already_or_without_reason_is_refused(world: World) -> None:
    due = world.match()
    with pytest.raises(Conflict, match="The match is due"):
        void(world, due)
    played = world.play(world.bots(2))
    with pytest.raises(BadOption, match="reason"):
        void(world, played.match_id, " ")
    void(world, played.match_id)
    with pytest.raises(Conflict, match="The match is void"):
        void(world, played.match_id)


def test_a_stuck_match_becomes_void_and_ends_its_group(world: World) -> None:
    stuck, other = together(world, 2)
    play_all(world, [other])
    assert standing(world) == {}  # the group is not over
    with world.database.write() as session:
        session.execute(update(StoredMatch).where(StoredMatch.id == stuck).values(status="stuck"))

    done = void(world, stuck)

    assert (done.matches, done.entry_seqs) == ([stuck], [])
    assert len(standing(world)) == 2  # the other one counts now
    assert holds(world)


def test_a_match_void_before_its_group_is_over_never_counts(world: World) -> None:
    one, other = together(world, 2)
    play_all(world, [one])

    done = void(world, one)
    play_all(world, [other])

    assert len(done.entry_seqs) == 1
    assert len(standing(world)) == 2
    assert holds(world)


def test_results_of_a_common_group_count_together_in_their_order(world: World) -> None:
    one, two, three = together(world, 3)
    play_all(world, [three, one])
    assert standing(world) == {}
    play_all(world, [two])

    with world.database.read() as session:
        counted = list(session.scalars(select(LedgerEntry.match_id).order_by(LedgerEntry.seq)))
        numbered = list(session.scalars(select(Result.match_id).order_by(Result.seq)))
    assert counted == numbered == [three, one, two]
    assert holds(world)


def test_a_duplicate_group_becomes_void_as_a_whole_and_only_if_wished(world: World) -> None:
    one, two = together(world, 2, "duplicate")
    play_all(world, [one, two])

    with pytest.raises(Conflict, match="whole_group"):
        void(world, one)
    done = void(world, one, whole_group=True, rematch=True)

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
    with world.database.write() as session:
        match_cancellation.cancel_match(session, two, "the wrong options", master_key=MASTER_KEY, whole_group=True)

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
    event = tournament(world, state)
    result = world.play(seated, tournament_id=event, tournament_round=1, table_no=3, leg=2)

    (again,) = void(world, result.match_id, rematch=True).rematches

    with world.database.read() as session:
        old, new = matches.get_match(session, result.match_id), matches.get_match(session, again)
        place = (new.tournament_id, new.tournament_round, new.table_no, new.leg, new.rematch_of, new.rated, new.status)
        assert place == (event, 1, 3, 2, old.id, True, due)
        assert [seat.bot_id for seat in matches.seats_of(session, [again])[again]] == seated
        assert new.group_id != old.group_id
        assert session.get_one(TournamentRound, (event, 1)).ended_at is None


def test_an_event_that_is_over_is_not_played_on_but_may_lose_a_result(world: World) -> None:
    event = tournament(world, "running")
    result = world.play(world.bots(2), tournament_id=event, tournament_round=1, table_no=1)
    with world.database.write() as session:
        session.get_one(Tournament, event).status = TournamentState.FINISHED

    with pytest.raises(Conflict, match="finished"):
        void(world, result.match_id, rematch=True)
    assert void(world, result.match_id).matches == [result.match_id]


def tournament(world: World, state: str) -> str:
    """Return a tournament in this state whose first round is over."""
    account = world.account()
    with world.database.write() as session:
        moment = world.clock.utc_now()
        event = Tournament(
            id="trn_" + "0" * 20, name="Cup", game="saint-poker", options={}, seats=2, format="round_robin", cycles=1,
            rated=True, min_seats=2, bots_per_owner=1000, deal_sharing="own",
            budget_ms=1000, bank_ms=1000, status=state, created_by=account, created_at=moment, revision=1,
        )  # fmt: skip
        session.add(event)
        session.flush()
        row = {"tables": [], "byes": [], "label": "", "arranged": 0, "created_at": moment, "ended_at": moment}
        session.add(TournamentRound(tournament_id=event.id, number=1, **row))
        return event.id
