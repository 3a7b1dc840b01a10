"""Pictures are drawn after requests, again when what they show has changed, in limited numbers; what they show."""

from datetime import timedelta
from itertools import pairwise

import pytest
from sqlalchemy import func, select, update

from referee.accounts import accounts
from referee.bots import bots, house_bots
from referee.bots.tables import Bot
from referee.db.engine import Database
from referee.ladders.tables import Rating
from referee.matches.states import MatchState
from referee.matches.tables import StoredMatch
from referee_extras.pictures import drawer as picture_drawer
from referee_extras.pictures import store
from referee_extras.pictures.content_loading import load_content
from referee_extras.pictures.contents import PictureContent
from referee_extras.pictures.drawer import AGAIN_AFTER, LOOK_S, REST_FACTOR, PictureDrawer
from referee_extras.pictures.store import CHECK_AFTER, FOLLOW_EVERY
from referee_extras.pictures.tables import Picture, PictureKind
from tests.api.conftest import Person, Service
from tests.api.test_months import champion as champion
from tests.api.tournaments import CUP
from tests.database.tournaments import answer_handshakes, entered, go_on, start
from tests.database.world import FakeClock, World, create_group
from tests.workers.conftest import Clock


@pytest.fixture
def shared_world(database: Database) -> World:
    """Return a world on each kind of database."""
    return World(database)


@pytest.fixture
def world(sqlite_url: str) -> World:
    return World(Database(sqlite_url, clock=FakeClock()))


class Drawing:
    """Draw nothing, and keep what was to be drawn."""

    def __init__(self) -> None:
        self.drawn: list[PictureContent] = []

    def __call__(self, content: PictureContent) -> bytes:
        self.drawn.append(content)
        return content.digest().encode()


def look_at(world: World, kind: PictureKind, subject_id: str) -> bytes | None:
    """Look at a picture as a request does."""
    with world.database.read() as session:
        found = store.find_picture(session, kind, subject_id)
    if found.is_due:
        with world.database.write() as session:
            store.request_check(session, kind, subject_id)
    return found.png


def content_of(world: World, kind: PictureKind, subject_id: str) -> PictureContent:
    with world.database.read() as session:
        return load_content(session, kind, subject_id)


def count_drawn(drawing: Drawing, subject_id: str) -> int:
    return [content.subject for content in drawing.drawn].count(subject_id)


def pass_time(world: World, by: timedelta) -> None:
    world.clock.moment += by


def test_a_picture_is_drawn_once_it_was_requested_and_again_only_when_it_has_changed(world: World) -> None:
    drawing = Drawing()
    drawer, bot = PictureDrawer(world.database, drawing, Clock()), world.bot(name="Ada")
    assert drawer.step() == LOOK_S
    assert look_at(world, PictureKind.BOT, bot) is None

    drawer.step()
    first = look_at(world, PictureKind.BOT, bot)
    for _ in range(5):
        pass_time(world, 2 * CHECK_AFTER)
        assert look_at(world, PictureKind.BOT, bot) == first
        drawer.step()
    assert count_drawn(drawing, bot) == 1

    world.play([bot, world.bot()])
    look_at(world, PictureKind.BOT, bot)
    drawer.step()
    assert count_drawn(drawing, bot) == 1  # it was checked less than a minute ago
    pass_time(world, 2 * CHECK_AFTER)
    look_at(world, PictureKind.BOT, bot)
    drawer.step()
    assert count_drawn(drawing, bot) == 2
    assert look_at(world, PictureKind.BOT, bot) != first


def test_a_match_that_is_shown_as_live_is_followed_to_its_end_without_requests(world: World) -> None:
    drawing = Drawing()
    drawer = PictureDrawer(world.database, drawing, Clock())
    match_id = world.match()
    (claim,) = world.claim()
    look_at(world, PictureKind.MATCH, match_id)
    drawer.step()
    world.finish(claim)

    pass_time(world, 2 * FOLLOW_EVERY)
    drawer.step()

    assert [content.label for content in drawing.drawn] == ["live", "Match · finished"]
    while drawer.step() != LOOK_S:
        pass_time(world, 2 * FOLLOW_EVERY)
    assert count_drawn(drawing, match_id) == 2  # it is over
    with world.database.read() as session:
        assert store.find_picture(session, PictureKind.MATCH, match_id).is_settled


def test_a_flood_of_requests_waits_in_a_short_queue_and_is_drawn_at_a_limited_rate(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MAX_WAITING", 5)
    monkeypatch.setattr(picture_drawer, "MAX_PER_MINUTE", 3)
    drawing = Drawing()
    drawer, pair = PictureDrawer(world.database, drawing, Clock()), world.bots(2)
    for _ in range(7):
        match_id = world.match(pair)
        for _ in range(2):
            look_at(world, PictureKind.MATCH, match_id)
    with world.database.read() as session:
        assert session.scalar(select(func.count()).select_from(Picture)) == 5

    def draw_for_a_minute() -> int:
        before = len(drawing.drawn)
        for _ in range(6):
            drawer.step()
        return len(drawing.drawn) - before

    assert [draw_for_a_minute(), draw_for_a_minute()] == [3, 0]
    pass_time(world, timedelta(minutes=1, seconds=1))
    assert draw_for_a_minute() == 2


def test_what_cannot_be_drawn_or_is_gone_holds_up_no_other(world: World) -> None:
    def draw(content: PictureContent) -> bytes:
        if content.title == "Broken":
            raise ValueError("broken")
        return b"png"

    drawer, gone, broken, good = PictureDrawer(world.database, draw, Clock()), "bot_x", *world.bots(2)
    with world.database.write() as session:
        session.get_one(Bot, broken).name = "Broken"
    for bot_id in (gone, broken, good):
        look_at(world, PictureKind.BOT, bot_id)
    for _ in range(3):
        drawer.step()

    assert look_at(world, PictureKind.BOT, good) == b"png"
    assert drawer.step() == LOOK_S
    with world.database.read() as session:
        assert session.get(Picture, (PictureKind.BOT, gone)) is None


def test_the_drawer_rests_in_proportion_to_what_a_picture_takes(world: World) -> None:
    seconds = Clock()

    def slow(_: PictureContent) -> bytes:
        seconds.now_s += 0.25
        return b"png"

    look_at(world, PictureKind.BOT, world.bot())

    assert PictureDrawer(world.database, slow, seconds).step() == REST_FACTOR * 0.25


# -- before anybody asks --


def test_the_first_request_for_a_match_that_ended_gets_its_picture(world: World) -> None:
    drawing = Drawing()
    drawer, result = PictureDrawer(world.database, drawing, Clock()), world.play(world.bots(2), rated=True)
    subjects = [
        (PictureKind.MATCH, result.match_id),
        (PictureKind.LADDER, str(result.ladder_id)),
        *((PictureKind.BOT, str(bot_id)) for bot_id in result.bots),
    ]

    for _ in subjects:
        drawer.step()

    assert all(look_at(world, kind, subject_id) for kind, subject_id in subjects)
    for _ in range(2 * len(subjects)):
        drawer.step()
    assert sorted(content.subject for content in drawing.drawn) == sorted(subject_id for _, subject_id in subjects)


def test_a_bot_that_goes_on_playing_is_drawn_again_after_an_hour(world: World) -> None:
    drawing, (bot, *others) = Drawing(), world.bots(4)  # two owners exchange a limited number of points a day
    drawer = PictureDrawer(world.database, drawing, Clock())

    def draw_all() -> int:
        while drawer.step() != LOOK_S:
            pass
        return count_drawn(drawing, bot)

    world.play([bot, others[0]], rated=True)
    assert draw_all() == 1
    pass_time(world, AGAIN_AFTER / 2)
    world.play([bot, others[1]], rated=True)
    assert draw_all() == 1
    pass_time(world, AGAIN_AFTER)
    world.play([bot, others[2]], rated=True)
    assert draw_all() == 2


def test_pictures_that_nobody_requested_wait_for_those_that_were_and_are_fewer_a_minute(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picture_drawer, "MAX_EARLY_PER_MINUTE", 2)
    drawing, pair = Drawing(), world.bots(2)
    drawer = PictureDrawer(world.database, drawing, Clock())
    for _ in range(3):
        world.play(pair)
    asked = [world.bot() for _ in range(3)]
    look_at(world, PictureKind.BOT, asked[0])

    steps = [drawer.step() for _ in range(3)]
    for bot_id in asked[1:]:
        look_at(world, PictureKind.BOT, bot_id)
    drawer.step()
    drawer.step()

    assert drawing.drawn[0].subject == asked[0]
    assert steps[2] == LOOK_S
    assert [content.subject for content in drawing.drawn[2:]] == asked[1:]


# -- what pictures show --


@pytest.mark.parametrize("anonymous", [True, False])
def test_a_match_of_an_anonymous_tournament_shows_seats_without_bots_until_it_is_over(
    world: World, anonymous: bool
) -> None:
    tournament_id, seated = entered(world, 2, rated=True, anonymous=anonymous)
    start(world, tournament_id)
    answer_handshakes(world.database)
    go_on(world.database, tournament_id)
    (claim,) = world.claim()

    before = content_of(world, PictureKind.MATCH, claim.match_id)
    world.finish(claim)
    after = content_of(world, PictureKind.MATCH, claim.match_id)

    assert (list(before.lines), before.is_live) == (["A Cup", "Round 1"], True)
    assert [row.player.name is None for row in before.rows] == [anonymous] * 2
    assert [row.before for row in before.rows] == (["Seat 1", "Seat 2"] if anonymous else ["", ""])
    assert {row.player.bot_id for row in after.rows} == set(seated)
    assert [row.before[0] for row in after.rows] == sorted(row.before[0] for row in after.rows)
    assert all(row.value for row in after.rows)


def test_scores_are_shown_when_the_log_is_public_and_a_void_match_says_so(world: World) -> None:
    seated = world.bots(2)
    with world.database.write() as session:
        group = create_group(session, seated)
        ids = [world.matched(session, seated, group=group).id for _ in range(2)]
    (claim,) = world.claim(match_id=ids[0])
    world.finish(claim)
    content = content_of(world, PictureKind.MATCH, ids[0])

    assert [row.value for row in content.rows] == ["", ""]
    assert [row.before for row in content.rows] != ["", ""]
    assert not content.is_settled
    with world.database.write() as session:
        session.execute(update(StoredMatch).values(status=MatchState.VOID))
    assert content_of(world, PictureKind.MATCH, ids[0]).label == "Match · void"


def test_a_tournament_shows_its_leaders_and_then_its_podium_before_anybody_asks(world: World) -> None:
    drawing, (tournament_id, ids) = Drawing(), entered(world, 4)
    before = content_of(world, PictureKind.TOURNAMENT, tournament_id)
    assert (before.rows, before.remark, before.label) == ([], "4 bots entered", "Tournament · open for entries")
    start(world, tournament_id)
    answer_handshakes(world.database)
    go_on(world.database, tournament_id)

    (claim,) = world.claim()
    world.finish(claim)
    running = content_of(world, PictureKind.TOURNAMENT, tournament_id)
    while claims := world.claim(10):
        for claim in claims:
            world.finish(claim)
        go_on(world.database, tournament_id)
    PictureDrawer(world.database, drawing, Clock()).step()
    (finished,) = drawing.drawn

    assert (running.is_live, len(running.rows)) == (True, 2)
    assert look_at(world, PictureKind.TOURNAMENT, tournament_id)
    assert (finished.label, finished.is_settled) == ("Tournament · finished", True)
    assert finished.rows[0].is_first
    assert {row.player.bot_id for row in finished.rows} <= set(ids)


def test_a_bot_shows_its_owner_and_its_ranks_and_a_house_player_is_shown_as_one(world: World) -> None:
    bot_id = world.bot(name="Ada")
    world.play([bot_id, world.bot()], rated=True)
    with world.database.write() as session:
        owner = accounts.get_account(session, bots.get_bot(session, bot_id).owner_id).name
        house = house_bots.get_or_create_house_bot(session, "sound").id

    content, constant = (content_of(world, PictureKind.BOT, id) for id in (bot_id, house))

    assert (content.title, content.emblem_of, list(content.lines)) == ("Ada", bot_id, [f"by {owner}"])
    assert content.rows[0].before.endswith("of 2")
    assert content.rows[0].player.bot_id is None  # it names a ladder
    assert (constant.label, "constant" in constant.remark) == ("Bot · house player", True)


def test_a_ladder_shows_its_five_best_bots(world: World) -> None:
    ids = world.bots(7)
    played = [world.play(pair, rated=True) for pair in pairwise(ids)]

    content = content_of(world, PictureKind.LADDER, str(played[0].ladder_id))

    assert len(content.rows) == 5
    with world.database.read() as session:
        best = session.scalars(select(Rating.bot_id).order_by(Rating.value.desc())).first()
    assert content.rows[0].player.bot_id == best


# -- the store --

BOTS = [f"bot_{number:026d}" for number in range(3)]


def draw_next(world: World) -> str:
    with world.database.read() as session:
        wanted = store.find_next(session)
    assert wanted is not None
    with world.database.write() as session:
        store.begin_check(session, wanted)
        store.store_picture(session, wanted, wanted.subject_id.encode(), "0" * 64, is_settled=False)
    return wanted.subject_id


def test_pictures_are_drawn_in_the_order_of_their_requests_and_the_oldest_make_room(
    shared_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = shared_world
    monkeypatch.setattr(store, "MAX_PICTURES", 2)
    for bot_id in (*BOTS, BOTS[0]):
        with world.database.write() as session:
            store.request_check(session, PictureKind.BOT, bot_id)

    assert [draw_next(world) for _ in BOTS] == [BOTS[1], BOTS[2], BOTS[0]]
    with world.database.read() as session:
        assert store.find_next(session) is None
        found = [store.find_picture(session, PictureKind.BOT, bot_id) for bot_id in BOTS]
        assert store.find_picture(session, PictureKind.MATCH, BOTS[0]).png is None
    assert [picture.png for picture in found] == [BOTS[0].encode(), None, BOTS[2].encode()]
    assert not found[0].is_due


def test_pictures_that_nobody_requested_are_kept_apart_until_their_first_request(
    shared_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, asked = shared_world, "bot_asked"
    for limit in ("MAX_PICTURES", "MAX_EARLY"):
        monkeypatch.setattr(store, limit, 1)
    with world.database.write() as session:
        store.request_check(session, PictureKind.BOT, asked)
    draw_next(world)
    for bot_id in BOTS:
        with world.database.write() as session:
            wanted = store.find_early(session, PictureKind.BOT, [bot_id], timedelta(hours=1))
            assert wanted is not None
            store.begin_check(session, wanted)
            store.store_picture(session, wanted, b"png", "0" * 64, is_settled=False)
            assert store.find_early(session, PictureKind.BOT, [bot_id], timedelta(hours=1)) is None
            assert store.find_next(session) is None

    with world.database.read() as session:
        found = [store.find_picture(session, PictureKind.BOT, bot_id) for bot_id in (asked, *BOTS)]
    assert [picture.png for picture in found] == [asked.encode(), None, None, b"png"]
    assert found[3].is_due
    with world.database.write() as session:
        store.request_check(session, PictureKind.BOT, BOTS[2])
    assert draw_next(world) == BOTS[2]


# -- ratings, and deletion --


@pytest.mark.parametrize("kind", [PictureKind.BOT, PictureKind.LADDER])
def test_pictures_show_the_error_beside_the_rating(
    service: Service, champion: tuple[str, str], kind: PictureKind
) -> None:
    bot, ladder = champion
    with service.database.read() as session:
        row = load_content(session, kind, bot if kind == PictureKind.BOT else ladder).rows[0]

    assert (row.value, row.note) == ("1\u202f700.0", "± 34")


@pytest.mark.parametrize("by_account", [True, False])
def test_pictures_go_with_their_bot_or_account(service: Service, owner: Person, mine: str, by_account: bool) -> None:
    cup = owner.post("/tournaments", {**CUP, "rated": False, "listed": False}).get_json()["id"]
    owner.post(f"/tournaments/{cup}/open")
    with service.database.write() as session:
        for kind, subject in ((PictureKind.BOT, mine), (PictureKind.TOURNAMENT, cup)):
            session.add(Picture(kind=kind, subject_id=subject, is_settled=True, png=b"a name"))

    path = "/accounts/me" if by_account else f"/bots/{mine}"
    deleted = owner.post(f"{path}/delete", {"name": owner.get(path).get_json()["name"]})

    assert deleted.status_code == 200
    with service.database.read() as session:
        assert list(session.scalars(select(Picture.subject_id))) == ([] if by_account else [cup])
