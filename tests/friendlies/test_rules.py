"""Who may challenge a bot, and when; and what these rules do not concern."""

import ast
from datetime import UTC, datetime
from pathlib import Path

import pytest

from referee.bots.tables import Bot
from referee.errors import BadOption, NeedsAcceptance, NotFound, QuotaExceeded
from referee.friendlies import rules
from referee.friendlies.rules import BotRules, Hours
from referee.friendlies.states import Challengers, ChallengerVerdict
from tests.database.tournaments import begun
from tests.database.world import World

ROOT = Path(__file__).parents[2]


def allow(world: World, bot_id: str, challengers: Challengers, hours: Hours | None = None) -> None:
    with world.database.write() as session:
        rules.set_rules(session, session.get_one(Bot, bot_id), BotRules(challengers, hours))


def put(world: World, owner_id: str, account_id: str, verdict: ChallengerVerdict) -> None:
    with world.database.write() as session:
        rules.put_entry(session, owner_id, account_id, verdict)


def obstacle(world: World, account_id: str, bot_id: str) -> Exception | None:
    with world.database.read() as session:
        return rules.find_obstacle(session, account_id, session.get_one(Bot, bot_id))


@pytest.mark.parametrize(
    ("challengers", "stranger", "accepted", "blocked"),
    [
        (Challengers.ANYONE, None, None, "does not play friendlies with your account"),
        (Challengers.ON_REQUEST, "decides about each friendly", None, "does not play friendlies with your account"),
        (Challengers.LISTED, "only with accounts that its owner has accepted", None, "does not play friendlies with"),
        (Challengers.NOBODY, "has switched friendlies", "has switched friendlies", "does not play friendlies with"),
    ],
)
def test_the_owner_decides_who_may_challenge_a_bot(
    world: World, challengers: Challengers, stranger: str | None, accepted: str | None, blocked: str
) -> None:
    owner, rival = world.account(), world.account()
    bot_id = world.bot(owner)
    world.bot(rival)
    allow(world, bot_id, challengers)

    found = [obstacle(world, rival, bot_id)]
    for verdict in (ChallengerVerdict.ACCEPTED, ChallengerVerdict.BLOCKED):
        put(world, owner, rival, verdict)
        found.append(obstacle(world, rival, bot_id))

    for error, sentence in zip(found, (stranger, accepted, blocked), strict=True):
        assert (error is None) == (sentence is None)
        assert sentence is None or sentence in str(error)
    assert isinstance(found[0], NeedsAcceptance) == (challengers == Challengers.ON_REQUEST)
    assert obstacle(world, owner, bot_id) is None


@pytest.mark.parametrize(
    ("begin", "end", "utc", "included"),
    [
        ("18:00", "22:00", "17:00", True),  # 18:00 in Berlin in winter
        ("18:00", "22:00", "16:59", False),
        ("18:00", "22:00", "20:59", True),
        ("18:00", "22:00", "21:00", False),
        ("22:00", "06:00", "21:00", True),
        ("22:00", "06:00", "04:59", True),
        ("22:00", "06:00", "05:00", False),
    ],
)
def test_hours_are_those_of_the_time_zone_and_may_cross_midnight(
    begin: str, end: str, utc: str, included: bool
) -> None:
    hours = Hours(rules.parse_minute(begin), rules.parse_minute(end), "Europe/Berlin")
    hour, minute = map(int, utc.split(":"))

    assert hours.include(datetime(2026, 1, 15, hour, minute, tzinfo=UTC)) == included
    assert hours.include(datetime(2026, 7, 15, hour - 1, minute, tzinfo=UTC)) == included  # summer time


def test_a_friendly_outside_the_hours_is_refused_with_the_time_there(world: World) -> None:
    bot_id = world.bot()
    allow(world, bot_id, Challengers.ANYONE, Hours(18 * 60, 22 * 60, "Europe/Berlin"))
    world.clock.moment = datetime(2026, 1, 15, 8, 12, tzinfo=UTC)

    with world.database.read() as session:
        error = rules.find_obstacle(session, world_account(world), session.get_one(Bot, bot_id))

    if world.database.is_sqlite:  # PostgreSQL has a clock of its own
        assert str(error).endswith("begins friendlies only from 18:00 to 22:00 (Europe/Berlin); it is 09:12 there now.")


def world_account(world: World) -> str:
    return f"acc_{'0' * 26}"


@pytest.mark.parametrize("hours", [Hours(60, 60, "UTC"), Hours(60, 120, "Mars/Olympus"), Hours(0, 60, "../UTC")])
def test_hours_that_cannot_be_are_refused(world: World, hours: Hours) -> None:
    bot_id = world.bot()

    with pytest.raises(BadOption):
        allow(world, bot_id, Challengers.ANYONE, hours)


def test_accounts_are_listed_up_to_a_limit_and_only_if_they_have_bots(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MAX_ENTRIES", 2)
    owner = world.account()
    rivals = [world.account() for _ in range(3)]
    for rival in rivals:
        world.bot(rival)
    for rival in rivals[:2]:
        put(world, owner, rival, ChallengerVerdict.BLOCKED)

    with pytest.raises(QuotaExceeded):
        put(world, owner, rivals[2], ChallengerVerdict.BLOCKED)
    put(world, owner, rivals[0], ChallengerVerdict.ACCEPTED)
    for account_id in (world.account(), owner, f"acc_{'0' * 26}"):
        with pytest.raises(NotFound):
            put(world, owner, account_id, ChallengerVerdict.BLOCKED)


def test_F5_nobody_chooses_opponents_in_rated_matches_and_tournaments(world: World) -> None:
    tournament_id, bots = begun(world, 2)
    with world.database.read() as session:
        owners = [session.get_one(Bot, bot_id).owner_id for bot_id in bots]
    put(world, owners[0], owners[1], ChallengerVerdict.BLOCKED)
    put(world, owners[1], owners[0], ChallengerVerdict.BLOCKED)
    for bot_id in bots:
        allow(world, bot_id, Challengers.NOBODY)

    (of_tournament,) = world.claim()
    world.finish(of_tournament)
    result = world.play(bots)

    assert (result.ladder_id is not None, tournament_id) == (True, tournament_id)
    assert obstacle(world, owners[0], bots[1]) is not None


def test_F5_nothing_that_makes_rated_matches_reads_the_rules() -> None:
    readers = set()
    for path in [*(ROOT / "referee").rglob("*.py"), *(ROOT / "workers").rglob("*.py"), *(ROOT / "api").rglob("*.py")]:
        imported = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
        modules = {f"{node.module}.{name.name}" for node in imported for name in node.names}
        if any(module.startswith("referee.friendlies.rules") for module in modules):
            readers.add(path.relative_to(ROOT).as_posix())

    assert readers == {
        *("api/friendlies/rules_resource.py", "api/friendlies/schemas.py", "api/bots/pages.py"),
        *("api/matches/resource.py", "referee/friendlies/requests.py"),
    }
