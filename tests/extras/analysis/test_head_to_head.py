"""Results of two bots against each other: counts, cards that both had, the API and the page."""

from collections.abc import Sequence

import pytest
from sqlalchemy import insert, select, text, update

from referee.figures import MINUS
from referee.matches.deals import deal_groups
from referee.matches.states import DealSharing
from referee.matches.tables import MatchSeat, Result, StoredMatch
from referee_extras.analysis import head_to_head
from referee_extras.analysis.head_to_head import PairComparison, PairResult, compare_bots
from tests.api.conftest import API, Person, Service, fields_of
from tests.api.test_site_ladders import HTML, text_of
from tests.database import tournaments
from tests.database.growth import copy_match, cost_of
from tests.database.world import World, create_group


def finished(world: World, seated: Sequence[str], placements: Sequence[int], group: str | None = None) -> str:
    """Play a match of these bots in a deal group, and give them these placements."""
    with world.database.write() as session:
        shared = None if group is None else deal_groups.get_group(session, group)
        match_id = world.matched(session, seated, group=shared).id
    (claim,) = world.claim(match_id=match_id)
    world.finish(claim)
    with world.database.write() as session:
        session.execute(update(Result).where(Result.match_id == match_id).values(placements=list(placements)))
    return match_id


def shared_group(world: World, bots: Sequence[str], kind: DealSharing) -> str:
    with world.database.write() as session:
        return create_group(session, bots, kind).id


def compare(world: World, bot: str, opponent: str) -> PairComparison:
    with world.database.read() as session:
        return compare_bots(session, bot, opponent)


def test_matches_are_counted_by_the_better_placement(world: World) -> None:
    ada, bob, cyd = world.bots(3)
    finished(world, [ada, bob], [1, 2])
    finished(world, [bob, ada], [2, 1])
    finished(world, [cyd, bob, ada], [1, 3, 2])
    finished(world, [ada, bob], [1, 1])
    finished(world, [ada, bob], [2, 1])
    finished(world, [ada, cyd], [1, 2])

    found = compare(world, ada, bob)
    back = compare(world, bob, ada)

    assert found.total == PairResult(matches=5, ahead=3, level=1, behind=1, same_cards=None)
    assert found.by_game == {"saint-poker": found.total}
    assert found.is_complete
    assert back.total == PairResult(matches=5, ahead=1, level=1, behind=3, same_cards=None)


def test_void_matches_and_those_with_closed_logs_do_not_count(world: World) -> None:
    ada, bob, cyd, dan = world.bots(4)
    void = finished(world, [ada, bob], [1, 2])
    with world.database.write() as session:
        session.execute(update(StoredMatch).where(StoredMatch.id == void).values(status="void"))
    group = shared_group(world, [ada, bob, cyd, dan], DealSharing.COMMON)
    with world.database.write() as session:
        other = world.matched(session, [cyd, dan], group=deal_groups.get_group(session, group)).id
    finished(world, [ada, bob], [1, 2], group)

    assert compare(world, ada, bob).total.matches == 0
    assert compare(world, ada, bob).by_game == {}

    (claim,) = world.claim(match_id=other)
    world.finish(claim)

    assert compare(world, ada, bob).total.matches == 1


def test_the_same_cards_are_compared_at_one_table_and_at_two(world: World) -> None:
    ada, bob, cyd, dan = world.bots(4)
    duplicate = shared_group(world, [ada, bob], DealSharing.DUPLICATE)
    common = shared_group(world, [ada, bob, cyd, dan], DealSharing.COMMON)
    with world.database.write() as session:
        groups = [deal_groups.get_group(session, group) for group in (duplicate, duplicate, common, common)]
        tables = ([ada, bob], [bob, ada], [ada, cyd], [bob, dan])
        matches = [world.matched(session, seated, group=group).id for seated, group in zip(tables, groups, strict=True)]
    for match_id in matches:
        for claim in world.claim(match_id=match_id):  # with the other matches of a duplicate deal
            world.finish(claim)
    with world.database.write() as session:
        for match_id, placements in zip(matches, ([1, 2], [2, 1], [2, 1], [1, 2]), strict=True):
            session.execute(update(Result).where(Result.match_id == match_id).values(placements=placements))

    found = compare(world, ada, bob).total
    back = compare(world, bob, ada).total

    assert (found.matches, found.ahead) == (2, 2)
    assert found.same_cards is not None
    assert back.same_cards is not None
    # Ada took both hands of the duplicate deal from Bob (+1 each), and Bob did better in the common one (-1).
    assert (found.same_cards.hands, found.same_cards.groups) == (3, 2)
    assert float(found.same_cards.difference.value) == pytest.approx(1 / 3)
    assert back.same_cards.difference.value == -found.same_cards.difference.value
    assert back.same_cards.difference.error == found.same_cards.difference.error


def test_the_best_seat_of_a_house_player_counts(world: World) -> None:
    ada, house = world.bots(2)
    match_id = finished(world, [ada, house], [2, 1])
    with world.database.write() as session:
        session.execute(
            update(Result).where(Result.match_id == match_id).values(bots=[ada, house, house], placements=[2, 3, 1])
        )

    assert compare(world, house, ada).total.ahead == 1
    assert compare(world, ada, house).total.behind == 1


def test_only_the_last_meetings_are_counted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head_to_head, "MAX_MEETINGS", 2)
    ada, bob = world.bots(2)
    for placements in ([2, 1], [1, 2]):
        finished(world, [ada, bob], placements)
    before = compare(world, ada, bob)
    finished(world, [ada, bob], [1, 2])
    after = compare(world, ada, bob)

    assert (before.total.ahead, before.total.behind, before.is_complete) == (1, 1, True)
    assert (after.total.ahead, after.total.behind, after.is_complete) == (2, 0, False)


def test_the_matches_of_a_busy_opponent_are_not_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head_to_head, "MANY", 5)
    ada, house, bob = world.bots(3)
    finished(world, [ada, house], [1, 2])
    model = finished(world, [bob, house], [1, 2])
    before = cost_of(world, lambda session: compare_bots(session, house, ada))
    copy_match(world, model, 1_000)
    with world.database.write() as session:
        copies = session.scalars(select(StoredMatch.id).where(StoredMatch.id.startswith("copy_"))).all()
        seat = {"seat": 0, "bot_id": house, "bot_name": "house", "rated": True, "faults": 0}
        session.execute(insert(MatchSeat), [{"match_id": match_id, **seat} for match_id in copies])
        session.execute(text("ANALYZE"))

    after = cost_of(world, lambda session: compare_bots(session, house, ada))

    assert len(copies) == 1_000
    assert after < 2 * before + 100
    assert compare(world, house, ada).total.matches == 1


def test_two_bots_are_shown_head_to_head(service: Service, owner: Person) -> None:
    result = service.played(owner, service.person())
    bot, opponent = result.bots
    client = service.anonymous()

    found = client.get(f"{API}/bots/{bot}/head-to-head/{opponent}").get_json()
    shown = text_of(client, f"/bots/{bot}/head-to-head/{opponent}")

    first, second = result.placements
    counts = {"matches": 1, "ahead": int(first < second), "level": int(first == second), "behind": int(first > second)}
    assert found["bot"]["bot"] == bot
    assert found["opponent"]["bot"] == opponent
    assert found["total"] == {**counts, "same_cards": None}
    assert found["games"] == [{**counts, "same_cards": None, "game": "saint-poker"}]
    assert found["complete"]
    assert f'href="/matches/{result.match_id}"' in shown
    assert f'href="/matches?bot={bot}&amp;bot={opponent}&amp;game=saint-poker"' in shown
    assert f'href="/bots/{bot}/head-to-head/{opponent}"' in text_of(client, f"/bots/{bot}")


def test_two_bots_are_compared_on_the_same_cards(service: Service) -> None:
    world = World(service.database)
    bot, opponent = world.bots(2)
    with world.database.write() as session:
        group = create_group(session, [bot], DealSharing.DUPLICATE)
        matches = [world.matched(session, seats, group=group).id for seats in ([bot, opponent], [opponent, bot])]
    for claim in world.claim(2):
        world.finish(claim)
    with world.database.write() as session:
        for match_id, placements in zip(matches, ([1, 2], [1, 1]), strict=True):
            session.execute(update(Result).where(Result.match_id == match_id).values(placements=placements))
    client = service.anonymous()

    found = client.get(f"{API}/bots/{bot}/head-to-head/{opponent}").get_json()
    page = text_of(client, f"/bots/{opponent}/head-to-head/{bot}")

    # In seat 0: 1 against 1/2; in seat 1: 1/2 against 0.
    assert found["total"]["same_cards"] == {"difference": 0.5, "error": None, "hands": 2, "groups": 1}
    assert f"<strong>{MINUS}0.500</strong>" in page


def test_bots_that_never_met_have_an_empty_page(service: Service, owner: Person) -> None:
    bot, opponent = (service.verified_bot(person)["id"] for person in (owner, service.person()))
    client = service.anonymous()

    assert "have not finished" in text_of(client, f"/bots/{bot}/head-to-head/{opponent}")
    assert client.get(f"{API}/bots/{bot}/head-to-head/{opponent}").get_json()["games"] == []
    assert fields_of(client.get(f"{API}/bots/{bot}/head-to-head/{bot}")) == {"opponent_id"}
    assert client.get(f"{API}/bots/{bot}/head-to-head/bot_{'0' * 26}").status_code == 404
    assert client.get(f"/bots/bot_{'0' * 26}/head-to-head/{bot}", headers=HTML).status_code == 404


def test_a_match_of_an_anonymous_tournament_is_not_told_before_it_is_over(service: Service, owner: Person) -> None:
    world = World(service.database)
    bots = [service.verified_bot(person)["id"] for person in (owner, service.person())]
    hidden, told = world.match(bots, tournament_id=tournaments.create(world)), world.match(bots)

    page = text_of(service.anonymous(), f"/bots/{bots[0]}/head-to-head/{bots[1]}")

    assert told in page
    assert hidden not in page
