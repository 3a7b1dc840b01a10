"""Unrated matches show the reason in the API and on pages, before and after they are played."""

import re
from typing import Any

import pytest
from werkzeug.test import TestResponse

from referee.bots import house_bots
from referee.tournaments import progression
from tests.api.conftest import Person, Service
from tests.api.tournaments import entered, play
from tests.database.tournaments import answer_handshakes, go_on
from tests.database.world import World
from tests.surroundings import MASTER_KEY

LABEL = "unrated: one owner twice"
RULE = "A match with two bots of one owner counts in the standings, but is not rated."


@pytest.fixture
def ours(service: Service, owner: Person) -> list[str]:
    """Return two bots of one owner."""
    return [str(service.verified_bot(owner)["id"]) for _ in range(2)]


def house_bot(service: Service, name: str = "sound") -> str:
    with service.database.write() as session:
        return house_bots.get_or_create_house_bot(session, name).id


def asked(person: Person, *bots: str, rated: bool, **terms: Any) -> tuple[bool, str | None]:
    wanted = {"game": "saint-poker", "bots": list(bots), "rated": rated, **terms}
    match = person.post("/matches", wanted).get_json()
    shown = person.get(f"/matches/{match['id']}").get_json()
    assert shown["unrated_reason"] == match["unrated_reason"]
    return match["rated"], match["unrated_reason"]


def test_creating_a_match_returns_whether_it_is_rated_and_why_not(
    service: Service, owner: Person, organiser: Person, ours: list[str], theirs: str
) -> None:
    mine, sibling = ours
    sound = house_bot(service)

    assert asked(organiser, mine, theirs, rated=True) == (True, None)
    assert asked(organiser, mine, theirs, sound, rated=True) == (True, None)
    assert asked(organiser, mine, sound, rated=True) == (True, None)  # an anchor
    assert asked(organiser, mine, sound, rated=False) == (False, "friendly")
    assert asked(organiser, mine, sound, rated=True, options={"rounds": 2}) == (False, "house_player")
    assert asked(organiser, mine, sibling, theirs, rated=True) == (False, "one_owner_twice")
    assert asked(organiser, mine, theirs, rated=False) == (False, "friendly")
    for rivals in ((theirs,), (sound,), (sibling,)):
        assert asked(owner, mine, *rivals, rated=False) == (False, "friendly")


def test_the_terms_of_an_unrated_tournament_are_the_reason_for_its_matches(service: Service, organiser: Person) -> None:
    tournament_id, _ = entered(service, organiser, 2, rated=False)
    begin(service, organiser, tournament_id)

    assert reasons(organiser, tournament_id) == ["tournament_terms"]


def test_a_match_that_substitutes_leave_with_one_bot_to_be_rated_says_so(service: Service, organiser: Person) -> None:
    tournament_id, bots = entered(service, organiser, 2, substitute="house:1", options={"rounds": 2})
    organiser.post(f"/tournaments/{tournament_id}/start")
    answer_handshakes(service.database, absent=bots[:1])
    go_on(service.database, tournament_id)

    assert reasons(organiser, tournament_id) == ["substitute"]


def test_a_table_whose_match_is_rated_for_its_substitute_has_no_reason_to_be_unrated(
    service: Service, owner: Person, organiser: Person, ours: list[str]
) -> None:
    tournament_id, _ = entered(service, organiser, 1, seats=3, substitute="house:3", bots_per_owner=2)
    for bot in ours:
        owner.post(f"/tournaments/{tournament_id}/enter", {"bot": bot})
    organiser.post(f"/tournaments/{tournament_id}/start")
    answer_handshakes(service.database, absent=ours[:1])
    go_on(service.database, tournament_id)

    table = table_of(organiser, f"/tournaments/{tournament_id}/rounds/1")

    assert [match["rated"] for match in table["matches"]] == [True]
    assert table["unrated_reason"] is None


def test_a_rated_tournament_tells_which_of_its_matches_are_unrated_before_and_after(
    service: Service, owner: Person, organiser: Person, ours: list[str]
) -> None:
    tournament_id, (other,) = entered(service, organiser, 1, bots_per_owner=2)
    for bot in ours:
        owner.post(f"/tournaments/{tournament_id}/enter", {"bot": bot})
    assert RULE in page(service, f"/tournaments/{tournament_id}")
    assert RULE in page(service, f"/tournaments/{tournament_id}/entries")
    organiser.post(f"/tournaments/{tournament_id}/start")
    answer_handshakes(service.database)
    while progression.take_next_step(service.database, tournament_id, master_key=MASTER_KEY) != "paired":
        pass
    rounds = f"/tournaments/{tournament_id}/rounds"
    (number,) = [at for at in (1, 2, 3) if other not in str(table_of(organiser, f"{rounds}/{at}")["entrants"])]

    assert table_of(service.person(), f"{rounds}/{number}")["unrated_reason"] == "one_owner_twice"
    assert LABEL in page(service, f"{rounds}/{number}")
    go_on(service.database, tournament_id)
    (match,) = table_of(organiser, f"{rounds}/{number}")["matches"]
    assert (match["rated"], match["unrated_reason"]) == (False, "one_owner_twice")
    assert sorted(filter(None, reasons(organiser, tournament_id))) == ["one_owner_twice"]

    play(service, tournament_id)

    assert owner.get(f"/matches/{match['id']}").get_json()["unrated_reason"] == "one_owner_twice"
    for path in (f"{rounds}/{number}", f"/tournaments/{tournament_id}/matches", "/matches", f"/bots/{ours[0]}"):
        assert page(service, path).count(LABEL) == 1, path
    assert "no: two bots of one owner sit at its table" in page(service, f"/matches/{match['id']}")


def test_siblings_who_meet_in_a_knockout_are_told_before_and_after_that_the_match_is_unrated(
    service: Service, owner: Person, organiser: Person, ours: list[str]
) -> None:
    tournament_id, (other,) = entered(
        service, organiser, 1, format="knockout", bots_per_owner=2, format_options={"seeding": "hand"}
    )
    for bot in ours:
        owner.post(f"/tournaments/{tournament_id}/enter", {"bot": bot})
    seeds = {"seeds": {other: 1, ours[0]: 2, ours[1]: 3}}  # the first has a bye, the others meet
    assert organiser.ask("PUT", f"/tournaments/{tournament_id}/seeds", json=seeds).status_code == 200
    organiser.post(f"/tournaments/{tournament_id}/start")
    answer_handshakes(service.database)
    while progression.take_next_step(service.database, tournament_id, master_key=MASTER_KEY) != "paired":
        pass
    semi_final, final = (f"/tournaments/{tournament_id}/rounds/{number}" for number in (1, 2))

    assert table_of(service.person(), semi_final)["unrated_reason"] == "one_owner_twice"
    assert LABEL in page(service, semi_final)

    go_on(service.database, tournament_id)
    (match,) = table_of(organiser, semi_final)["matches"]
    (waits,) = owner.get(f"/bots/{ours[0]}/waiting").get_json()["matches"]
    assert {seat["bot"] for seat in match["seats"]} == {*ours}
    assert (match["rated"], match["unrated_reason"]) == (False, "one_owner_twice")
    assert (waits["match"], waits["unrated_reason"]) == (match["id"], "one_owner_twice")
    assert "no: two bots of one owner sit at its table" in page(service, f"/matches/{match['id']}")

    (claim,) = World(service.database).claim()
    World(service.database).finish(claim)
    go_on(service.database, tournament_id)
    (last,) = table_of(organiser, final)["matches"]
    winner = next(bot for bot in ours if bot in str(last["seats"]))
    (waits,) = owner.get(f"/bots/{winner}/waiting").get_json()["matches"]
    assert (last["rated"], waits["match"], waits["unrated_reason"]) == (True, last["id"], None)
    assert owner.get(f"/matches/{match['id']}").get_json()["unrated_reason"] == "one_owner_twice"
    assert "no: two bots of one owner sit at its table" in page(service, f"/matches/{match['id']}")
    for path in (semi_final, f"/tournaments/{tournament_id}/matches", "/matches", f"/bots/{ours[0]}"):
        assert page(service, path).count(LABEL) == 1, path


def test_the_first_page_calls_no_match_of_a_tournament_a_friendly(
    service: Service, owner: Person, organiser: Person, ours: list[str]
) -> None:
    tournament_id, _ = entered(service, organiser, 0, bots_per_owner=2)
    for bot in ours:
        owner.post(f"/tournaments/{tournament_id}/enter", {"bot": bot})
    begin(service, organiser, tournament_id)
    (match,) = organiser.get(f"/matches?tournament={tournament_id}").get_json()["items"]
    World(service.database).claim(match_id=match["id"])

    service.app.extensions.pop("referee.now", None)  # drop the overview that is cached for two seconds
    (now,) = organiser.get("/now").get_json()["matches"]
    first = page(service, "/")

    assert (now["id"], now["unrated_reason"]) == (match["id"], "one_owner_twice")
    assert LABEL in first
    assert "friendly" not in first


# -- helpers --


def begin(service: Service, organiser: Person, tournament_id: str) -> None:
    assert organiser.post(f"/tournaments/{tournament_id}/start").status_code == 200
    answer_handshakes(service.database)
    go_on(service.database, tournament_id)


def reasons(person: Person, tournament_id: str) -> list[str | None]:
    items = person.get(f"/matches?tournament={tournament_id}").get_json()["items"]
    return [match["unrated_reason"] for match in items]


def table_of(person: Person, path: str) -> dict[str, Any]:
    """Return the only table of a round."""
    (table,) = person.get(path).get_json()["items"]
    return dict(table)


def page(service: Service, path: str) -> str:
    """Return a page without the labels of all states, which every page carries for its scripts."""
    answer: TestResponse = service.anonymous().get(path)
    assert answer.status_code == 200
    return re.sub('<script type="application/json" id="labels">.*?</script>', "", answer.get_data(as_text=True))
