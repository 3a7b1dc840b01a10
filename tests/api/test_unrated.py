"""Unrated matches show the reason in the API and on pages, before and after they are played."""

import re
from collections.abc import Sequence
from typing import Any

import pytest

from referee.bots import house_bots
from referee.tournaments import entries, progression
from tests.api.conftest import Person, Service, friendly
from tests.api.test_site_tournaments import read
from tests.api.tournaments import entered, play, started
from tests.database.tournaments import answer_handshakes, go_on
from tests.database.world import World
from tests.surroundings import MASTER_KEY

LABEL = "unrated: one owner twice"
RULE = "A match with two bots of one owner counts in the standings, but is not rated."


@pytest.fixture
def ours(service: Service, owner: Person) -> list[str]:
    """Return two bots of one owner."""
    return [str(service.verified_bot(owner)["id"]) for _ in range(2)]


def test_a_match_says_why_unrated(
    service: Service, owner: Person, organiser: Person, ours: list[str], theirs: str
) -> None:
    mine, sibling = ours
    with service.database.write() as session:
        sound = house_bots.get_or_create_house_bot(session, "sound").id

    def reason(person: Person, *bots: str, **terms: Any) -> str:
        match = person.post("/matches", friendly(mine, *bots, **terms)).get_json()
        assert person.get(f"/matches/{match['id']}").get_json()["unrated_reason"] == match["unrated_reason"]
        assert match["rated"] == (match["unrated_reason"] is None)
        return str(match["unrated_reason"])

    for bots in ((theirs,), (theirs, sound), (sound,)):  # the house bot is an anchor
        assert reason(organiser, *bots, rated=True) == "None"
    assert reason(organiser, sound, rated=True, options={"rounds": 2}) == "house_player"
    assert reason(organiser, sibling, theirs, rated=True) == "one_owner_twice"
    for person, bot in ((organiser, sound), (organiser, theirs), (owner, theirs), (owner, sound), (owner, sibling)):
        assert reason(person, bot, rated=False) == "friendly"


def test_terms_and_substitutes_leave_matches_unrated(service: Service, organiser: Person, ours: list[str]) -> None:
    unrated = started(service, organiser, 2, rated=False)
    substituted, bots = entered(service, organiser, 2, substitute="house:1", options={"rounds": 2})
    begin(service, organiser, substituted, absent=bots[:1])
    of_one, _ = event_of(service, organiser, ours, 1, seats=3, substitute="house:3")
    begin(service, organiser, of_one, absent=ours[:1])

    for tournament_id, reason in ((unrated, "tournament_terms"), (substituted, "substitute"), (of_one, None)):
        (match,) = organiser.get(f"/matches?tournament={tournament_id}").get_json()["items"]
        assert (match["unrated_reason"], match["rated"]) == (reason, reason is None)
    assert table_of(organiser, f"/tournaments/{of_one}/rounds/1")["unrated_reason"] is None


def begin(service: Service, organiser: Person, tournament_id: str, absent: Sequence[str] = ()) -> None:
    assert organiser.post(f"/tournaments/{tournament_id}/start").status_code == 200
    answer_handshakes(service.database, absent=absent)
    go_on(service.database, tournament_id)


def event_of(service: Service, organiser: Person, ours: list[str], others: int, **terms: Any) -> tuple[str, list[str]]:
    """Return an open tournament that both bots of one owner have entered, and the other bots in it."""
    tournament_id, bots = entered(service, organiser, others, bots_per_owner=2, **terms)
    with service.database.write() as session:
        for bot in ours:
            entries.enter_bot(session, tournament_id, bot)
    return tournament_id, bots


def check_unrated(service: Service, owner: Person, match_id: str) -> None:
    assert owner.get(f"/matches/{match_id}").get_json()["unrated_reason"] == "one_owner_twice"
    assert "no: two bots of one owner sit at its table" in page(service, f"/matches/{match_id}")


def test_siblings_who_meet_play_unrated(service: Service, owner: Person, organiser: Person, ours: list[str]) -> None:
    hand = {"format": "knockout", "format_options": {"seeding": "hand"}}
    tournament_id, (other,) = event_of(service, organiser, ours, 1, **hand)
    path = f"/tournaments/{tournament_id}"
    seeds = {"seeds": {other: 1, ours[0]: 2, ours[1]: 3}}  # the first has a bye, the others meet
    assert organiser.ask("PUT", f"{path}/seeds", json=seeds).status_code == 200
    assert all(RULE in page(service, place) for place in (path, f"{path}/entries"))
    assert organiser.post(f"{path}/start").status_code == 200
    answer_handshakes(service.database)
    while progression.take_next_step(service.database, tournament_id, master_key=MASTER_KEY) != "paired":
        pass
    semi_final, final = f"{path}/rounds/1", f"{path}/rounds/2"

    assert table_of(service.person(), semi_final)["unrated_reason"] == "one_owner_twice"
    assert LABEL in page(service, semi_final)
    go_on(service.database, tournament_id)
    (match,) = table_of(organiser, semi_final)["matches"]
    (waits,) = owner.get(f"/bots/{ours[0]}/waiting").get_json()["matches"]
    assert {seat["bot"] for seat in match["seats"]} == {*ours}
    assert (match["rated"], match["unrated_reason"]) == (False, "one_owner_twice")
    assert (waits["match"], waits["unrated_reason"]) == (match["id"], "one_owner_twice")
    check_unrated(service, owner, match["id"])

    play(service, tournament_id, 1)
    (last,) = table_of(organiser, final)["matches"]
    winner = next(bot for bot in ours if bot in str(last["seats"]))
    (waits,) = owner.get(f"/bots/{winner}/waiting").get_json()["matches"]
    assert (last["rated"], waits["match"], waits["unrated_reason"]) == (True, last["id"], None)
    check_unrated(service, owner, match["id"])
    for place in (semi_final, f"{path}/matches", "/matches", f"/bots/{ours[0]}"):
        assert page(service, place).count(LABEL) == 1, place


def test_the_first_page_calls_no_such_match_a_friendly(service: Service, organiser: Person, ours: list[str]) -> None:
    tournament_id, _ = event_of(service, organiser, ours, 0)
    begin(service, organiser, tournament_id)
    (claim,) = World(service.database).claim()

    service.app.extensions.pop("referee.now", None)  # drop the overview that is cached for two seconds
    (now,) = organiser.get("/now").get_json()["matches"]
    first = page(service, "/")

    assert (now["id"], now["unrated_reason"]) == (claim.match_id, "one_owner_twice")
    assert LABEL in first
    assert "friendly" not in first


# -- helpers --


def table_of(person: Person, path: str) -> dict[str, Any]:
    """Return the only table of a round."""
    (table,) = person.get(path).get_json()["items"]
    return dict(table)


def page(service: Service, path: str) -> str:
    """Return a page without the labels of all states, which every page carries for its scripts."""
    return re.sub('<script type="application/json" id="labels">.*?</script>', "", read(service.anonymous(), path))
