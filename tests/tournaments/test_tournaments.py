"""Tournaments from the first entry to the standings."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from referee.bots import bots
from referee.errors import BadOption, Conflict
from referee.match.time_limits import Limits
from referee.matches import matches
from referee.matches.tables import StoredMatch
from referee.standings import compute_standings
from referee.tournaments import entries, outcomes, tournaments
from referee.tournaments.requested_terms import Terms
from referee.workflows.voids import tournament_cancellation
from tests.database import scripted
from tests.database.queue import unclosed_groups
from tests.database.tournaments import begin, begun, create, edit, enter, entered, go_on, progress_of, start
from tests.database.world import GAME, World
from tests.surroundings import MASTER_KEY

SOON = datetime(2099, 1, 1, tzinfo=UTC)


def test_a_round_robin_is_played_to_its_table(world: World) -> None:
    tournament_id, seated = begun(world, 4, cycles=2)
    before = progress_of(world, tournament_id)

    first, *others = world.claim(50)
    world.finish(first)
    early = progress_of(world, tournament_id)
    for claim in others[:5]:
        world.finish(claim)
    halfway = progress_of(world, tournament_id)
    for claim in others[5:]:
        world.finish(claim)
    last = go_on(world.database, tournament_id)

    assert (before.total, before.done) == (12, 0)
    assert early.estimated_end is None  # one match is not enough for an estimate
    assert halfway.estimated_end is not None
    assert halfway.estimated_end > world.clock.moment - timedelta(seconds=1)
    after = progress_of(world, tournament_id)
    assert (last, after.done, after.total) == (["round over", "finished"], 12, 12)
    with world.database.read() as session:
        standings = compute_standings(seated, outcomes.load_outcomes(session, tournament_id))
        assert tournaments.get_tournament(session, tournament_id).status == "finished"
    assert [row.matches for row in standings] == [6] * 4
    assert sum(row.points for row in standings) == 12


def test_matches_come_up_in_the_order_of_their_rounds(world: World) -> None:
    begun(world, 4)

    rounds = []
    for _ in range(6):
        (claim,) = world.claim(1)
        rounds.append(world.read(matches.get_match, claim.match_id).tournament_round)

    assert rounds == [1, 1, 2, 2, 3, 3]


def test_E22_a_withdrawal_leaves_byes(world: World) -> None:
    tournament_id, seated = begun(world, 4, deal_sharing="own")
    claimed = world.claim(2)
    world.write(entries.withdraw_bot, tournament_id, seated[0])
    for claim in [*claimed, *world.claim(10)]:
        world.finish(claim)

    after = progress_of(world, tournament_id)
    assert after.by_status == {"finished": 4, "cancelled": 2}
    assert after.done == after.total
    with world.database.read() as session:
        assert unclosed_groups(session) == []
        listed = entries.list_entries(session, tournament_id).items
    assert [entry.withdrawn_at is None for entry, _ in listed] == [False, True, True, True]


def test_entries_are_for_verified_bots_once_and_before_the_start(world: World) -> None:
    tournament_id, seated = entered(world, 2)
    paused = world.bot()
    world.write(bots.pause, paused)

    for bot, error in ((seated[0], "already"), (paused, "paused")):
        with pytest.raises(Conflict, match=error):
            enter(world, tournament_id, bot)
    begin(world, tournament_id)
    with pytest.raises(Conflict, match="running"):
        enter(world, tournament_id, world.bot())
    with pytest.raises(Conflict, match="running"):
        start(world, tournament_id)


def test_a_bot_that_withdrew_may_come_back_in_its_old_place(world: World) -> None:
    tournament_id, seated = entered(world, 3)
    with world.database.write() as session:
        entries.withdraw_bot(session, tournament_id, seated[0])
        entries.enter_bot(session, tournament_id, seated[0])
        listed = entries.list_entries(session, tournament_id).items

    assert [entry.bot_id for entry, _ in listed] == seated


def test_a_cancelled_tournament_keeps_the_results_it_has(world: World) -> None:
    tournament_id, _ = begun(world, 3)
    (claim,) = world.claim(1)
    world.finish(claim)
    world.claim(1)
    world.write(tournament_cancellation.cancel_tournament, tournament_id, master_key=MASTER_KEY)

    assert progress_of(world, tournament_id).by_status == {"finished": 1, "cancelled": 2}
    assert world.claim(5) == []
    assert world.read(unclosed_groups) == []


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        ({"format": "league"}, "format"),
        ({"cycles": 0}, "cycles"),
        ({"format": "knockout", "cycles": 2}, "cycles"),
        ({"format": "knockout", "format_options": {"best_of": 0}}, "format_options.best_of"),
        ({"format": "knockout", "format_options": {"seeding": ["rating"]}}, "format_options.seeding"),
        ({"format": "swiss", "format_options": {"round": 5}}, "format_options.round"),
        ({"deal_sharing": "some"}, "deal_sharing"),
        ({"deal_sharing": "duplicate"}, "trusted"),
        ({"deal_sharing": "duplicate", "trusted": True, "orders": "any"}, "orders"),
        ({"substitute": "nobody"}, "substitute"),
        ({"late_entry": True}, "late_entry"),
        ({"min_seats": 3}, "min_seats"),
        ({"bots_per_owner": 0}, "bots_per_owner"),
        ({"max_entries": 201}, "max_entries"),  # of a round robin
        ({"max_entries": 4, "min_entries": 5}, "min_entries"),
        ({"min_entries": 1}, "min_entries"),
        ({"starts_at": SOON, "entries_close_at": SOON + timedelta(days=1)}, "entries_close_at"),
        ({"listed": False}, "listed"),  # it is rated by default
        ({"seats": 99}, "seats"),
        ({"options": {"x": 1}}, "options.x"),
    ],
    ids=str,
)
def test_what_cannot_be_held_is_refused(bad: dict[str, Any], field: str) -> None:
    usual: dict[str, Any] = {"name": "A Cup", "game": GAME, "options": {}, "seats": 2, "limits": Limits()}

    with pytest.raises(BadOption) as refused:
        Terms(**{**usual, **bad}).columns()

    assert refused.value.field == field


def test_a_draft_is_edited_as_a_whole_and_usual_deals_stay_usual(world: World) -> None:
    tournament_id = create(world, status="draft")

    def edited(**changes: Any) -> tuple[str, dict[str, Any], str]:
        draft = edit(world, tournament_id, **changes)
        return draft.format, draft.format_options, draft.deal_sharing

    assert edited(rated=False) == ("round_robin", {}, "own")
    assert edited(format="swiss", rated=True) == ("swiss", {"rounds": None}, "common")
    assert edited(format_options={"rounds": 4}) == ("swiss", {"rounds": 4}, "common")
    assert edited(deal_sharing="duplicate", trusted=True) == ("swiss", {"rounds": 4}, "duplicate")
    with pytest.raises(BadOption, match="trusted"):
        edited(trusted=False)
    assert edited(format="gauntlet", deal_sharing=None)[2] == "common"


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_match_that_is_played_again_is_waited_for(world: World) -> None:
    tournament_id, _ = begun(world, 4, format="swiss", format_options={"rounds": 2}, deal_sharing="own")
    scripted.play_due(world.database, tournament_id)
    match_id = world.one(select(StoredMatch.id).where(StoredMatch.table_no == 2))
    world.void(match_id, "the bot was not itself", rematch=True)

    assert go_on(world.database, tournament_id) == []
    scripted.play_due(world.database, tournament_id)
    assert go_on(world.database, tournament_id) == ["round over", "paired", "arranged"]
    scripted.play_due(world.database, tournament_id)
    go_on(world.database, tournament_id)

    counted = world.read(outcomes.load_outcomes, tournament_id)
    assert [outcome.tournament_round for outcome in counted] == [1, 1, 2, 2]
    assert progress_of(world, tournament_id).by_status == {"finished": 4, "void": 1}
