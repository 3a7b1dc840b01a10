"""Tournaments at tables of two sizes in a real database: terms, options, matches, progress."""

from typing import Any

import pytest
from sqlalchemy import select

from referee.errors import BadOption
from referee.match.time_limits import Limits
from referee.matches.tables import StoredMatch
from referee.pairing.knockout import rank_entrants
from referee.tournaments.requested_terms import Terms
from referee.tournaments.rounds import load_state
from referee.tournaments.table_options import fewest_seats, options_at, table_sizes
from referee.tournaments.tables import Tournament, TournamentRound
from tests.database.checks import on_one_database
from tests.database.tournaments import begun, play_all
from tests.database.world import World


def terms_of(**terms: Any) -> Terms:
    usual = {"name": "A Cup", "game": "rummy-royal", "seats": 4, "options": {}, "limits": Limits(), "format": "swiss"}
    return Terms(**{**usual, **terms})


def columns(**terms: Any) -> dict[str, Any]:
    return terms_of(**terms).columns()


@pytest.mark.parametrize(
    ("terms", "least"),
    [
        ({}, 2),
        ({"format": "knockout"}, 2),
        ({"format": "round_robin"}, 4),
        ({"seats": 2}, 2),
        ({"min_seats": 3}, 3),
        ({"min_seats": 4}, 4),
        ({"format": "round_robin", "min_seats": 3}, 3),
        ({"deal_sharing": "duplicate", "trusted": True}, 4),
        ({"deal_sharing": "duplicate", "trusted": True, "format": "knockout"}, 2),
        ({"game": "prisoners"}, 2),
        ({"game": "prisoners", "options": {"decks": 2}}, 4),  # PR-02: three seats have one deck
    ],
)
def test_tables_are_as_small_as_game_and_format_allow(terms: dict[str, Any], least: int) -> None:
    assert columns(**terms)["min_seats"] == least


@pytest.mark.parametrize(
    ("terms", "reason"),
    [
        ({"min_seats": 5}, "must be from 2 to 4"),
        ({"min_seats": 1}, "must be from 2 to 4"),
        ({"min_seats": 3, "deal_sharing": "duplicate", "trusted": True}, "with duplicate deals"),
        ({"min_seats": 3, "game": "prisoners", "options": {"decks": 2}}, "tables of 3 cannot play with these options"),
    ],
)
def test_tables_that_cannot_be_played_are_refused(terms: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadOption, match=reason) as refused:
        columns(**terms)

    assert refused.value.field == "min_seats"


def test_defaults_of_options_are_those_of_the_smaller_table() -> None:
    complete = columns()["options"]

    assert complete["deals"] == 8
    assert options_at("rummy-royal", 4, complete, 3)["deals"] == 6  # everyone deals twice
    assert options_at("rummy-royal", 4, complete | {"deals": 5}, 3)["deals"] == 5
    assert fewest_seats("rummy-royal", 4, complete) == 2


def test_a_draft_follows_its_other_terms() -> None:
    draft = terms_of(**{name: columns()[name] for name in ("min_seats", "options")})
    full = terms_of(min_seats=4, options=columns()["options"])

    assert draft.with_changes({"format": "round_robin"}).columns()["min_seats"] == 4
    assert draft.with_changes({"seats": 5, "options": {}}).columns()["min_seats"] == 2
    assert full.with_changes({"seats": 3, "options": {}}).columns()["min_seats"] == 3


def play(world: World, count: int, **terms: Any) -> Tournament:
    tournament_id, _ = begun(world, count, **terms)
    play_all(world, tournament_id)
    with world.database.read() as session:
        tournament = session.get_one(Tournament, tournament_id)
        assert tournament.status == "finished"
        return tournament


def load_matches(world: World, tournament_id: str) -> list[StoredMatch]:
    return world.scalars(select(StoredMatch).where(StoredMatch.tournament_id == tournament_id))


@on_one_database
def test_a_swiss_of_five_plays_at_tables_of_three_and_two(world: World) -> None:
    tournament = play(world, 5, seats=3, format="swiss", format_options={"rounds": 3})

    matches = load_matches(world, tournament.id)
    rounds = world.scalars(select(TournamentRound).where(TournamentRound.tournament_id == tournament.id))
    assert sorted(match.seats for match in matches) == [2, 2, 2, 3, 3, 3]
    assert tournament.expected_matches == 6
    assert not any(tournament_round.byes for tournament_round in rounds)
    assert len({match.group_id for match in matches}) == 6  # tables of different sizes have different cards
    assert table_sizes(tournament, 5) == [3, 2]
    assert table_sizes(tournament, 6) == [3]
    assert table_sizes(tournament, 1) == [3]


@on_one_database
def test_a_knockout_in_duplicate_deals_rotates_the_seats_of_each_table(world: World) -> None:
    tournament = play(world, 5, seats=3, format="knockout", deal_sharing="duplicate", trusted=True)

    matches = load_matches(world, tournament.id)
    sizes = sorted((match.tournament_round, match.seats) for match in matches)
    assert sizes == [(1, 2)] * 2 + [(1, 3)] * 3 + [(2, 2)] * 2
    assert len({match.group_id for match in matches}) == 3


@on_one_database
def test_full_tables_leave_bots_over_as_before(world: World) -> None:
    tournament = play(world, 5, seats=3, min_seats=3, format="swiss", format_options={"rounds": 2})

    assert {match.seats for match in load_matches(world, tournament.id)} == {3}


@on_one_database
def test_a_duplicate_set_counts_as_one_leg(world: World) -> None:
    more = {"deal_sharing": "duplicate", "trusted": True, "format_options": {"best_of": 3}}
    tournament = play(world, 2, format="knockout", **more)

    state = world.read(load_state, tournament)
    assert len(state.played) == 1
    assert len(state.played[0].legs[0]) in (2, 3)
    assert len(rank_entrants(state)) == 2
