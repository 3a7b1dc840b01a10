"""Standings of a tournament, and rows of single bots."""

from fractions import Fraction
from typing import Any

from tests.api.conftest import API, Person, Service
from tests.api.tournaments import opened, play, started


def shown(client: Any, path: str) -> Any:
    answer = client.get(path)
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return answer.get_json()


def test_pages_and_rows_of_the_standings_fit_together(service: Service, owner: Person, organiser: Person) -> None:
    tournament_id = started(service, organiser, 4, cycles=3)
    path = f"/tournaments/{tournament_id}"
    play(service, tournament_id, 16)

    table = shown(owner, f"{path}/standings")
    first = shown(owner, f"{path}/standings?limit=3")
    rest = shown(owner, f"{path}/standings?limit=3&cursor={first['next']}")
    own = [shown(owner, f"{path}/standings/{row['bot']}") for row in table["items"]]

    rows = table["items"]
    assert (table["results"], table["samples"], table["next"]) == (16, 1000, None)
    assert {page["as_of_seq"] for page in (table, first, rest, *own)} == {table["as_of_seq"]}
    assert first["items"] + rest["items"] == rows == [one["row"] for one in own]
    assert [one["total"] for one in own] == [4] * 4
    assert sum(Fraction(row["points_exact"]) for row in rows) == 16
    assert [column["name"] for column in rows[0]["tie_breaks"]] == shown(owner, path)["tie_breaks"]
    for row in rows:
        assert row["wins"] + row["draws"] + row["losses"] == row["matches"]
        bar = row["error_bar"]
        assert bar["groups"] == row["matches"] >= 6
        assert 0 <= bar["low"] <= row["points_per_match"] <= bar["high"] <= 1


def test_a_table_moves_with_results_voids_and_withdrawals(
    service: Service, owner: Person, organiser: Person, admin: Person
) -> None:
    tournament_id = started(service, organiser, 3, deal_sharing="own")
    path, client = f"/tournaments/{tournament_id}", service.anonymous()

    before = client.get(f"{API}{path}/standings")
    unchanged = client.get(f"{API}{path}/standings", headers={"If-None-Match": before.headers["ETag"]})
    play(service, tournament_id, 2)
    played = shown(owner, f"{path}/standings")
    (match, *_) = shown(owner, f"/matches?tournament={tournament_id}&status=finished")["items"]
    refused = service.person("organiser").post(f"/matches/{match['id']}/void", {"reason": "a cable was cut"})
    voided = admin.post(f"/matches/{match['id']}/void", {"reason": "a cable was cut", "rematch": True})
    after = shown(owner, f"{path}/standings")
    told = shown(owner, f"/matches/{match['id']}")
    rematch = shown(owner, f"/matches/{voided.get_json()['rematches'][0]}")
    organiser.post(f"{path}/withdraw", {"bot": match["seats"][0]["bot"]})
    left = shown(owner, f"{path}/standings/{match['seats'][0]['bot']}")

    empty = before.get_json()
    assert (empty["as_of_seq"], empty["results"], [row["rank"] for row in empty["items"]]) == (0, 0, [1, 1, 1])
    assert empty["items"][0]["error_bar"] == {"low": None, "high": None, "groups": 0}
    assert (unchanged.status_code, before.headers["Cache-Control"]) == (304, "no-cache")
    assert (played["results"], after["results"]) == (2, 1)
    assert refused.status_code == 403
    assert voided.get_json()["void"] == [match["id"]]
    assert len(voided.get_json()["ledger_entries"]) == 1
    assert (told["status"], told["reason"]) == ("void", "a cable was cut")
    assert (rematch["status"], rematch["rematch_of"]) == ("due", match["id"])
    assert rematch["tournament_round"] == match["tournament_round"]
    assert left["row"]["withdrawn"] is True
    again = admin.post(f"/matches/{match['id']}/void", {"reason": "a cable was cut"})
    assert again.status_code == 409


def test_what_is_not_there_has_no_table(service: Service, owner: Person, organiser: Person) -> None:
    path = f"/tournaments/{opened(organiser)}"
    nobody, nothing = f"bot_{'0' * 26}", f"/tournaments/trn_{'0' * 26}"

    assert owner.get(f"{path}/standings/{nobody}").status_code == 404
    assert shown(owner, f"{path}/standings")["items"] == []
    assert owner.get(f"{nothing}/standings").status_code == 404
    assert owner.get(f"{path}/standings?limit=0").status_code == 422
    assert owner.get(f"{path}/standings?cursor=x").status_code == 422
