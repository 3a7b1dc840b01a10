"""Voids of matches that have ended: who may void alone, who confirms, and that a match is replaced once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from threading import Barrier
from typing import Any, TypeVar

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from referee.accounts.tables import Account
from referee.audit.database_audit import audit
from referee.errors import Conflict, Forbidden, NotFound
from referee.ladders.tables import LedgerEntry
from referee.matches import matches, voids
from referee.matches.deals import deal_groups
from referee.matches.states import MatchState, VoidState
from referee.matches.tables import MatchVoid, StoredMatch
from referee.matches.voids import VoidFilter, VoidRequest
from referee.tournaments.states import TournamentState
from referee.tournaments.tables import Tournament, TournamentRound
from referee.workflows.voids import match_cancellation, void_proposals
from referee.workflows.voids.void_proposals import VoidOutcome
from referee.workflows.voids.voiding import VoidReport
from tests.database.checks import on_one_database
from tests.database.world import World
from tests.surroundings import MASTER_KEY

WHY = "a cable was cut"
T = TypeVar("T")


@pytest.fixture
def organiser(world: World) -> str:
    return world.account("organiser")


@pytest.fixture
def operator(world: World) -> str:
    return world.account("admin")


def ask(
    world: World, account_id: str, match_id: str, *, rematch: bool | None = None, group: bool = False
) -> VoidOutcome:
    with world.database.write() as session:
        account = session.get_one(Account, account_id)
        wanted = VoidRequest(match_id, WHY, group, rematch)
        return void_proposals.void_or_propose(session, account, wanted, master_key=MASTER_KEY)


def propose(world: World, account_id: str, match_id: str, **how: bool) -> str:
    outcome = ask(world, account_id, match_id, **how)
    assert outcome.report == VoidReport()
    assert outcome.proposal is not None
    return outcome.proposal.id


def decide(world: World, action: Callable[..., T], account_id: str, void_id: str, **how: Any) -> T:
    with world.database.write() as session:
        return action(session, session.get_one(Account, account_id), void_id, **how)


def confirm(world: World, account_id: str, void_id: str) -> VoidReport:
    return decide(world, void_proposals.confirm, account_id, void_id, master_key=MASTER_KEY)


def void_of(world: World, void_id: str) -> MatchVoid:
    return world.read(voids.get_void, void_id)


def status_of(world: World, match_id: str) -> MatchState:
    return world.read(matches.get_match, match_id).status


def listed(world: World, match_id: str) -> list[VoidState]:
    with world.database.read() as session:
        found = voids.list_voids(session, VoidFilter(match_id=match_id), limit=10, cursor=None)
        return [void.state for void in found.items]


def assert_audit_holds(world: World) -> None:
    assert [str(found) for found in world.listed(audit)] == []


def make_tournament(world: World, organiser: str, format: str = "round_robin", state: str = "running") -> str:
    """Return a tournament in this state whose first round has ended."""
    with world.database.write() as session:
        moment = world.clock.utc_now()
        made = Tournament(
            id="trn_" + "0" * 26, name="Cup", game="saint-poker", options={}, seats=2, format=format, cycles=1,
            rated=True, min_seats=2, bots_per_owner=1000, deal_sharing="own",
            budget_ms=1000, bank_ms=1000, status=state, created_by=organiser, created_at=moment,
            revision=1,
        )  # fmt: skip
        session.add(made)
        session.flush()
        add_round(session, made.id, 1, moment)
        return made.id


def add_round(session: Session, tournament_id: str, number: int, moment: datetime) -> None:
    row = {"tables": [], "byes": [], "label": "", "arranged": 0, "created_at": moment, "ended_at": moment}
    session.add(TournamentRound(tournament_id=tournament_id, number=number, **row))


def test_F13_an_organiser_only_proposes_and_an_operator_confirms(world: World, organiser: str, operator: str) -> None:
    played = world.play(world.bots(2), choice=1, created_by=organiser)

    void_id = propose(world, organiser, played.match_id)
    before = status_of(world, played.match_id)
    done = confirm(world, operator, void_id)

    assert (before, status_of(world, played.match_id)) == ("finished", "void")
    assert (done.matches, len(done.entry_seqs)) == ([played.match_id], 1)
    row = void_of(world, void_id)
    assert (row.state, row.proposed_by, row.decided_by, row.reason) == ("confirmed", organiser, operator, WHY)
    assert listed(world, played.match_id) == ["confirmed"]
    assert_audit_holds(world)


@on_one_database
def test_F13_neither_the_proposer_nor_an_owner_nor_an_organiser_confirms(world: World) -> None:
    organiser, other = world.account("organiser"), world.account("organiser")
    owning, operator = world.account("admin"), world.account("admin")
    played = world.play([world.bot(owning), world.bot()], created_by=organiser)
    by_organiser = propose(world, organiser, played.match_id)

    for account in (organiser, other):
        with pytest.raises(Forbidden, match="Only an operator"):
            confirm(world, account, by_organiser)
    with pytest.raises(Forbidden, match="own a bot"):
        confirm(world, owning, by_organiser)

    assert (status_of(world, played.match_id), void_of(world, by_organiser).state) == ("finished", "proposed")
    assert confirm(world, operator, by_organiser).matches == [played.match_id]


@on_one_database
def test_F13_an_operator_voids_alone_unless_they_own_a_bot_in_the_match(world: World) -> None:
    owning, operator = world.account("admin"), world.account("admin")
    own, foreign = world.play([world.bot(owning), world.bot()]), world.play(world.bots(2))
    superseded = propose(world, world.account("organiser"), foreign.match_id)

    alone = ask(world, operator, foreign.match_id)
    void_id = propose(world, owning, own.match_id)
    with pytest.raises(Forbidden, match="own a bot"):
        confirm(world, owning, void_id)

    assert (alone.report.matches, alone.proposal) == ([foreign.match_id], None)
    assert sorted(listed(world, foreign.match_id)) == ["confirmed", "superseded"]
    with pytest.raises(Conflict, match="superseded"):
        confirm(world, operator, superseded)
    assert status_of(world, own.match_id) == "finished"
    assert_audit_holds(world)


@on_one_database
def test_F13_an_operator_whose_bot_was_replaced_by_a_substitute_does_not_decide_even_of_an_unrated_match(
    world: World,
) -> None:
    owning, organiser = world.account("admin"), world.account("organiser")
    entrant, substitute, other = world.bot(owning), world.bot(), world.bot()
    at_table: dict[str, Any] = {"tournament_id": make_tournament(world, organiser), "tournament_round": 1}
    replaced = world.play([substitute, other], entrants=[entrant, other], table_no=1, **at_table)
    unrated = world.play([substitute, other], rated=False, table_no=2, **at_table)

    assert ask(world, owning, replaced.match_id).proposal is not None
    assert ask(world, organiser, unrated.match_id).proposal is not None


@on_one_database
def test_F13_a_proposal_is_declined_or_withdrawn_and_then_closed(world: World, organiser: str, operator: str) -> None:
    played = world.play(world.bots(2), created_by=organiser)
    first = propose(world, organiser, played.match_id)
    with pytest.raises(Conflict, match="proposed already"):
        ask(world, organiser, played.match_id)

    decide(world, void_proposals.decline, operator, first)
    second = propose(world, organiser, played.match_id)
    with pytest.raises(Forbidden, match="Only the account"):
        decide(world, void_proposals.withdraw, operator, second)
    decide(world, void_proposals.withdraw, organiser, second)

    for void_id, state in ((first, "declined"), (second, "withdrawn")):
        with pytest.raises(Conflict, match=state):
            confirm(world, operator, void_id)
    with pytest.raises(NotFound):
        confirm(world, operator, "vod_" + "0" * 26)
    assert sorted(listed(world, played.match_id)) == ["declined", "withdrawn"]
    assert status_of(world, played.match_id) == "finished"


@on_one_database
def test_a_stuck_match_and_a_friendly_are_voided_at_once(world: World, organiser: str) -> None:
    friendly = world.play(world.bots(2), rated=False, created_by=organiser)
    stuck = world.match(created_by=organiser)
    world.execute(update(StoredMatch).where(StoredMatch.id == stuck).values(status=MatchState.STUCK))

    assert ask(world, organiser, friendly.match_id).report.matches == [friendly.match_id]
    assert ask(world, organiser, stuck).report.matches == [stuck]
    assert (listed(world, friendly.match_id), listed(world, stuck)) == (["confirmed"], [])  # only what had ended


@on_one_database
def test_F13_a_voided_match_is_replaced_once(world: World, organiser: str, operator: str) -> None:
    tournament_id = make_tournament(world, organiser)
    seated = world.bots(2)
    played = world.play(seated, tournament_id=tournament_id, tournament_round=1, table_no=1)

    (again,) = confirm(world, operator, propose(world, organiser, played.match_id)).rematches
    (claim,) = world.claim(match_id=again)
    world.finish(claim)
    with pytest.raises(Conflict, match="replaced once"):
        ask(world, organiser, again, rematch=True)
    with pytest.raises(Conflict, match="replaced once"):
        ask(world, operator, again, rematch=True)
    last = confirm(world, operator, propose(world, organiser, again))

    assert (last.matches, last.rematches) == ([again], [])
    with world.database.read() as session:
        old, new = matches.get_match(session, played.match_id), matches.get_match(session, again)
        assert (new.rematch_of, [seat.bot_id for seat in matches.seats_of(session, [again])[again]]) == (old.id, seated)
        groups = [deal_groups.get_group(session, match.group_id).commitment for match in (old, new)]
        assert groups[0] != groups[1]
        assert voids.count_voided_matches(session, tournament_id) == 2
    assert_audit_holds(world)


@on_one_database
@pytest.mark.parametrize(("format", "replaced"), [("knockout", False), ("swiss", True)])
def test_what_the_bracket_has_decided_is_not_played_again(
    world: World, organiser: str, operator: str, format: str, replaced: bool
) -> None:
    tournament_id = make_tournament(world, organiser, format)
    played = world.play(world.bots(2), tournament_id=tournament_id, tournament_round=1, table_no=1)
    world.write(add_round, tournament_id, 2, world.clock.utc_now())

    if format == "knockout":
        with pytest.raises(Conflict, match="bracket is paired already"):
            ask(world, organiser, played.match_id, rematch=True)
    done = confirm(world, operator, propose(world, organiser, played.match_id))

    assert (done.matches, len(done.rematches)) == ([played.match_id], int(replaced))


@on_one_database
def test_a_proposal_that_became_impossible_is_refused_and_stays_open(
    world: World, organiser: str, operator: str
) -> None:
    tournament_id = make_tournament(world, organiser)
    played = world.play(world.bots(2), tournament_id=tournament_id, tournament_round=1, table_no=1)
    void_id = propose(world, organiser, played.match_id, rematch=True)
    world.execute(update(Tournament).values(status=TournamentState.FINISHED))

    with pytest.raises(Conflict, match="finished"):
        confirm(world, operator, void_id)

    assert (void_of(world, void_id).state, status_of(world, played.match_id)) == ("proposed", "finished")
    assert ask(world, world.account("admin"), played.match_id).report.matches == [played.match_id]  # without a rematch


def duplicates(world: World, organiser: str) -> list[str]:
    """Return two matches of the same bots with the same cards; the first has ended."""
    made = world.sharing([world.bots(2)] * 2, "duplicate", created_by=organiser)
    world.finish(world.claim(match_id=made[0])[0])
    return made


@on_one_database
def test_F13_cancelling_a_group_does_not_get_round_the_second_person(
    world: World, organiser: str, operator: str
) -> None:
    ended, open_match = duplicates(world, organiser)
    how = {"master_key": MASTER_KEY, "whole_group": True}

    with world.database.write() as session, pytest.raises(Conflict, match="Propose to void it"):
        match_cancellation.cancel_match(session, open_match, WHY, keep_results=True, **how)  # type: ignore[arg-type]
    void_id = propose(world, organiser, ended, group=True)
    proposed_for_both = listed(world, ended) + listed(world, open_match)
    done = confirm(world, operator, void_id)

    assert proposed_for_both == ["proposed", "proposed"]
    by_service, other = duplicates(world, organiser)
    world.write(match_cancellation.cancel_match, other, "upgrade", **how)  # type: ignore[arg-type]
    assert listed(world, by_service) == listed(world, other) == ["confirmed"]
    assert (done.matches, done.cancelled) == ([ended], [open_match])
    assert_audit_holds(world)


@pytest.mark.parametrize("action", ["confirm twice", "confirm and withdraw", "confirm and void", "propose twice"])
def test_F13_two_decisions_at_the_same_moment_have_one_effect(world: World, action: str) -> None:
    organiser, operators = world.account("organiser"), [world.account("admin") for _ in range(2)]
    tournament_id = make_tournament(world, organiser)
    for number in range(1, 4):
        played = world.play(world.bots(2), tournament_id=tournament_id, tournament_round=1, table_no=number)
        void_id = None if action == "propose twice" else propose(world, organiser, played.match_id)
        together = Barrier(2)

        def act(at: int, match_id: str = played.match_id, void_id: str | None = void_id) -> bool:
            together.wait(timeout=30)  # noqa: B023  # both threads end before the next round
            try:
                if void_id is None:
                    propose(world, organiser, match_id)
                elif at == 0 or action == "confirm twice":
                    confirm(world, operators[at], void_id)
                elif action == "confirm and void":
                    ask(world, operators[at], match_id)
                else:
                    decide(world, void_proposals.withdraw, organiser, void_id)
            except Conflict:
                return False
            return True

        with ThreadPoolExecutor(2) as threads:
            assert sum(threads.map(act, range(2))) == 1
        is_void = status_of(world, played.match_id) == MatchState.VOID
        with world.database.read() as session:
            entries = select(LedgerEntry).where(LedgerEntry.match_id == played.match_id, LedgerEntry.kind == "void")
            again = select(StoredMatch.id).where(StoredMatch.rematch_of == played.match_id)
            assert len(session.scalars(entries).all()) == len(session.scalars(again).all()) == int(is_void)
        states = sorted(listed(world, played.match_id))
        assert states in (["confirmed"], ["withdrawn"], ["proposed"], ["confirmed", "superseded"])
    assert_audit_holds(world)
