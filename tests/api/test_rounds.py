"""Rounds, tables and brackets: what is shown to whom."""

from typing import Any

from tests.api.conftest import API, Person, Service
from tests.api.tournaments import drafted, play, started


def shown(person: Person, path: str) -> Any:
    answer = person.get(path)
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return answer.get_json()


def seen(round_view: Any) -> list[list[str | None]]:
    """Return the bots that a round shows: by seat of each table, and by match."""
    tables = [[one["bot"] for one in table["entrants"]] for table in round_view["items"]]
    return tables + [
        [seat["bot"] for seat in match["seats"]] for table in round_view["items"] for match in table["matches"]
    ]


def test_D13_a_round_tells_who_sits_at_a_rated_table_when_it_is_over(
    service: Service, owner: Person, organiser: Person
) -> None:
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
    unrated = started(service, organiser, 2, rated=False)

    for one in (tournament_id, unrated):
        round_view = shown(owner, f"/tournaments/{one}/rounds/1")
        assert None not in round_view["items"][0]["entrants"][0].values()
        (match,) = shown(owner, f"/matches?tournament={one}&tournament_round=1")["items"]
        assert (
            [seat["entrant"] for seat in match["seats"]]
            == [seat["bot"] for seat in match["seats"]]
            == seen(round_view)[1]
        )
    bot = round_view["items"][0]["entrants"][0]["bot"]
    assert len(shown(owner, f"/matches?bot={bot}")["items"]) == 1


def test_tables_are_paged_and_what_is_not_there_is_not_found(
    service: Service, owner: Person, organiser: Person
) -> None:
    tournament_id = started(service, organiser, 6, rated=False)
    path = f"/tournaments/{tournament_id}/rounds"

    rounds = shown(owner, f"{path}?limit=2")
    rest = shown(owner, f"{path}?limit=4&cursor={rounds['next']}")
    first = shown(owner, f"{path}/1?limit=2")
    second = shown(owner, f"{path}/1?limit=2&cursor={first['next']}")

    assert [one["tournament_round"] for one in rounds["items"] + rest["items"]] == [1, 2, 3, 4, 5]
    assert [table["table"] for table in first["items"] + second["items"]] == [1, 2, 3]
    assert (rest["next"], second["next"]) == (None, None)
    assert owner.get(f"{path}/1?cursor={rounds['next']}").status_code == 422
    for missing in ("6", "0", "999999999999999999999", "x"):
        assert owner.get(f"{path}/{missing}").status_code == 404
    assert owner.get(f"/tournaments/trn_{'0' * 26}/rounds").status_code == 404


def test_a_bracket_shows_what_is_over_what_is_played_and_what_is_to_come(
    service: Service, owner: Person, organiser: Person
) -> None:
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
    assert {
        one["origin"]["tournament_round"] for table in told["rounds"][1]["tables"] for one in table["entrants"]
    } == {1}
    assert [round_view["state"] for round_view in over.get_json()["rounds"]] == ["over", "over"]
    again = client.get(API + path, headers={"If-None-Match": over.headers["ETag"]})
    assert again.status_code == 304


def test_other_formats_have_no_bracket(organiser: Person) -> None:
    assert organiser.get(f"/tournaments/{drafted(organiser)}/bracket").status_code == 409
