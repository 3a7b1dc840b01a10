"""Ladders over HTTP: current and historical pages, a bot's rank and rating history."""

from typing import Any

import pytest

from referee.ladders import rating_errors
from tests.api.conftest import API, Person, Service, fields_of
from tests.database.world import World


def test_F12_a_ladder_shows_ratings_as_of_a_result(service: Service, owner: Person) -> None:
    result = service.played(owner, service.person(), service.person())
    client = service.anonymous()

    (ladder,) = client.get(f"{API}/ladders").get_json()["items"]
    shown = client.get(f"{API}/ladders/{ladder['id']}").get_json()

    assert (ladder["game"], ladder["seats"]) == ("saint-poker", 3)
    assert shown["as_of_seq"] == result.seq
    assert sum(row["rating_micro"] for row in shown["items"]) == 3 * 1_500_000_000
    assert [row["rating"] for row in shown["items"]] == [round(row["rating_micro"] / 1e6, 1) for row in shown["items"]]
    assert [row["rank"] for row in shown["items"]] == sorted(row["rank"] for row in shown["items"])


def test_the_history_of_a_rating_is_a_chain(service: Service, owner: Person) -> None:
    world, other = World(service.database), service.person()
    bots = [service.verified_bot(person)["id"] for person in (owner, other)]
    for _ in range(3):
        world.play(bots)
    client = service.anonymous()
    ladder_id = client.get(f"{API}/ladders").get_json()["items"][0]["id"]
    path = f"{API}/ladders/{ladder_id}/history?bot={bots[0]}"

    moves = client.get(path).get_json()["items"]
    first_page = client.get(f"{path}&limit=2").get_json()
    second_page = client.get(f"{path}&limit=2&cursor={first_page['next']}").get_json()

    assert len(moves) == 3
    assert [move["before_micro"] for move in moves[:-1]] == [move["after_micro"] for move in moves[1:]]
    assert first_page["items"] + second_page["items"] == moves
    assert second_page["next"] is None


def test_a_history_needs_a_bot_that_exists(service: Service, owner: Person) -> None:
    service.played(owner, service.person())
    ladder_id = owner.get("/ladders").get_json()["items"][0]["id"]

    assert fields_of(owner.get(f"/ladders/{ladder_id}/history")) == {"bot"}
    assert owner.get(f"/ladders/{ladder_id}/history?bot=bot_{'0' * 26}").status_code == 404
    assert owner.get(f"/ladders/lad_{'0' * 26}").status_code == 404


def test_a_ladder_is_shown_as_it_stood_after_any_act(
    service: Service, owner: Person, organiser: Person, admin: Person
) -> None:
    world, other = World(service.database), service.person()
    bots = [service.verified_bot(person)["id"] for person in (owner, other)]
    first, second = (world.play(bots, created_by=organiser.id) for _ in range(2))
    ladder_id = owner.get("/ladders").get_json()["items"][0]["id"]
    path = f"/ladders/{ladder_id}"

    now = owner.get(path).get_json()
    then = owner.get(f"{path}?as_of=1").get_json()
    voided = admin.post(f"/matches/{second.match_id}/void", {"reason": "a cable was cut"})
    after = owner.get(path).get_json()
    still = owner.get(f"{path}?as_of=2").get_json()
    own_rank = owner.get(f"{path}/ranks/{bots[0]}").get_json()
    moves = owner.get(f"{path}/history?bot={bots[0]}").get_json()["items"]

    assert (now["as_of_seq"], then["as_of_seq"], now["frozen_reason"]) == (2, 1, None)
    assert [row["games"] for row in then["items"]] == [1, 1]
    unused: dict[str, Any] = {"cancelled": [], "rematches": [], "proposal": None}
    assert voided.get_json() == {"void": [second.match_id], "ledger_entries": [3], **unused}
    assert (after["as_of_seq"], after["items"]) == (3, then["items"])
    assert still == now
    (own,) = (row for row in after["items"] if row["bot"] == bots[0])
    assert (own_rank["rank"], own_rank["total"], own_rank["rating_micro"]) == (own["rank"], 2, own["rating_micro"])
    assert (own_rank["as_of_seq"], own_rank["changed_seq"]) == (3, 3)
    assert own_rank["owner_best"] is None  # of a rating that is still provisional
    assert [(move["seq"], move["kind"], move["match"], move["reason"]) for move in moves] == [
        (3, "void", second.match_id, "a cable was cut"),
        (2, "result", second.match_id, None),
        (1, "result", first.match_id, None),
    ]
    assert fields_of(owner.get(f"{path}?as_of=4")) == {"as_of"}
    assert fields_of(owner.get(f"{path}?as_of=-1")) == {"as_of"}
    assert owner.get(f"{path}/ranks/bot_{'0' * 26}").status_code == 404
    assert owner.get(f"{path}/ranks/{service.verified_bot(owner)['id']}").status_code == 404


def test_a_row_has_its_strength_and_a_list_its_members_without_a_fit_in_the_request(
    service: Service, owner: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(service.database)
    bots = [service.verified_bot(person)["id"] for person in (owner, service.person())]
    ladder_id = str(world.play(bots).ladder_id)
    monkeypatch.setattr("referee_extras.analysis.strengths.fit", None)  # nothing is fitted for a request
    monkeypatch.setattr("referee_extras.analysis.strengths.load_results", None)
    client = service.anonymous()

    before = client.get(f"{API}/ladders/{ladder_id}").get_json()["items"]
    rating_errors.refresh_errors(service.database, ladder_id)
    after = client.get(f"{API}/ladders/{ladder_id}").get_json()["items"]
    (listed,) = client.get(f"{API}/ladders").get_json()["items"]

    missing = {"strength": None, "strength_error": None}
    assert all(row | missing == row for row in before)
    assert all(0 < row["strength_error"] < 600 and 1_000 < row["strength"] < 2_000 for row in after)
    assert [row | missing for row in after] == before
    assert listed["members"] == 0  # a variant has none
