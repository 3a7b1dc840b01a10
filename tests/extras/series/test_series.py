"""Series over HTTP: who may run them, what may be in them, and standings that follow from their tournaments."""

import csv
import io
from typing import Any

import pytest
from sqlalchemy import Engine, event

from referee.bots.tables import Bot
from referee.tournaments import disqualification
from tests.api.conftest import Person, Service, fields_of
from tests.api.tournaments import join, play, started


def new(person: Person, name: str = "Season", **terms: Any) -> str:
    made = person.post("/series", {"name": name, **terms})
    assert made.status_code == 201, made.get_json()
    return str(made.get_json()["id"])


def finished(service: Service, organiser: Person, count: int = 4, **terms: Any) -> str:
    tournament_id = started(service, organiser, count, **{"rated": False, "format": "round_robin", **terms})
    play(service, tournament_id)
    assert organiser.get(f"/tournaments/{tournament_id}").get_json()["status"] == "finished"
    return tournament_id


def ranks(person: Person, tournament_id: str) -> dict[str, int]:
    return {
        row["bot"]: row["rank"] for row in person.get(f"/tournaments/{tournament_id}/standings").get_json()["items"]
    }


def edit(person: Person, series_id: str, **changes: Any) -> Any:
    etag = person.get(f"/series/{series_id}").headers["ETag"]
    return person.ask("PATCH", f"/series/{series_id}", {"If-Match": etag}, json=changes)


def test_finished_tournaments_bring_points_that_anybody_can_recompute(service: Service, organiser: Person) -> None:
    series = new(organiser, points=[10, 6, 3], description="*All* games.")
    first, second = finished(service, organiser), finished(service, organiser, seats=3)
    later = started(service, organiser, 4, rated=False, format="round_robin")
    for one in (first, second, later):
        added = organiser.post(f"/series/{series}/tournaments", {"tournaments": [one]})
        assert added.status_code == 200, added.get_json()

    rows = service.anonymous().get(f"/api/v1/series/{series}/standings").get_json()["items"]
    table = list(csv.DictReader(io.StringIO(organiser.get(f"/series/{series}/standings.csv").text, newline="")))
    text = organiser.get(f"/series/{series}/standings.md").text
    page = service.anonymous().get(f"/series/{series}").text

    assert [one["id"] for one in added.get_json()["tournaments"]] == [first, second, later]
    expected: dict[str, float] = {}
    for one in (first, second):
        by_rank: dict[int, list[str]] = {}
        for bot, rank in ranks(organiser, one).items():
            by_rank.setdefault(rank, []).append(bot)
        for rank, bots in by_rank.items():
            shared = sum([10, 6, 3][rank - 1 : rank - 1 + len(bots)]) / len(bots)
            expected |= {bot: expected.get(bot, 0) + shared for bot in bots}
    assert {row["bot"]: row["points"] for row in rows} == pytest.approx(expected)
    assert [row["points"] for row in rows] == sorted((row["points"] for row in rows), reverse=True)
    assert [row["bot"] for row in table] == [row["bot"] for row in rows]
    assert text.startswith("# Season\n\nStandings after 2 of 3 tournaments.\n\n| Rank | Bot |")
    assert f'href="/tournaments/{later}"' in page
    assert "<em>All</em> games." in page
    assert f'href="/series/{series}"' in service.anonymous().get(f"/tournaments/{first}").text
    assert f'href="/series/{series}"' in service.anonymous().get("/series").text


def test_what_happens_after_the_end_of_a_tournament_corrects_the_standings(service: Service, organiser: Person) -> None:
    series, cup = new(organiser), finished(service, organiser)
    organiser.post(f"/series/{series}/tournaments", {"tournaments": [cup]})
    path = f"/series/{series}/standings"
    (best, *_) = [row["bot"] for row in organiser.get(path).get_json()["items"]]

    with service.database.write() as session:
        disqualification.disqualify_bot(session, cup, best, "Two names.")

    rows = organiser.get(path).get_json()["items"]
    assert best not in [row["bot"] for row in rows]
    assert rows[0]["points"] >= 18


def test_the_best_results_count_and_terms_can_be_changed(service: Service, organiser: Person) -> None:
    series = new(organiser, best=1)
    for _ in range(2):
        organiser.post(f"/series/{series}/tournaments", {"tournaments": [finished(service, organiser, 3)]})

    changed = edit(organiser, series, best=None, points=[5, 0], name="Season 2")
    stale = organiser.ask("PATCH", f"/series/{series}", {"If-Match": '"old"'}, json={"best": 2})

    assert (changed.get_json()["best"], changed.get_json()["points"]) == (None, [5, 0])
    assert changed.get_json()["name"] == "Season 2"
    assert stale.status_code == 412
    assert organiser.ask("DELETE", f"/series/{series}").status_code == 409  # it has finished tournaments
    empty = new(organiser, "Empty")
    assert organiser.ask("DELETE", f"/series/{empty}").status_code == 204
    assert organiser.get(f"/series/{empty}").status_code == 404


@pytest.mark.parametrize(
    ("terms", "field"),
    [
        ({"points": []}, "points"),
        ({"points": [0, 0]}, "points"),
        ({"points": [3, 5]}, "points"),
        ({"points": [-1]}, "points[0]"),
        ({"points": [5] * 101}, "points"),
        ({"best": 0}, "best"),
        ({"best": 51}, "best"),
        ({"name": ""}, "name"),
        ({"description": "\u202eabc"}, "description"),
        ({"tournaments": []}, "tournaments"),
    ],
    ids=str,
)
def test_a_series_with_bad_terms_is_refused(organiser: Person, terms: dict[str, Any], field: str) -> None:
    refused = organiser.post("/series", {"name": "Season", **terms})

    assert refused.status_code == 422
    assert fields_of(refused) == {field}


def test_only_those_who_run_both_add_a_tournament(service: Service, organiser: Person, owner: Person) -> None:
    series = new(organiser)
    another = service.person("organiser")
    theirs, mine = finished(service, another), finished(service, organiser)
    path = f"/series/{series}/tournaments"
    draft = organiser.post("/tournaments", {"name": "Draft", "game": "saint-poker", "seats": 2}).get_json()["id"]
    unlisted = started(service, organiser, 2, rated=False, listed=False)

    assert organiser.post(path, {"tournaments": [theirs]}).status_code == 403
    assert another.post(path, {"tournaments": [theirs]}).status_code == 403
    assert organiser.post(path, {"tournaments": [draft]}).status_code == 409
    assert fields_of(organiser.post(path, {"tournaments": [unlisted]})) == {"tournaments"}
    assert fields_of(organiser.post(path, {"tournaments": ["trn_" + "0" * 26]})) == {"tournaments"}
    refused = organiser.post(path, {"tournaments": [mine, unlisted]})
    assert "is unlisted, and this series is listed" in refused.get_json()["errors"][0]["message"]
    assert not organiser.get(f"/series/{series}").get_json()["tournaments"]  # all or none
    assert organiser.post(path, {"tournaments": [mine]}).status_code == 200
    assert organiser.post(path, {"tournaments": [mine]}).status_code == 409

    join(organiser, another, f"/series/{series}")
    assert another.post(path, {"tournaments": [theirs]}).status_code == 200
    assert another.ask("DELETE", f"{path}/{mine}").status_code == 204
    assert another.ask("DELETE", f"{path}/{mine}").status_code == 404
    assert organiser.ask("DELETE", f"/series/{series}/organisers/{another.id}").status_code == 204
    assert edit(another, series, best=1).status_code == 403
    assert edit(owner, series, best=1).status_code == 403


def test_accounts_without_the_role_have_unlisted_series_only_and_a_quota(owner: Person, organiser: Person) -> None:
    listed = owner.post("/series", {"name": "Season"})
    hidden = new(owner, listed=False)

    assert listed.status_code == 403
    assert "Set listed to false" in listed.get_json()["detail"]
    assert hidden in [one["id"] for one in owner.get("/series").get_json()["items"]]
    assert hidden not in [one["id"] for one in organiser.get("/series").get_json()["items"]]
    assert organiser.get(f"/series/{hidden}").status_code == 200
    while (refused := owner.post("/series", {"name": "Season", "listed": False})).status_code == 201:
        pass
    assert refused.get_json()["code"] == "quota_exceeded"


def test_what_organisers_do_is_recorded(service: Service, organiser: Person, admin: Person) -> None:
    series, cup = new(organiser), finished(service, organiser, 2)
    organiser.post(f"/series/{series}/tournaments", {"tournaments": [cup]})
    edit(organiser, series, best=2)
    organiser.ask("DELETE", f"/series/{series}/tournaments/{cup}")
    organiser.ask("DELETE", f"/series/{series}")

    acts = [act for act in admin.get("/acts?limit=100").get_json()["items"] if act["object"] == series]

    assert [act["kind"] for act in reversed(acts)] == [
        "series.created",
        "series.tournament_added",
        "series.edited",
        "series.tournament_removed",
        "series.deleted",
    ]
    assert [act["tournament"] for act in acts][1::2] == [cup, cup]


def test_the_archive_lists_series_by_year(service: Service, organiser: Person) -> None:
    series = new(organiser)
    year = organiser.get(f"/series/{series}").get_json()["created_at"][:4]
    anybody = service.anonymous()

    assert [one["id"] for one in organiser.get(f"/series?year={year}").get_json()["items"]] == [series]
    assert organiser.get("/series?year=2001").get_json()["items"] == []
    assert f'href="/series/{series}"' in anybody.get(f"/series?year={year}").text
    assert f'href="/series/{series}"' not in anybody.get("/series?year=2001").text
    assert anybody.get("/series?year=x").status_code == 422


def test_a_renamed_bot_keeps_its_points_under_its_new_name(service: Service, organiser: Person) -> None:
    series, cup = new(organiser), finished(service, organiser, 2)
    organiser.post(f"/series/{series}/tournaments", {"tournaments": [cup]})
    first = organiser.get(f"/series/{series}/standings").get_json()["items"][0]
    with service.database.write() as session:
        session.get_one(Bot, first["bot"]).name = "Another name"

    (renamed, *_) = organiser.get(f"/series/{series}/standings").get_json()["items"]
    assert (renamed["bot"], renamed["name"], renamed["points"]) == (first["bot"], "Another name", first["points"])


def count_statements(service: Service, path: str) -> int:
    """Return the number of statements for a page whose data are cached where that is possible."""
    seen: list[str] = []
    service.anonymous().get(path)

    def note(*said: Any) -> None:
        seen.append(said[2])

    event.listen(Engine, "before_cursor_execute", note)
    try:
        assert service.anonymous().get(path).status_code == 200
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    assert seen
    return len(seen)


def test_the_page_of_a_long_series_is_small_and_costs_no_more_statements(service: Service, organiser: Person) -> None:
    cups = [finished(service, organiser, 3, name=f"Cup {number} {'x' * 40}") for number in range(1, 13)]
    short, long = new(organiser, best=2), new(organiser, best=2)
    for series, members in ((short, cups[:2]), (long, cups)):
        for one in members:
            organiser.post(f"/series/{series}/tournaments", {"tournaments": [one]})
    ask = service.anonymous().get

    latest, earliest = ask(f"/series/{long}").text, ask(f"/series/{long}?tournaments=1").text

    assert count_statements(service, f"/series/{long}?tournaments=1") == count_statements(service, f"/series/{short}")
    standings = [text.partition("</table>")[0] for text in (earliest, latest)]
    assert [[one for one in cups if f"/tournaments/{one}" in text] for text in standings] == [cups[:10], cups[10:]]
    assert f'href="/series/{long}?page=1&amp;tournaments=1"' in latest
    assert "12 of 12 tournaments finished" in earliest
    assert len(earliest) < 50 * 1024
    refused = [ask(f"/series/{long}?tournaments={text}") for text in ("3", "0", "-1", "x")]
    assert [answer.status_code for answer in refused] == [422] * 4
    assert "2, the number of pages" in refused[0].text
