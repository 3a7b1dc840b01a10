"""Rounds, tables, brackets and standings: what is shown to whom."""

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from api.tournaments import standings_cache
from tests.api.conftest import API, Person, Service
from tests.api.tournaments import opened, play, started


def shown(person: Person, path: str) -> Any:
    answer = person.get(path)
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return answer.get_json()


def seen(round_view: Any) -> list[list[str | None]]:
    """Return the bots that a round shows: by seat of each table, and by match."""
    tables = [[one["bot"] for one in table["entrants"]] for table in round_view["items"]]
    matches = [match for table in round_view["items"] for match in table["matches"]]
    return tables + [[seat["bot"] for seat in match["seats"]] for match in matches]


def test_D13_a_round_tells_who_sits_at_a_table_that_is_over(service: Service, owner: Person, organiser: Person) -> None:
    tournament_id = started(service, organiser, 5, format="swiss", format_options={"rounds": 2})
    path = f"/tournaments/{tournament_id}/rounds"

    before = shown(owner, f"{path}/1")
    told = shown(organiser, f"{path}/1")
    play(service, tournament_id, 1)
    half = shown(owner, f"{path}/1")
    play(service, tournament_id, 1)
    (first, second) = shown(owner, path)["items"]
    after = shown(owner, f"{path}/1")

    assert (before["state"], before["tables"], before["byes"], before["matches"]) == ("playing", 2, 1, 2)
    assert seen(before) == [[None, None]] * 4
    assert [(bye["bot"], bye["reason"]) for bye in before["bye_entrants"]] == [(None, "odd")]
    assert [match["seats"][0]["seat"] for table in before["items"] for match in table["matches"]] == [0, 0]
    everybody = {bot for table in seen(told)[:2] for bot in table} | {told["bye_entrants"][0]["bot"]}
    assert len(everybody) == 5
    assert sorted(table["over"] for table in half["items"]) == [False, True]
    assert sum(None in table for table in seen(half)) == 2  # the other table, and its match
    assert half["bye_entrants"][0]["bot"] is None
    assert (first["state"], first["done"], second["state"]) == ("over", 2, "playing")
    assert seen(after) == seen(told)
    assert after["bye_entrants"] == told["bye_entrants"]
    assert after["items"][0]["matches"][0]["seats"][0]["placement"] in (1, 2)


def test_a_cancelled_event_tells_who_was_to_play(service: Service, owner: Person, organiser: Person) -> None:
    cup = started(service, organiser, 5, format="knockout")
    assert organiser.post(f"/tournaments/{cup}/cancel").status_code == 200

    round_view, bracket = shown(owner, f"/tournaments/{cup}/rounds/1"), shown(owner, f"/tournaments/{cup}/bracket")

    assert all(bot for table in seen(round_view) for bot in table)
    assert all(bye["bot"] for bye in [*round_view["bye_entrants"], *bracket["rounds"][0]["byes"]])


def test_an_event_may_tell_who_plays(service: Service, owner: Person, organiser: Person) -> None:
    tournament_id = started(service, organiser, 2, anonymous=False)

    round_view = shown(owner, f"/tournaments/{tournament_id}/rounds/1")

    assert None not in round_view["items"][0]["entrants"][0].values()
    (match,) = shown(owner, f"/matches?tournament={tournament_id}&tournament_round=1")["items"]
    entrants, bots = ([seat[name] for seat in match["seats"]] for name in ("entrant", "bot"))
    assert entrants == bots == seen(round_view)[1]
    assert len(shown(owner, f"/matches?bot={bots[0]}")["items"]) == 1


def test_tables_are_paged_and_those_of_unrated_events_name_who_plays(
    service: Service, owner: Person, organiser: Person
) -> None:
    path = f"/tournaments/{started(service, organiser, 4, rated=False)}/rounds"

    rounds = shown(owner, f"{path}?limit=2")
    rest = shown(owner, f"{path}?limit=4&cursor={rounds['next']}")
    first = shown(owner, f"{path}/1?limit=1")
    second = shown(owner, f"{path}/1?limit=1&cursor={first['next']}")

    assert [one["tournament_round"] for one in rounds["items"] + rest["items"]] == [1, 2, 3]
    assert [table["table"] for table in first["items"] + second["items"]] == [1, 2]
    assert (rest["next"], second["next"]) == (None, None)
    assert len({bot for page in (first, second) for table in seen(page) for bot in table} - {None}) == 4
    assert owner.get(f"{path}/1?cursor={rounds['next']}").status_code == 422
    for missing in ("4", "0", "999999999999999999999", "x"):
        assert owner.get(f"{path}/{missing}").status_code == 404


def test_a_bracket_shows_past_present_and_future_rounds(service: Service, owner: Person, organiser: Person) -> None:
    tournament_id = started(service, organiser, 4, format="knockout", format_options={"third_place": True})
    path = f"/tournaments/{tournament_id}/bracket"
    client = service.anonymous()

    first = shown(owner, path)
    play(service, tournament_id, 2)
    later, told = shown(owner, path), shown(organiser, path)
    play(service, tournament_id)
    over = client.get(API + path)

    assert [(round_view["label"], round_view["state"]) for round_view in first["rounds"]] == [("semi_final", "playing")]
    assert [one["bot"] for table in first["rounds"][0]["tables"] for one in table["entrants"]] == [None] * 4
    assert first["to_come"] == [{"label": "final", "tables": 1}]
    semi, final = later["rounds"]
    assert [one["advanced"] for one in semi["tables"][0]["entrants"]] == [True, False]
    assert sorted(one["seed"] for table in semi["tables"] for one in table["entrants"]) == [1, 2, 3, 4]
    hidden = {"bot": None, "name": None, "seed": None, "origin": None, "points": None, "advanced": None}
    assert [table["label"] for table in final["tables"]] == ["final", "third_place"]
    assert final["tables"][0]["entrants"] == [hidden, hidden]
    finalists = [one for table in told["rounds"][1]["tables"] for one in table["entrants"]]
    assert {one["origin"]["tournament_round"] for one in finalists} == {1}
    assert [round_view["state"] for round_view in over.get_json()["rounds"]] == ["over", "over"]
    again = client.get(API + path, headers={"If-None-Match": over.headers["ETag"]})
    assert again.status_code == 304


def test_pages_and_rows_of_the_standings_fit_together(service: Service, owner: Person, organiser: Person) -> None:
    tournament_id = started(service, organiser, 3, cycles=3)
    path = f"/tournaments/{tournament_id}"
    play(service, tournament_id, 8)

    table = shown(owner, f"{path}/standings")
    first = shown(owner, f"{path}/standings?limit=2")
    rest = shown(owner, f"{path}/standings?limit=2&cursor={first['next']}")
    own = [shown(owner, f"{path}/standings/{row['bot']}") for row in table["items"]]

    rows = table["items"]
    assert (table["results"], table["samples"], table["next"]) == (8, 1000, None)
    assert {page["as_of_seq"] for page in (table, first, rest, *own)} == {table["as_of_seq"]}
    assert first["items"] + rest["items"] == rows == [one["row"] for one in own]
    assert [one["total"] for one in own] == [3] * 3
    assert sum(Fraction(row["points_exact"]) for row in rows) == 8
    assert [column["name"] for column in rows[0]["tie_breaks"]] == shown(owner, path)["tie_breaks"]
    for row in rows:
        assert row["wins"] + row["draws"] + row["losses"] == row["matches"]
        bar = row["error_bar"]
        assert bar["groups"] == row["matches"] >= 5
        assert 0 <= bar["low"] <= row["points_per_match"] <= bar["high"] <= 1


def test_more_results_get_fewer_samples() -> None:
    made: list[Any] = [SimpleNamespace(outcomes=range(results)) for results in (2_000, 2_001, 10_000, 10_001)]

    assert [standings_cache.samples_of(one) for one in made] == [1_000, 400, 400, 200]


def test_a_table_moves_with_all_that_counts(service: Service, owner: Person, organiser: Person, admin: Person) -> None:
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


def test_what_is_not_there_has_no_table_rounds_or_bracket(owner: Person, organiser: Person) -> None:
    path, nothing = f"/tournaments/{opened(organiser)}", f"/tournaments/trn_{'0' * 26}"

    assert shown(owner, f"{path}/standings")["items"] == []
    assert owner.get(f"{path}/bracket").status_code == 409
    for missing in (f"{path}/standings/bot_{'0' * 26}", f"{nothing}/standings", f"{nothing}/rounds"):
        assert owner.get(missing).status_code == 404
    for wrong in ("limit=0", "cursor=x"):
        assert owner.get(f"{path}/standings?{wrong}").status_code == 422
