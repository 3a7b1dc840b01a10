"""Series: who runs them, what may be in them, their feed, and standings that follow from their tournaments."""

import csv
import io
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from sqlalchemy.orm import Session

from referee.accounts import accounts
from referee.bots.tables import Bot
from referee.db.engine import Database
from referee.errors import Conflict
from referee.tournaments import disqualification
from referee_extras.series import operations
from referee_extras.series import pages as series_pages
from referee_extras.series.standings import DEFAULT_POINTS, series_standings, shared_points
from tests.api.conftest import Person, Service, fields_of
from tests.api.organised import create
from tests.api.tournaments import join, play, started
from tests.database.world import FakeClock, World
from tests.extras.conftest import statements_of
from tests.extras.feeds.test_feeds import read, titles
from tests.workflows.test_deletion_races import delete_account, load, meanwhile


def new(person: Person, name: str = "Season", **terms: Any) -> str:
    made = person.post("/series", {"name": name, **terms})
    assert made.status_code == 201, made.get_json()
    return str(made.get_json()["id"])


def finished(service: Service, organiser: Person, count: int = 3, **terms: Any) -> str:
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
    assert f'href="/tournaments/{later}"' in page
    assert "<em>All</em> games." in page
    assert f'href="/series/{series}"' in service.anonymous().get(f"/tournaments/{first}").text
    assert f'href="/series/{series}"' in service.anonymous().get("/series").text


def test_what_happens_after_the_end_of_a_tournament_corrects_the_standings(service: Service, organiser: Person) -> None:
    series, cup = new(organiser), finished(service, organiser)
    organiser.post(f"/series/{series}/tournaments", {"tournaments": [cup]})
    path = f"/series/{series}/standings"
    (best, other, *_) = [row["bot"] for row in organiser.get(path).get_json()["items"]]

    with service.database.write() as session:
        disqualification.disqualify_bot(session, cup, best, "Two names.")
        session.get_one(Bot, other).name = "Another name"

    rows = organiser.get(path).get_json()["items"]
    assert best not in [row["bot"] for row in rows]
    assert rows[0]["points"] >= 18
    assert {row["bot"]: row["name"] for row in rows}[other] == "Another name"


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


BAD_TERMS: list[tuple[dict[str, Any], str]] = [
    *(({"points": []}, "points"), ({"points": [0, 0]}, "points"), ({"points": [3, 5]}, "points")),
    *(
        ({"points": [-1]}, "points[0]"),
        ({"points": [5] * 101}, "points"),
        ({"best": 0}, "best"),
        ({"best": 51}, "best"),
    ),
    *(({"name": ""}, "name"), ({"description": "\u202eabc"}, "description"), ({"tournaments": []}, "tournaments")),
]


def test_a_series_with_bad_terms_is_refused(organiser: Person) -> None:
    for terms, field in BAD_TERMS:
        refused = organiser.post("/series", {"name": "Season", **terms})
        assert (refused.status_code, fields_of(refused)) == (422, {field}), terms


def test_only_those_who_run_both_add_a_tournament(service: Service, organiser: Person, owner: Person) -> None:
    series = new(organiser)
    another = service.person("organiser")
    theirs, mine = finished(service, another, 2), finished(service, organiser, 2)
    path = f"/series/{series}/tournaments"
    draft = organiser.post("/tournaments", {"name": "Draft", "game": "saint-poker", "seats": 2}).get_json()["id"]
    unlisted = started(service, organiser, 2, rated=False, listed=False)

    assert organiser.post(path, {"tournaments": [theirs]}).status_code == 403
    assert another.post(path, {"tournaments": [theirs]}).status_code == 403
    assert organiser.post(path, {"tournaments": [draft]}).status_code == 409
    of_others = another.post(f"/series/{new(another)}/tournaments", {"tournaments": [draft]})
    assert "no tournament has the id" in of_others.get_json()["errors"][0]["message"]
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


def test_accounts_without_the_role_have_unlisted_series_only_and_a_quota(
    service: Service, owner: Person, organiser: Person
) -> None:
    third = service.person()
    listed = owner.post("/series", {"name": "Season"})
    hidden = new(owner, listed=False)

    assert listed.status_code == 403
    assert "Set listed to false" in listed.get_json()["detail"]
    assert hidden in [one["id"] for one in owner.get("/series").get_json()["items"]]
    assert hidden not in [one["id"] for one in organiser.get("/series").get_json()["items"]]
    assert organiser.get(f"/series/{hidden}").status_code == 200
    join(owner, organiser, f"/series/{hidden}")
    seen_by = [hidden in [one["id"] for one in who.get("/series").get_json()["items"]] for who in (organiser, third)]
    assert seen_by == [True, False]
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


def test_the_page_of_a_long_series_is_small_and_costs_no_more_statements(
    service: Service, organiser: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(series_pages, "TOURNAMENTS_PER_PAGE", 2)
    cups = [finished(service, organiser, 2, name=f"Cup {number}") for number in range(1, 4)]
    short, long = new(organiser, best=2), new(organiser, best=2)
    for series, members in ((short, cups[:2]), (long, cups)):
        for one in members:
            organiser.post(f"/series/{series}/tournaments", {"tournaments": [one]})
    ask = service.anonymous().get

    latest, earliest = ask(f"/series/{long}").text, ask(f"/series/{long}?tournaments=1").text

    ask(f"/series/{short}")  # its data are cached
    pages = (f"/series/{short}", f"/series/{long}?tournaments=1")
    costs = [len(statements_of(partial(ask, path))) for path in pages]
    assert costs[0] == costs[1] > 0
    standings = [text.partition("</table>")[0] for text in (earliest, latest)]
    assert [[one for one in cups if f"/tournaments/{one}" in text] for text in standings] == [cups[:2], cups[2:]]
    assert f'href="/series/{long}?page=1&amp;tournaments=1"' in latest
    assert "3 of 3 tournaments finished" in earliest
    refused = [ask(f"/series/{long}?tournaments={text}") for text in ("3", "0", "-1", "x")]
    assert [answer.status_code for answer in refused] == [422] * 4
    assert "2, the number of pages" in refused[0].text


def test_the_feed_of_a_series_has_its_finished_tournaments_with_their_winners(
    service: Service, organiser: Person
) -> None:
    series = organiser.post("/series", {"name": "Season"}).get_json()["id"]
    cups = [started(service, organiser, 2, rated=False, name=name) for name in ("First cup", "Second cup")]
    for cup in cups:
        organiser.post(f"/series/{series}/tournaments", {"tournaments": [cup]})
    before = read(service, f"/series/{series}/tournaments.atom")

    play(service, cups[0])
    after = read(service, f"/series/{series}/tournaments.atom")

    rows = organiser.get(f"/tournaments/{cups[0]}/standings").get_json()["items"]
    winners = sorted(row["name"] for row in rows if row["rank"] == 1)
    assert titles(before) == []
    finished = [cup for cup in cups if organiser.get(f"/tournaments/{cup}").get_json()["status"] == "finished"]
    assert len(titles(after)) == len(finished) >= 1
    assert f"First cup: {' and '.join(winners)}" in titles(after)
    assert 'tournaments.atom"' in service.anonymous().get(f"/series/{series}").text


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[World]:
    opened = Database(postgres_url, clock=FakeClock())
    yield World(opened)
    opened.dispose()


def create_series(session: Session, account_id: str) -> str:
    account = accounts.get_account(session, account_id)
    return operations.create_series(session, account, quota=5, name="Season").id


def test_the_last_organiser_of_a_series_leaves_it_only_to_the_archive(service: Service, organiser: Person) -> None:
    path = create(organiser, "series")
    tournament = started(service, organiser, bots=2)

    unfinished = organiser.ask("DELETE", f"{path}/organisers/{organiser.id}")
    organiser.post(f"{path}/tournaments", {"tournaments": [tournament]})
    play(service, tournament)
    left = organiser.ask("DELETE", f"{path}/organisers/{organiser.id}").status_code

    assert (unfinished.status_code, "Nobody else runs" in unfinished.get_json()["detail"]) == (409, True)
    assert (left, organiser.get(path).get_json()["organisers"]) == (204, [])
    assert service.anonymous().get(path).status_code == 200
    assert organiser.post(f"{path}/organisers", {"account": organiser.id}).status_code == 403


def test_an_account_that_is_being_deleted_creates_no_series(postgres: World) -> None:
    owner = postgres.account()

    with meanwhile(postgres, lambda session: create_series(session, owner), load(owner)) as (session, acting):
        delete_account(session, owner)

    with pytest.raises(Conflict):
        acting.result(timeout=30)


def test_bots_that_share_a_rank_share_the_points_of_their_places() -> None:
    gained = shared_points({"a": 1, "b": 2, "c": 2, "d": 4, "e": 5}, (10, 6, 3, 1))

    assert gained == {"a": 10, "b": Fraction(9, 2), "c": Fraction(9, 2), "d": 1, "e": 0}
    assert shared_points({"a": 2, "b": 7}, (10, 6)) == {"a": 10, "b": 6}  # those ranked before them do not score


def test_only_the_best_results_count_and_of_equal_ones_the_earlier() -> None:
    played = [("t1", {"a": 2, "b": 1}), ("t2", {"a": 1, "b": 2}), ("t3", {"a": 1, "c": 2})]

    first, second, third = series_standings(played, (10, 6), best=2)

    assert (first.bot, int(first.points)) == ("a", 20)
    assert [(result.tournament, result.counts) for result in first.results] == [
        ("t1", False),
        ("t2", True),
        ("t3", True),
    ]
    assert (second.bot, int(second.points)) == ("b", 16)
    assert (third.bot, int(third.points)) == ("c", 6)
    (only,) = [row for row in series_standings(played, (10, 6), best=1) if row.bot == "a"]
    assert [result.tournament for result in only.results if result.counts] == ["t2"]


def test_ties_are_broken_by_first_ranks_then_by_second_ranks_and_otherwise_shared() -> None:
    # a: 10 + 0, b and c: 5 + 5, d: 0 + 4
    points = (10, 5, 5, 0)
    played = [("t1", {"a": 1, "b": 2, "c": 3, "d": 4}), ("t2", {"c": 2, "b": 3, "e": 1, "a": 4})]

    rows = series_standings(played, points)

    # a and e have a first rank each, and a one more rank; b and c a second and a third rank each
    assert [(row.rank, row.bot, int(row.points)) for row in rows] == [
        *((1, "a", 10), (2, "e", 10), (3, "b", 10), (3, "c", 10), (5, "d", 0)),
    ]


def test_without_a_finished_tournament_there_are_no_rows() -> None:
    assert series_standings([]) == []
    assert DEFAULT_POINTS == (25, 18, 15, 12, 10, 8, 6, 4, 2, 1)
