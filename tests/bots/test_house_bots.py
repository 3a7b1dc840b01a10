"""House bots: created once, not editable, and never rated."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from referee.accounts import accounts
from referee.botclient.address_guard import Policy, parse_url
from referee.bots import bots, house_bots
from referee.bots.tables import Bot
from referee.errors import Conflict, NameTaken, NotFound, UrlRefused
from referee.games import catalogue
from referee.matches import matches
from referee.workflows.bots import retirement
from tests.database.world import START, World


def made(world: World, name: str = "house:3") -> str:
    return world.write(house_bots.get_or_create_house_bot, name).id


def test_a_house_bot_is_made_once_however_many_ask(world: World) -> None:
    with ThreadPoolExecutor(4) as threads:
        ids = list(threads.map(lambda _: made(world), range(4)))

    with world.database.write() as session:
        assert [bot.name for bot in house_bots.get_or_create_house_bots(session)] == [
            "House 1 Random",
            "House 2 Novice",
            "House 3 Sound",
            "House 4 Search",
        ]
        (sound,) = [bot for bot in house_bots.list_house_bots(session) if bot.url == "house:3"]
        with pytest.raises(NotFound):
            house_bots.get_or_create_house_bot(session, "house:5")
    assert ids == [sound.id] * 4
    assert (sound.status, sound.games, sound.handshake_state) == ("house", sorted(catalogue()), "idle")


def test_nobody_passes_for_a_house_bot_or_changes_one(world: World) -> None:
    bot_id, owner_id = made(world), world.account()

    with pytest.raises(UrlRefused, match="invalid_scheme"):
        parse_url("house:3", Policy.parse("127.0.0.1/32:1-65535", allow_http=True))
    with world.database.write() as session:
        with pytest.raises(NameTaken):
            bots.register(session, owner_id, "House-S0und", "http://127.0.0.1:9000")
        for name in ("House", "house", "House sound", "House 4 Search", "Referee", "Referee House 2"):
            with pytest.raises(NameTaken):
                accounts.create_account(session, name)
        for change in (bots.pause, bots.resume, retirement.retire_bot, bots.rotate_secret, bots.request_handshake):
            with pytest.raises(Conflict, match="house bot"):
                change(session, bot_id)
        with pytest.raises(Conflict, match="house bot"):
            bots.edit(session, bot_id, revision=1, name="My own")
        assert bot_id in [bot.id for bot in bots.list_bots(session).items]


def test_a_letter_that_looks_like_a_colon_makes_nobody_the_owner_of_house_bots(world: World) -> None:
    colon = "\N{LISU LETTER TONE MYA JEU}"
    owner_id = world.account()
    with world.database.write() as session:
        other = accounts.create_account(session, f"House{colon}").id
        with pytest.raises(NameTaken):
            bots.register(session, owner_id, f"house{colon}sound", "http://127.0.0.1:9000")

    with world.database.read() as session:
        assert session.get_one(Bot, made(world)).owner_id != other


def test_a_house_seat_is_not_rated_but_counts_and_two_of_them_do_not_make_siblings(world: World) -> None:
    first, second = world.bots(2)
    with world.database.write() as session:
        names = ("house:3", "house:1", "house:sound")
        sound, random, same = (house_bots.get_or_create_house_bot(session, name).id for name in names)
        assert same == sound
        alone = world.matched(session, [first, sound])
        event = world.matched(session, [sound, first, random, second])
        assert alone.rated
        assert event.rated
        seats = matches.seats_of(session, [event.id])[event.id]
        assert [seat.rated for seat in seats] == [False, True, False, True]

    (claim, _) = world.claim(2)

    with world.database.read() as session:
        seat = matches.seats_of(session, [claim.match_id])[claim.match_id][1]
        assert (seat.url, seat.bot_name) == ("house:3", "House 3 Sound")
        assert bots.get_bot(session, sound).created_at > START
