"""The comparison of two bots, by the API and on its page."""

from sqlalchemy import update

from referee.figures import MINUS
from referee.matches.deals import deal_groups
from referee.matches.states import DealSharing
from referee.matches.tables import Result
from tests.api.conftest import API, Person, Service, fields_of
from tests.api.test_site_ladders import HTML, text_of
from tests.database import tournaments
from tests.database.world import World
from tests.surroundings import MASTER_KEY


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
        group = deal_groups.create_group(session, [bot], master_key=MASTER_KEY, kind=DealSharing.DUPLICATE)
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
