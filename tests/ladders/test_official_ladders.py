"""Official ladders: the file of the operator, the names of ladders, members, and the matches that the service makes."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from referee.bots import bots
from referee.errors import BadOption
from referee.games import catalogue
from referee.ladders import ladder_names, members, official_matches, ratings
from referee.ladders.official import OfficialLadder, load_official_ladders
from referee.ladders.tables import Ladder, LadderMember, LadderPlayer
from referee.settings import BadSettings
from referee.workflows.bots import pausing
from tests.database.checks import on_one_database
from tests.database.world import GAME, World, manifest_of
from tests.ladders.official_play import end_all, finish_all, later, member_of, poker_bot, prepare, seated, sweep
from tests.surroundings import MASTER_KEY

STANDARD = {"saint-poker": 2, "pool-nap": 4, "prisoners": 4, "prince-albert": 4, "rummy-royal": 4}
POKER = "[[ladder]]\ngame = 'saint-poker'\nseats = 2\ndaily_matches = 48\n"


# -- the file --


def test_the_packaged_file_has_a_ladder_for_each_game_at_its_standard_seats() -> None:
    found = load_official_ladders()

    assert {ladder.game: ladder.seats for ladder in found} == STANDARD
    assert {ladder.game for ladder in found} == {*catalogue()}
    for ladder in found:
        assert ladder.options == catalogue()[ladder.game].start(ladder.seats, {}).options


def test_an_operators_file_replaces_it(tmp_path: Path) -> None:
    path = tmp_path / "ladders.toml"
    path.write_text(POKER + "name = 'Short poker'\noptions = { rounds = 3 }\n")

    (ladder,) = load_official_ladders(path)

    assert (ladder.name, ladder.options["rounds"], ladder.options["final_pickup"]) == ("Short poker", 3, True)
    path.write_text("")
    assert load_official_ladders(path) == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[[ladder]", "is not valid TOML"),
        ("ladders = 1", "unknown key 'ladders'"),
        ("[ladder]\ngame = 'pool-nap'", "two brackets"),
        (POKER + "pace = 1", r"ladder 1: unknown key 'pace'; available: game, name, seats"),
        (POKER.replace("saint-", ""), "ladder 1: game must be one of pool-nap, .*, not 'poker'"),
        ("[[ladder]]\nseats = 2", "ladder 1: game must be one of"),
        (POKER.replace("seats = 2", "seats = 6"), "seats must be a whole number from 2 to 5, not 6"),
        (POKER.replace("seats = 2", "seats = true"), "not True"),
        (POKER.replace("48", "0"), "daily_matches must be a whole number from 1 to 100000, not 0"),
        (POKER.replace("daily_matches = 48", ""), "not None"),
        (POKER + "options = { rounds = 99 }", r"ladder 1 \(saint-poker\): option rounds: expected a whole number"),
        (POKER + "options = 3", "options must be a table"),
        (POKER + "name = ' x'", "without spaces at its ends"),
        (POKER + "name = ''", "1 to 60 characters"),
        (POKER + POKER, "two listed ladders have the game 'saint-poker'"),
        (
            POKER + POKER + "unlisted = true\nname = 'L'",
            r"two ladders have the game, seats and options \('saint-poker', 2,",
        ),
        (POKER + "unlisted = 1\n", r"ladder 1 \(saint-poker\): unlisted must be true or false, not 1"),
        (POKER + POKER.replace("saint-poker", "pool-nap") + "name = 'Saint Poker'", "two ladders have the name"),
    ],
)
def test_an_invalid_file_is_refused_with_the_place_and_what_was_expected(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "ladders.toml"
    path.write_text(text)

    with pytest.raises(BadSettings, match=why) as refused:
        load_official_ladders(path)

    assert str(path) in str(refused.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match="cannot be read: No such file"):
        load_official_ladders(tmp_path / "nowhere.toml")


# -- names --


@pytest.mark.parametrize(
    ("game", "seats", "options", "name"),
    [
        ("pool-nap", 5, {"bid_cover": False}, "Pool Nap, 5 seats, no bid cover"),
        ("pool-nap", 4, {"ending": "last_player", "ante": 2}, "Pool Nap, 4 seats, ante 2, ending last player"),
        ("prisoners", 5, {}, "Prisoners, 5 seats"),
        ("rummy-royal", 3, {}, "Rummy Royal, 3 seats"),
        ("prince-albert", 4, {"cash": True, "vote": ["ties"]}, "Prince Albert, 4 seats, cash, vote ties"),
    ],
)
def test_a_variant_is_named_by_what_differs(game: str, seats: int, options: dict[str, Any], name: str) -> None:
    rules = catalogue()[game]
    standard = (rules.start(4, {}).options, 4)

    complete = rules.start(seats, options).options

    assert ladder_names.variant_name(game, complete, seats, standard) == name


def test_a_variant_of_a_changed_standard_is_named_by_what_differs_from_it() -> None:
    rules = catalogue()[GAME]
    standard = (rules.start(2, {"rounds": 3}).options, 2)

    plain = ladder_names.variant_name(GAME, rules.start(2, {}).options, 2, standard)
    short = ladder_names.variant_name(GAME, rules.start(3, {"rounds": 3}).options, 3, standard)

    assert (plain, short) == ("Saint Poker, 2 seats, rounds 8", "Saint Poker, 3 seats")


def test_a_name_that_is_taken_or_too_long_gets_the_id() -> None:
    assert ladder_names.make_unique("Poker", "lad_1", {"Poker"}) == "Poker (lad_1)"
    assert len(ladder_names.make_unique("x" * 500, "lad_1", set())) == 400


@on_one_database
def test_ladders_become_official_and_variants_again(world: World) -> None:
    rules = catalogue()[GAME]
    with world.database.write() as session:
        usual = ratings.get_or_create_ladder(session, GAME, rules.start(2, {}).options, 2).id
        short = ratings.get_or_create_ladder(session, GAME, rules.start(2, {"rounds": 3}).options, 2).id
        names = [ratings.get_ladder(session, one).name for one in (usual, short)]
    assert names == ["Saint Poker, 2 seats", "Saint Poker, 2 seats, rounds 3"]

    changes = prepare(world)
    assert prepare(world) == []
    with world.database.read() as session:
        found = ratings.list_ladders(session, limit=50).items
        listed = [(ladder.name, ladder.official) for ladder in found]

    assert listed == [(name, True) for name in
                      ("Pool Nap", "Prince Albert", "Prisoners", "Rummy Royal", "Saint Poker")] + [
                          ("Saint Poker, 2 seats, rounds 3", False)]  # fmt: skip
    assert any(f"ladder {usual}: Saint Poker (official, 48 matches a day for each bot" in line for line in changes)

    other = OfficialLadder(GAME, "Saint Poker", 2, dict(rules.start(2, {"rounds": 3}).options), 9)
    prepare(world, (other,))
    with world.database.read() as session:
        now = {one: ratings.get_ladder(session, one) for one in (usual, short)}

    assert (now[usual].name, now[usual].official) == ("Saint Poker, 2 seats, rounds 8", False)
    assert (now[short].name, now[short].official, now[short].daily_matches) == ("Saint Poker", True, 9)


@on_one_database
def test_a_new_default_of_a_game_begins_another_official_ladder(world: World) -> None:
    """In Prince Albert, a seat left to bid alone had a free choice by default, and now bids the maximum."""
    former = {**catalogue()["prince-albert"].start(4, {}).options, "forced_bid": "free"}
    prepare(world, (OfficialLadder("prince-albert", "Prince Albert", 4, former, 48),))
    seated = [world.bot(manifest=manifest_of(games=["prince-albert"])) for _ in range(4)]
    world.play(seated, game="prince-albert", options=former, rated=True)
    world.match(seated, game="prince-albert", options=former, rated=True)

    prepare(world)
    finish_all(world)

    def results() -> dict[str, tuple[bool, int]]:
        with world.database.read() as session:
            found = ratings.list_ladders(session, game="prince-albert").items
            return {ladder.name: (ladder.official, ladder.results) for ladder in found}

    variant = "Prince Albert, 4 seats, forced bid free"
    assert results() == {"Prince Albert": (True, 0), variant: (False, 2)}
    joined = world.read(members.list_memberships, seated[0])
    assert [(membership.ladder.name, membership.is_active) for membership in joined] == [("Prince Albert", True)]
    world.play(seated, game="prince-albert", rated=True)
    assert results() == {"Prince Albert": (True, 1), variant: (False, 2)}


# -- members --


def test_a_certified_bot_joins_the_ladders_of_its_games(world: World) -> None:
    prepare(world)

    bot_id = world.bot(manifest=manifest_of(games=[GAME, "pool-nap"]))

    with world.database.read() as session:
        joined = members.list_memberships(session, bot_id)
        counted = members.count_members(session, [one.ladder.id for one in joined])
    assert [(one.ladder.name, one.is_active) for one in joined] == [("Pool Nap", True), ("Saint Poker", True)]
    assert {*counted.values()} == {1}


def test_certified_bots_join_a_ladder_that_becomes_official(world: World) -> None:
    bot_id = poker_bot(world)

    prepare(world)

    assert member_of(world, bot_id).due_at is not None
    prepare(world, ())
    assert member_of(world, bot_id).due_at is None


def test_the_owner_switches_play_off_and_on_and_chooses_games(world: World) -> None:
    prepare(world)
    bot_id = world.bot(manifest=manifest_of(games=[GAME, "pool-nap"]))

    def change(**changes: Any) -> dict[str, bool]:
        with world.database.write() as session:
            members.change_settings(session, bots.get_bot(session, bot_id), changes)
            return {one.ladder.game: one.is_active for one in members.list_memberships(session, bot_id)}

    assert change(play="off") == {"pool-nap": False, GAME: False}
    assert sweep(world) == []
    assert change(play="on", games=[GAME]) == {"pool-nap": False, GAME: True}
    assert change(games=None) == {"pool-nap": True, GAME: True}
    with pytest.raises(BadOption, match="unknown game 'whist'"):
        change(games=["whist"])
    with pytest.raises(BadOption, match="switch its play off"):
        change(daily_maximum=0)


# -- matches --


def test_two_bots_of_two_owners_play_at_once(world: World) -> None:
    prepare(world)
    pair = {poker_bot(world), poker_bot(world)}

    (match,) = sweep(world)

    assert {*seated(world, match)} == pair
    assert match.rated
    assert match.ladder_id is not None
    assert not match.is_friendly
    assert sweep(world) == []  # one match at a time


def test_a_bot_alone_meets_house_players_after_30_s_and_then_at_once(world: World) -> None:
    prepare(world)
    bot_id = poker_bot(world)
    assert sweep(world) == []

    later(world, seconds=30)
    world.execute(update(LadderMember).where(LadderMember.bot_id == bot_id).values(matches=25))
    for number in range(25, 30):
        (match,) = sweep(world)
        assert bot_id in seated(world, match)
        assert not match.is_friendly
        end_all(world)
        assert member_of(world, bot_id).matches == number + 1
    assert sweep(world) == []  # from now on at the pace of the ladder

    later(world, minutes=30)
    assert len(sweep(world)) == 1


def test_matches_for_which_a_bot_was_called_early_count_towards_its_pace() -> None:
    ladder, player = Ladder(daily_matches=48), LadderPlayer(daily_maximum=None)
    midnight = datetime(2026, 1, 1, tzinfo=UTC)
    three = midnight + timedelta(hours=3)

    def due(matches: int, of_day: int, *, extra: int = 0) -> datetime:
        counts = {"matches": matches, "matches_of_day": of_day, "extra_of_day": extra, "immediate_until": 30}
        member = LadderMember(**counts, day=midnight.date(), last_match_at=three)
        return members.next_due(member, ladder, player, three)

    assert due(500, 3) == midnight + timedelta(hours=3, minutes=30)  # behind its pace, which it does not make up for
    assert due(500, 7) == midnight + timedelta(hours=3, minutes=30)  # the seventh was due at 3
    assert due(500, 20) == midnight + timedelta(hours=10)
    assert due(32, 32) == midnight + timedelta(hours=3, minutes=30)  # 30 of them were its first matches
    assert due(29, 29) == three
    assert due(500, 35, extra=15) == midnight + timedelta(hours=10)  # as if those of a new version were not there


def test_when_the_other_bots_have_had_their_matches_a_new_bot_meets_house_players_only(world: World) -> None:
    prepare(world)
    others = [poker_bot(world) for _ in range(3)]
    with world.database.write() as session:
        for member in session.scalars(select(LadderMember).where(LadderMember.bot_id.in_(others))):
            member.day, member.matches_of_day, member.matches = world.clock.moment.date(), 48, 100
    bot_id = poker_bot(world)
    later(world, seconds=31)

    for number in range(4):
        (match,) = sweep(world)
        assert bot_id in seated(world, match)
        end_all(world)
        assert member_of(world, bot_id).matches_since_house == 0
        assert member_of(world, bot_id).matches == number + 1


def test_siblings_never_meet(world: World) -> None:
    prepare(world)
    owner = world.account()
    pair = [poker_bot(world, owner_id=owner) for _ in range(2)]

    assert sweep(world) == []
    later(world, seconds=31)
    made = sweep(world)

    assert sorted(bot for match in made for bot in seated(world, match) if bot in pair) == sorted(pair)
    assert all(len({*seated(world, match)} & {*pair}) == 1 for match in made)


def test_the_daily_maximum_of_the_owner_is_kept_until_midnight(world: World) -> None:
    prepare(world)
    bot_id = poker_bot(world)
    with world.database.write() as session:
        members.change_settings(session, bots.get_bot(session, bot_id), {"daily_maximum": 3})
    later(world, seconds=30)
    made = 0
    for _ in range(5):
        made += len(sweep(world))
        end_all(world)
    assert made == 3
    midnight = world.clock.moment.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    assert member_of(world, bot_id).due_at == midnight

    later(world, days=1)
    assert len(sweep(world)) == 1


def test_a_bot_plays_its_games_in_turn_and_one_match_at_a_time(world: World) -> None:
    prepare(world)
    bot_id = world.bot(manifest=manifest_of(games=[GAME, "pool-nap"]))
    later(world, seconds=31)

    games = []
    for _ in range(4):
        (match,) = sweep(world)
        games.append(match.game)
        end_all(world)

    assert sorted(games) == ["pool-nap", "pool-nap", GAME, GAME]
    assert {member_of(world, bot_id, game).matches for game in (GAME, "pool-nap")} == {2}


def test_a_paused_bot_is_left_alone_until_it_is_resumed(world: World) -> None:
    prepare(world)
    bot_id = poker_bot(world)
    world.write(pausing.pause_bot, bot_id, "paused", master_key=MASTER_KEY)
    later(world, seconds=31)

    assert sweep(world) == []
    due_at = member_of(world, bot_id).due_at
    assert due_at is not None
    assert due_at > world.clock.moment + timedelta(minutes=50)
    world.write(pausing.resume_bot, bot_id)

    later(world, seconds=31)
    assert len(sweep(world)) == 1


@on_one_database
def test_a_sweep_in_which_nothing_is_due_costs_the_same_with_many_members(world: World, statements: list[str]) -> None:
    prepare(world)
    costs = []
    for more in (1, 15):
        for _ in range(more):
            poker_bot(world)
        while sweep(world):
            pass
        statements.clear()
        assert not world.read(official_matches.has_work, master_key=MASTER_KEY)
        costs.append(len([one for one in statements if one.startswith("SELECT")]))

    assert costs[1] <= max(costs[0], 4)
