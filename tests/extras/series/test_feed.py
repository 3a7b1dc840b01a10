"""The feed of a series: its finished tournaments."""

from tests.api.conftest import Person, Service
from tests.api.tournaments import play, started
from tests.extras.feeds.test_feeds import read, titles


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
