"""Pages of bots: their public content, and nothing that belongs to the owner."""

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import update

from api.bots import pages as page_of_bots
from referee.bots.tables import Bot
from referee.matches.lists import bot_stats, response_stats
from referee.matches.tables import MatchSeat, StoredMatch
from tests.api.conftest import Person, Service
from tests.api.test_site_ladders import HTML, PAYLOAD, text_of
from tests.database import tournaments
from tests.database.world import START, World


def cells(page: str, caption: str) -> list[list[str]]:
    """Return the rows of the table with this caption, as text."""
    table = page[page.index(f"{caption}</caption>") :]
    body = table[table.index("<tbody>") : table.index("</tbody>")]
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.S)
    return [[words(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)] for row in rows]


def words(html: str) -> str:
    return " ".join(re.sub(r"<svg.*?</svg>|<[^>]+>", " ", html, flags=re.S).split())


def shown(client: FlaskClient, bot: str, wish: str = "", status: int = 200) -> str:
    return text_of(client, f"/bots/{bot}{wish}", status)


def test_a_bot_that_never_played_has_a_page_that_says_so(service: Service, owner: Person) -> None:
    bot = owner.post("/bots", {"name": "Fresh", "url": "https://bot.example.org/secret-path"}).get_json()["id"]

    page = shown(service.anonymous(), bot)

    assert "<bdi data-name>Fresh</bdi>" in page
    for empty in ("not known yet", "none yet", "This bot is not on a ladder yet.", "There are no public matches yet."):
        assert empty in page
    assert "secret-path" not in page  # the address is the owner's alone
    assert page.count("<svg") == 1  # its emblem
    for missing in (f"/bots/bot_{'0' * 26}", f"/bots/bot_{'0' * 26}/faults/1", f"/bots/{bot}/faults/x"):
        assert "Page not found" in text_of(service.anonymous(), missing, 404)


def test_ranks_history_and_results_of_a_bot(service: Service, organiser: Person, admin: Person) -> None:
    world = World(service.database)
    bots = world.bots(3)
    first, second, third = (world.play(bots, created_by=organiser.id, choice=at % 2) for at in range(3))
    with service.database.write() as session:
        late = MatchSeat.match_id == second.match_id
        session.execute(update(MatchSeat).where(late, MatchSeat.bot_id == bots[0]).values(version=PAYLOAD, faults=3))
    admin.post(f"/matches/{third.match_id}/void", {"reason": PAYLOAD})
    hidden = world.match(bots, tournament_id=tournaments.create(world))

    page = shown(service.anonymous(), bots[0])

    assert hidden not in page  # of an anonymous tournament, before it is over

    ((ladder, place, rating, games, _),) = cells(page, "Ranks on ladders")
    assert (ladder, place[-4:], games) == ("Saint Poker, 3 seats", "of 3", "2")
    changes = cells(page, "Rating changes at Saint Poker, 3 seats, latest first")
    kinds = [(row[0], row[2].split()[0]) for row in changes]
    assert kinds == [("4", "void"), ("3", "result"), ("2", "result"), ("1", "result")]
    assert changes[0][4] == rating
    assert changes[-1][3] == "1 500.0"
    assert re.findall(r'<g class="mark (\w+)"><title>', page) == ["version", "version", "void"]
    seat = [first.placements[0], second.placements[0]]
    rivals = {row[0]: row for row in cells(page, "By opponent")}
    ahead = sum(one.placements[0] < one.placements[1] for one in (first, second))
    assert len(rivals) == 2
    own = rivals[service.record_of(bots[1]).name]
    assert (own[1].split()[0], own[3], own[6]) == ("2", str(ahead), f"{sum(seat) / 2:.2f}")
    assert [row[:2] for row in cells(page, "By seat")] == [["1 of 3", "2"]]
    assert [row[1:4:2] for row in cells(page, "By version, latest first")] == [["1", "3.00"], ["1", "0.00"]]
    rows = re.search(r'<ul class="results">(.*?)</ul>', page, re.DOTALL)
    assert rows
    assert re.findall(r"/matches/(mat_\w+)", rows[1]) == [one.match_id for one in (third, second, first)]
    assert re.findall(r"state-(\w+)", rows[1]) == ["void"]  # a match that counts needs no state
    names = [service.record_of(bot).name for bot in bots]
    winners = re.findall(r"<strong>.*?<bdi>(.*?)</bdi>", rows[1])
    assert winners == [names[one.placements.index(1)] for one in (third, second, first)]
    assert "<img src=x" not in page


def test_results_are_of_one_game_and_ladder(service: Service, owner: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    world, client = World(service.database), service.anonymous()
    bots = [service.verified_bot(person)["id"] for person in (owner, service.person(), service.person())]
    world.play(bots[:2])
    world.play(bots[:2])
    world.play(bots, game="pool-nap")
    monkeypatch.setattr(page_of_bots, "HISTORIES", 1)

    usual, other = shown(client, bots[0]), shown(client, bots[0], "?game=pool-nap")
    (link,) = re.findall(r'<a href="(\?ladder=lad_\w+)#history">Pool Nap, 3 seats<', usual)

    assert "Results at Saint Poker" in usual
    assert "Results at Pool Nap" in other
    assert [row[0] for row in cells(other, "By seat")] == ["1 of 3"]
    assert "Rating changes at Pool Nap" in shown(client, bots[0], link)
    assert "Rating changes at Pool Nap" not in usual
    assert "cannot be shown" in shown(client, bots[0], "?game=prisoners", 422)
    assert "cannot be shown" in shown(client, bots[0], f"?ladder=lad_{'0' * 26}", 422)


def test_a_long_history_leads_to_the_rest_and_the_last_matches_are_counted(
    service: Service, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    bots = world.bots(2)
    results = [world.play(bots, choice=at % 2) for at in range(4)]
    monkeypatch.setattr(page_of_bots, "STEPS", 3)
    monkeypatch.setattr(page_of_bots, "MAX_PAGE_SIZE", 2)

    page = shown(service.anonymous(), bots[0])
    found = world.listed(bot_stats.load_last_results, bots[0], limit=3)

    changes = cells(page, "Rating changes at Saint Poker, 2 seats, latest first")
    assert [row[0] for row in changes] == ["4", "3", "2"]
    assert "the last 3 changes" in page
    assert "all changes as JSON" in page
    placed = [(one.match_id, one.placement, one.rivals[0][0]) for one in found]  # by the order of their ends
    assert placed == [(result.match_id, result.placements[0], bots[1]) for result in results[:0:-1]]


def test_matches_are_added_up_by_seat_version_and_rival() -> None:
    usual: dict[str, Any] = {"match_id": "m", "game": "g", "seats": 3, "faults": 1, "finished_at": START}
    one = bot_stats.SeatResult(**usual, seat=0, version="1", placement=1, score=9, rivals=[("b", 2), ("c", 1)])
    other = replace(one, seat=2, version="2", placement=3, score=-4, rivals=[("b", 2), ("d", 1)])

    rivals = bot_stats.by_rival([other, one])

    assert list(rivals) == ["b", "c", "d"]
    assert [(tally.ahead, tally.level, tally.behind) for tally in rivals.values()] == [(1, 0, 1), (0, 1, 0), (0, 0, 1)]
    assert (rivals["b"].mean_placement, rivals["b"].mean_score, rivals["b"].mean_faults) == (2, 2.5, 1)
    assert list(bot_stats.by_seat([other, one])) == [(3, 0), (3, 2)]
    assert list(bot_stats.by_version([other, one])) == ["2", "1"]


def test_texts_of_strangers_stay_text(service: Service, owner: Person) -> None:
    bot = service.played(owner, service.person()).bots[0]
    with service.database.write() as session:
        session.execute(
            update(Bot).where(Bot.id == bot).values(name=PAYLOAD, version=PAYLOAD, games=[PAYLOAD, "</script>"])
        )
        session.execute(update(MatchSeat).values(version=PAYLOAD, bot_name=PAYLOAD))

    pages = [text_of(service.anonymous(), path) for path in (f"/bots/{bot}", f"/bots/{bot}/faults/1")]

    assert all("<img src=x" not in page for page in pages)
    assert all(page.count("</script>") == page.count("<script") for page in pages)


def test_the_evidence_is_not_in_its_page(service: Service, owner: Person) -> None:
    bot = service.verified_bot(owner)["id"]

    page = service.anonymous().get(f"/bots/{bot}/faults/7", headers={**HTML, **owner.headers()}).get_data(as_text=True)

    assert '"fault": 7' in page or '"fault":7' in page
    assert "the response was not complete when the time was up" in page  # the meaning of each code is public


def test_health_is_of_the_last_matches(service: Service, owner: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(service.database)
    bots = [service.verified_bot(person)["id"] for person in (owner, service.person())]
    for at, result in enumerate([world.play(bots) for _ in range(5)]):
        ended = START + timedelta(days=at)
        with service.database.write() as session:
            session.execute(update(StoredMatch).where(StoredMatch.id == result.match_id).values(finished_at=ended))
            session.execute(update(MatchSeat).where(MatchSeat.match_id == result.match_id).values(version=str(at)))
    monkeypatch.setattr(response_stats, "MAX_MATCHES", 2)

    health = owner.get(f"/bots/{bots[0]}/health").get_json()["items"]

    assert [item["version"] for item in health] == ["4", "3"]
    for item in health:  # all answered within 1 ms
        assert item["histogram"] == [{"from_ms": 0, "decisions": item["decisions"]}]
