"""Unlisted ladders: the file of the operator, who joins, and the lists that leave out the ladder and its matches."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from referee.bots import bots
from referee.errors import BadOption
from referee.games import catalogue
from referee.ladders import members, ratings
from referee.ladders.ladder_rows import load_rows
from referee.ladders.official import OfficialLadder, load_official_ladders
from referee.ladders.tables import Ladder
from referee.matches import matches
from referee.matches.lists.match_filters import MatchFilter
from referee.workflows.explaining.ladder_reasons import list_waiting_ladders
from referee.workflows.publishing import featured
from referee.workflows.publishing.log_downloads import LogSelection, find_logs
from tests.database.checks import on_one_database
from tests.database.world import GAME, World
from tests.ladders.official_play import finish_all, later, poker_bot, prepare, seated, sweep

OPTIONS = dict(catalogue()[GAME].start(2, {"rounds": 4}).options)
LEAGUE = OfficialLadder(GAME, "League", 2, OPTIONS, 48, unlisted=True)
POKER = "[[ladder]]\ngame = 'saint-poker'\nseats = 2\ndaily_matches = 48\n"
UNLISTED = POKER + "unlisted = true\nname = 'League'\n"


def prepare_league(world: World) -> str:
    """Make the packaged ladders and the league official. Return the id of the league."""
    prepare(world, (*load_official_ladders(), LEAGUE))
    return world.one(select(Ladder.id).where(Ladder.unlisted))


def change(world: World, bot_id: str, **changes: Any) -> set[str]:
    """Change the settings of the bot's owner. Return the ladders on which the bot plays then."""
    with world.database.write() as session:
        members.change_settings(session, bots.get_bot(session, bot_id), changes)
        return {one.ladder.name for one in members.list_memberships(session, bot_id) if one.is_active}


def test_a_file_may_have_unlisted_ladders_beside_the_listed_one(tmp_path: Path) -> None:
    path = tmp_path / "ladders.toml"
    path.write_text(POKER + UNLISTED + "options = { rounds = 4 }\n")

    assert [(one.name, one.unlisted) for one in load_official_ladders(path)] == [
        ("Saint Poker", False),
        ("League", True),
    ]


@on_one_database
def test_a_bot_joins_only_if_its_owner_names_the_id(world: World) -> None:
    league, bot_id = prepare_league(world), poker_bot(world)

    assert change(world, bot_id, games=[GAME]) == {"Saint Poker"}
    assert change(world, bot_id, unlisted=[league]) == {"Saint Poker", "League"}
    assert change(world, bot_id, games=["pool-nap"]) == {"League"}
    assert change(world, bot_id, play="off") == set()
    assert change(world, bot_id, play="on", unlisted=[]) == set()
    listed = world.one(select(Ladder.id).where(Ladder.name == "Saint Poker"))
    for wrong in (listed, "lad_" + "0" * 26):
        with pytest.raises(BadOption, match=f"{wrong} is not the id of an unlisted official ladder"):
            change(world, bot_id, unlisted=[wrong])


@on_one_database
def test_it_is_played_and_rated_like_others_but_in_no_list(world: World) -> None:
    league = prepare_league(world)
    seats = [poker_bot(world) for _ in range(2)]
    for bot_id in seats:
        change(world, bot_id, games=["pool-nap"], unlisted=[league])

    later(world, seconds=31)
    (match,) = sweep(world)
    finish_all(world)

    assert {*seated(world, match)} == {*seats}
    with world.database.read() as session:
        found = ratings.get_ladder(session, league)
        assert (match.ladder_id, match.rated, match.listed, found.results) == (league, True, False, 1)
        assert len(load_rows(session, league).page.items) == 2
        assert len(find_logs(session, LogSelection(ladder_id=league))) == 1
        assert len(find_logs(session, LogSelection())) == 0
        assert matches.list_matches(session, MatchFilter(bot_ids=seats[:1])).items == []
        assert featured.load_mean_ratings(session, [match.id]) == {}
        assert league not in {one.id for one in ratings.list_ladders(session).items}
        assert ratings.count_ladders_by_game(session)[GAME] == 1


@on_one_database
def test_only_who_chose_it_is_told_why_a_bot_waits_on_it(world: World) -> None:
    league, bot_id = prepare_league(world), poker_bot(world)

    def waiting_on() -> list[str]:
        with world.database.read() as session:
            bot = bots.get_bot(session, bot_id)
            return [one.ladder_id for one in list_waiting_ladders(session, bot, set(), of_bot=None)]

    assert league not in waiting_on()
    change(world, bot_id, unlisted=[league])
    assert league in waiting_on()


@on_one_database
def test_it_stays_unlisted_as_a_variant_and_bots_leave_a_ladder_that_becomes_unlisted(world: World) -> None:
    league, bot_id = prepare_league(world), poker_bot(world)

    prepare(world)
    former = world.read(ratings.get_ladder, league)
    assert (former.official, former.unlisted) == (False, True)

    (standard,) = [one for one in load_official_ladders() if one.game == GAME]
    hidden = OfficialLadder(GAME, standard.name, 2, standard.options, 48, unlisted=True)
    (told,) = prepare(world, (*(one for one in load_official_ladders() if one.game != GAME), hidden))
    assert told.endswith("Saint Poker (official, 48 matches a day for each bot, unlisted, 2 seats)")
    assert change(world, bot_id) == set()
