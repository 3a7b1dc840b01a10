"""Pictures are stored in limited numbers, on both kinds of database."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select

from referee_extras.pictures import store
from referee_extras.pictures.kinds import PictureKind
from referee_extras.pictures.store import WantedPicture
from referee_extras.pictures.tables import Picture
from tests.database.world import World

BOTS = [f"bot_{number:026d}" for number in range(3)]


def request(world: World, bot_id: str) -> None:
    with world.database.write() as session:
        store.request_check(session, PictureKind.BOT, bot_id)


def draw_next(world: World) -> WantedPicture:
    with world.database.read() as session:
        wanted = store.find_next(session)
    assert wanted is not None
    with world.database.write() as session:
        store.begin_check(session, wanted)
        store.store_picture(session, wanted, wanted.subject_id.encode(), "0" * 64, is_settled=False)
    return wanted


def test_pictures_are_drawn_in_the_order_of_their_requests(world: World) -> None:
    for bot_id in (*BOTS, BOTS[0]):
        request(world, bot_id)

    assert [draw_next(world).subject_id for _ in BOTS] == [BOTS[1], BOTS[2], BOTS[0]]
    with world.database.read() as session:
        assert store.find_next(session) is None
        found = store.find_picture(session, PictureKind.BOT, BOTS[0])
    assert (found.png, found.is_due) == (BOTS[0].encode(), False)


def test_the_same_id_has_a_picture_of_each_kind(world: World) -> None:
    request(world, BOTS[0])
    draw_next(world)

    with world.database.read() as session:
        assert store.find_picture(session, PictureKind.MATCH, BOTS[0]).png is None


def test_the_oldest_pictures_make_room(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_PICTURES", 2)
    for bot_id in BOTS:
        request(world, bot_id)
        draw_next(world)

    with world.database.read() as session:
        assert session.scalar(select(func.count()).select_from(Picture)) == 2
        kept = [store.find_picture(session, PictureKind.BOT, bot_id).png is not None for bot_id in BOTS]
    assert kept == [False, True, True]


def test_pictures_that_nobody_requested_are_kept_apart_until_their_first_request(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MAX_EARLY", 1)
    for bot_id in BOTS:
        with world.database.write() as session:
            wanted = store.find_early(session, PictureKind.BOT, [bot_id], timedelta(hours=1))
            assert wanted is not None
            store.begin_check(session, wanted)
            store.store_picture(session, wanted, b"png", "0" * 64, is_settled=False)
            assert store.find_early(session, PictureKind.BOT, [bot_id], timedelta(hours=1)) is None
            assert store.find_next(session) is None

    with world.database.read() as session:
        found = [store.find_picture(session, PictureKind.BOT, bot_id) for bot_id in BOTS]
    assert [picture.png for picture in found] == [None, None, b"png"]
    assert found[2].is_due

    request(world, BOTS[2])
    assert draw_next(world).subject_id == BOTS[2]
