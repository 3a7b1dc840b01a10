"""Who may challenge a bot, and when; and what these rules do not concern."""

import re
from pathlib import Path

import pytest

from referee.bots.tables import Bot
from referee.errors import NeedsAcceptance, NotFound, QuotaExceeded
from referee.friendlies import rules
from referee.friendlies.states import Challengers, ChallengerVerdict
from tests.database.tournaments import begun
from tests.database.world import World

ROOT = Path(__file__).parents[2]


def allow(world: World, bot_id: str, challengers: Challengers) -> None:
    with world.database.write() as session:
        rules.set_challengers(session, session.get_one(Bot, bot_id), challengers)


def put(world: World, owner_id: str, account_id: str, verdict: ChallengerVerdict) -> None:
    world.write(rules.put_entry, owner_id, account_id, verdict)


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
    imports = re.compile(r"referee\.friendlies(\.rules\b| import [^)\n]*\brules\b| import \([^)]*\brules\b)")
    for path in [*(ROOT / "referee").rglob("*.py"), *(ROOT / "workers").rglob("*.py"), *(ROOT / "api").rglob("*.py")]:
        if imports.search(path.read_text()):
            readers.add(path.relative_to(ROOT).as_posix())

    assert readers == {
        *("api/friendlies/rules_resource.py", "api/bots/pages.py"),
        *("api/matches/resource.py", "referee/friendlies/requests.py"),
    }
