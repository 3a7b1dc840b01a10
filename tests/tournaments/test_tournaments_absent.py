"""Absent bots: preflight, substitutes, changed versions, withdrawals, late entries."""

from datetime import timedelta
from random import Random
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from referee.bots import bots, handshakes, house_bots
from referee.bots.tables import Bot
from referee.errors import BadOption, Conflict
from referee.matches.tables import MatchSeat, StoredMatch
from referee.tournaments import entries, lifecycle, outcomes
from referee.tournaments.tables import Tournament, TournamentEntry, TournamentRound
from referee.workflows.bots import handshake_results
from referee.workflows.voids import tournament_cancellation
from tests.database import scripted
from tests.database.checks import on_one_database
from tests.database.tournaments import (
    answer_handshakes,
    begin,
    begun,
    create,
    enter,
    entered,
    go_on,
    play_all,
    progress_of,
    start,
    status_of,
)
from tests.database.world import MANIFEST, World, certify, manifest_of
from tests.surroundings import MASTER_KEY


def entry_of(world: World, tournament_id: str, bot_id: str) -> TournamentEntry:
    return world.read(Session.get_one, TournamentEntry, (tournament_id, bot_id))


def seats(world: World, tournament_id: str) -> list[Any]:
    """(round, bot, whose seat it is, seat rated, match rated) of all seats."""
    query = select(
        StoredMatch.tournament_round, MatchSeat.bot_id, MatchSeat.entrant_id, MatchSeat.rated, StoredMatch.rated
    )
    query = query.join(MatchSeat, MatchSeat.match_id == StoredMatch.id).where(
        StoredMatch.tournament_id == tournament_id
    )
    with world.database.read() as session:
        return [
            tuple(row)
            for row in session.execute(
                query.order_by(StoredMatch.tournament_round, StoredMatch.table_no, MatchSeat.seat)
            )
        ]


def new_version(world: World, bot_id: str, version: str) -> None:
    with world.database.write() as session:
        bots.request_handshake(session, bot_id)
        (handshake,) = handshakes.claim_due_handshakes(session)
        manifest = manifest_of(version, MANIFEST.games, 100)
        certify(session, bot_id, manifest)
        handshake_results.finish_handshake(session, bot_id, handshake.epoch, {"ok": True}, manifest)


def test_no_match_is_arranged_before_every_bot_was_called(world: World) -> None:
    tournament_id, seated = entered(world, 3)
    start(world, tournament_id)

    assert go_on(world.database, tournament_id) == []
    assert {world.read(bots.get_bot, one).handshake_state for one in seated} == {"due"}
    assert (progress_of(world, tournament_id).done, progress_of(world, tournament_id).total) == (0, 3)
    answer_handshakes(world.database)
    assert go_on(world.database, tournament_id)[:2] == ["settled", "begun"]
    assert {entry_of(world, tournament_id, one).preflight for one in seated} == {"ready"}
    assert {entry_of(world, tournament_id, one).version for one in seated} == {"1.0"}


@on_one_database
def test_calls_that_nobody_makes_hold_an_event_up_for_a_while_only(world: World) -> None:
    tournament_id, _ = entered(world, 3)
    start(world, tournament_id)

    world.clock.moment += timedelta(minutes=2)

    assert "arranged" in go_on(world.database, tournament_id)


def test_an_absent_bot_rests_keeps_its_place_and_comes_back(world: World) -> None:
    tournament_id, seated = entered(world, 4, format="swiss", format_options={"rounds": 2})
    away = seated[0]
    begin(world, tournament_id, absent=[away])

    assert entry_of(world, tournament_id, away).preflight == "absent"
    assert "unreachable" in str(entry_of(world, tournament_id, away).preflight_reason)
    assert world.read(bots.get_bot, away).status == "verified"  # it failed to answer once; it may be present elsewhere
    assert away not in {bot for _, bot, *_ in seats(world, tournament_id)}

    world.clock.moment += timedelta(minutes=2)
    assert go_on(world.database, tournament_id) == ["settled"]  # it is called again
    answer_handshakes(world.database)
    go_on(world.database, tournament_id)
    assert entry_of(world, tournament_id, away).preflight == "ready"
    scripted.play_due(world.database, tournament_id)
    go_on(world.database, tournament_id)
    assert away in {bot for number, bot, *_ in seats(world, tournament_id) if number == 2}


def test_a_house_bot_takes_an_absent_seat_which_does_not_count(world: World) -> None:
    tournament_id, seated = entered(world, 3, seats=3, substitute="house:3", game="pool-nap")
    away = seated[1]
    begin(world, tournament_id, absent=[away])
    substitute = world.write(house_bots.get_or_create_house_bot, "house:3").id

    assert {(bot, entrant, counts) for _, bot, entrant, counts, _ in seats(world, tournament_id)} == {
        (seated[0], None, True),
        (substitute, away, False),
        (seated[2], None, True),
    }
    assert all(match_rated for *_, match_rated in seats(world, tournament_id))
    scripted.play_due(world.database, tournament_id)
    go_on(world.database, tournament_id)
    (outcome,) = world.read(outcomes.load_outcomes, tournament_id)
    assert outcome.scored is not None
    assert dict(zip(outcome.entrants, outcome.scored, strict=True)) == dict.fromkeys(seated, True) | {away: False}
    assert status_of(world, tournament_id)[0] == "finished"


@on_one_database
def test_an_event_left_with_too_few_bots_is_open_again_and_says_why(world: World) -> None:
    tournament_id, seated = entered(world, 2)
    begin(world, tournament_id, absent=seated[:1])

    status, reason = status_of(world, tournament_id)

    assert (status, seats(world, tournament_id)) == ("open", [])
    assert "only 1 bot is entered" in str(reason)
    begin(world, tournament_id)
    assert status_of(world, tournament_id) == ("running", None)


@pytest.mark.parametrize("substitute", [None, "house:3"])
def test_F8_a_bot_that_changes_its_version_leaves_an_event_that_froze_it(world: World, substitute: str | None) -> None:
    tournament_id, seated = begun(world, 3, frozen_version=True, substitute=substitute)

    new_version(world, seated[0], "2.0")
    go_on(world.database, tournament_id)

    assert entry_of(world, tournament_id, seated[0]).version_changed_at is not None
    statuses = sorted(world.scalars(select(StoredMatch.status).where(StoredMatch.tournament_id == tournament_id)))
    if substitute is None:
        assert statuses == ["cancelled", "cancelled", "due"]
        return
    assert statuses == ["due"] * 3
    assert seated[0] not in {bot for _, bot, *_ in seats(world, tournament_id)}
    with world.database.read() as session:
        names = session.scalars(select(MatchSeat.bot_name).where(MatchSeat.entrant_id.is_not(None)))
        assert list(names) == ["House 3 Sound"] * 2
    assert sorted(rated for *_, rated in seats(world, tournament_id)[::2]) == [False, False, True]
    new_version(world, seated[0], "1.0")
    go_on(world.database, tournament_id)
    assert entry_of(world, tournament_id, seated[0]).substitute_id is None


@on_one_database
def test_F8_a_changed_version_is_marked_where_it_is_allowed(world: World) -> None:
    tournament_id, seated = begun(world, 3)

    new_version(world, seated[0], "2.0")

    assert go_on(world.database, tournament_id) == ["settled"]
    assert entry_of(world, tournament_id, seated[0]).version_changed_at is not None
    assert len(world.claim(10)) == 3


def test_late_entries_play_from_the_next_round_on(world: World) -> None:
    with pytest.raises(BadOption, match="late_entry"):
        create(world, late_entry=True)
    tournament_id, seated = begun(world, 4, format="swiss", late_entry=True, format_options={"rounds": 2})
    late = world.bot()

    enter(world, tournament_id, late)
    answer_handshakes(world.database)
    go_on(world.database, tournament_id)

    assert entry_of(world, tournament_id, late).first_round == 2
    assert late not in {bot for _, bot, *_ in seats(world, tournament_id)}
    scripted.play_due(world.database, tournament_id)
    world.write(entries.withdraw_bot, tournament_id, seated[0])
    go_on(world.database, tournament_id)
    playing = {bot for number, bot, *_ in seats(world, tournament_id) if number == 2}
    assert playing == {late, *seated[1:]}


@on_one_database
def test_F8_a_frozen_version_is_that_of_the_first_answer_also_of_late_entries(world: World) -> None:
    tournament_id, seated = begun(world, 4, format="swiss", late_entry=True, frozen_version=True)
    late = world.bot()
    with world.database.write() as session:
        entries.withdraw_bot(session, tournament_id, seated[0])
        session.execute(update(Bot).where(Bot.id.in_([seated[0], late])).values(version="2.0"))
        for bot_id in (seated[0], late):
            certify(session, bot_id, manifest_of("2.0", MANIFEST.games, 100))

    enter(world, tournament_id, seated[0], late)
    answer_handshakes(world.database)
    go_on(world.database, tournament_id)
    play_all(world, tournament_id)

    assert [entry_of(world, tournament_id, one).version for one in (late, seated[0])] == ["2.0", "1.0"]
    later = {bot for number, bot, *_ in seats(world, tournament_id) if number > 1}
    assert late in later
    assert seated[0] not in later


@on_one_database
def test_seeds_are_set_by_hand_before_the_start(world: World) -> None:
    tournament_id, seated = entered(world, 4, format="knockout", format_options={"seeding": "hand"})

    for bad in ({seated[0]: 0}, {"bot_" + "0" * 26: 1}, {seated[0]: 2, seated[1]: 2}):
        with pytest.raises(BadOption, match="seeds"), world.database.write() as session:
            entries.set_seeds(session, tournament_id, bad)
    world.write(entries.set_seeds, tournament_id, {bot: 4 - at for at, bot in enumerate(seated)})
    begin(world, tournament_id)

    tables = world.get_one(TournamentRound, (tournament_id, 1)).tables
    assert {frozenset(table["entrants"]) for table in tables} == {
        frozenset((seated[3], seated[0])),
        frozenset((seated[2], seated[1])),
    }
    with pytest.raises(Conflict), world.database.write() as session:
        entries.set_seeds(session, tournament_id, {seated[0]: 1})


@on_one_database
def test_siblings_take_part_and_share_no_deal(world: World) -> None:
    owner = world.account()
    seated = [world.bot(owner), world.bot(owner), *world.bots(2)]
    tournament_id = create(world, bots_per_owner=2)
    enter(world, tournament_id, *seated)
    begin(world, tournament_id)

    with world.database.read() as session:
        query = select(StoredMatch.group_id, StoredMatch.id, Bot.owner_id).join(
            MatchSeat, MatchSeat.match_id == StoredMatch.id
        )
        rows = set(session.execute(query.join(Bot, Bot.id == MatchSeat.bot_id)).all())
        rated = sorted(session.scalars(select(StoredMatch.rated)))
    assert rated == [False, *[True] * 5]  # the match of one owner's bots is not rated
    met = [(group_id, one) for group_id, _, one in rows]
    assert len(set(met)) == len(met)  # no owner has a deal at two tables


@on_one_database
def test_a_paused_event_goes_on_with_nothing(world: World) -> None:
    tournament_id, _ = begun(world, 4, format="swiss")
    world.write(lifecycle.pause, tournament_id)
    paused = progress_of(world, tournament_id)

    assert go_on(world.database, tournament_id) == []
    world.write(lifecycle.resume, tournament_id)
    play_all(world, tournament_id)
    assert (paused.by_status, paused.tournament_round, paused.estimated_end) == ({"waiting": 2}, 1, None)
    assert status_of(world, tournament_id)[0] == "finished"


@on_one_database
def test_cancelling_says_why_and_breaks_duplicate_groups_off_whole(world: World) -> None:
    tournament_id, _ = begun(world, 2, deal_sharing="duplicate", trusted=True)
    scripted.play_due(world.database, tournament_id, limit=1)
    world.write(
        tournament_cancellation.cancel_tournament, tournament_id, master_key=MASTER_KEY, reason="the hall is on fire"
    )

    assert status_of(world, tournament_id) == ("cancelled", "the hall is on fire")
    assert progress_of(world, tournament_id).by_status == {"void": 1, "cancelled": 1}


@pytest.mark.parametrize(
    ("url", "format"),
    [("sqlite", "round_robin"), ("postgresql", "swiss"), ("sqlite", "knockout"), ("sqlite", "gauntlet")],
    indirect=["url"],
)
def test_whoever_comes_goes_and_comes_back_the_event_comes_to_its_end(world: World, format: str) -> None:
    dice = Random(format)
    terms: dict[str, Any] = {"late_entry": True} if format == "swiss" else {}
    tournament_id, seated = begun(world, 6, format=format, **terms)

    for _ in range(100):
        if status_of(world, tournament_id)[0] == "finished":
            break
        scripted.play_due(world.database, tournament_id, limit=dice.randint(1, 3))
        with world.database.write() as session:
            tournament = session.get_one(Tournament, tournament_id)
            if dice.random() < 0.2 and tournament.status == "running":
                entries.withdraw_bot(session, tournament_id, dice.choice(seated))
        if format == "swiss" and dice.random() < 0.4:
            seated.append(world.bot())
            if status_of(world, tournament_id)[0] == "running":
                enter(world, tournament_id, seated[-1])
                answer_handshakes(world.database)
        go_on(world.database, tournament_id)

    after = progress_of(world, tournament_id)
    assert (status_of(world, tournament_id)[0], after.done) == ("finished", after.total)
    for bot in seated:  # nobody plays twice in a round
        rounds = [number for number, one, *_ in seats(world, tournament_id) if one == bot]
        assert format == "knockout" or len(set(rounds)) == len(rounds)
