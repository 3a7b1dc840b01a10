"""Atom feeds: valid by RFC 4287, with stable ids, the visibility of the pages, and escaped names."""

import re
from datetime import UTC, date, datetime
from xml.etree import ElementTree

import pytest
from sqlalchemy import insert, update

from referee.bots.tables import Bot
from referee.ladders.tables import LadderMonth, MonthRow
from referee.matches.states import MatchState
from referee.matches.tables import MatchSeat, StoredMatch
from referee.ratings.elo import MICRO
from referee_extras.feeds import results
from tests.api.conftest import Person, Service
from tests.api.test_months import champion as champion
from tests.api.tournaments import play, started
from tests.database.world import World

ATOM = "{http://www.w3.org/2005/Atom}"
HOSTILE = '<b>"&\x0b]]></title>'
ONCE = ("id", "title", "updated")  # elements that a feed and each entry must have exactly once


def read(service: Service, path: str) -> ElementTree.Element:
    """Return a feed after checking what RFC 4287 requires of it."""
    answer = service.anonymous().get(path)
    assert (answer.status_code, answer.mimetype) == (200, "application/atom+xml")
    feed = ElementTree.fromstring(answer.data)
    assert feed.tag == f"{ATOM}feed"
    assert feed.findtext(f"{ATOM}author/{ATOM}name")  # so that entries need none (4.1.1)
    links = {link.get("rel"): link for link in feed.findall(f"{ATOM}link")}
    url = service.settings.public_url
    assert links["self"].get("href") == f"{url}{path}"
    assert links["alternate"].get("type") == "text/html"
    ids = [element.text or "" for element in feed.iter(f"{ATOM}id")]
    assert len(set(ids)) == len(ids)
    for holder in (feed, *feed.findall(f"{ATOM}entry")):
        for name in ONCE:
            assert len(holder.findall(f"{ATOM}{name}")) == 1, name
            assert holder.findtext(f"{ATOM}{name}")
        assert re.fullmatch(r"tag:[\w.-]+,\d{4}-\d\d-\d\d:[\w/-]+", holder.findtext(f"{ATOM}id", ""))
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", holder.findtext(f"{ATOM}updated", ""))
        addresses = [link.get("href", "") for link in holder.findall(f"{ATOM}link")]
        assert all(address.startswith(f"{url}/") for address in addresses)
        page = next(link for link in holder.findall(f"{ATOM}link") if link.get("rel") == "alternate")
        assert service.anonymous().get(page.get("href", "").removeprefix(url)).status_code == 200
    for entry in feed.findall(f"{ATOM}entry"):
        assert entry.findtext(f"{ATOM}summary")
    return feed


def titles(feed: ElementTree.Element) -> list[str]:
    return [entry.findtext(f"{ATOM}title", "") for entry in feed.findall(f"{ATOM}entry")]


def test_the_feed_of_a_bot_has_its_newest_results_that_count(
    service: Service, owner: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "ENTRIES", 3)
    world, client = World(service.database), service.anonymous()
    bot, other = (service.verified_bot(person)["id"] for person in (owner, service.person()))
    path = f"/bots/{bot}/results.atom"
    first = world.match([bot, other], rated=True)
    (claim,) = world.claim()
    assert titles(read(service, path)) == []
    world.finish(claim)
    etag = client.get(path).headers["ETag"]
    again = client.get(path, headers={"If-None-Match": etag})
    played = [first, *(world.play([bot, other], rated=True).match_id for _ in range(3))]
    after = client.get(path, headers={"If-None-Match": etag})
    feed = read(service, path)
    with service.database.write() as session:
        session.execute(update(StoredMatch).where(StoredMatch.id == played[-1]).values(status=MatchState.VOID))

    def ids_in(feed: ElementTree.Element) -> list[str]:
        return [entry.findtext(f"{ATOM}id", "").rpartition("/")[2] for entry in feed.findall(f"{ATOM}entry")]

    assert (again.status_code, again.data) == (304, b"")
    assert (after.status_code, after.headers["Cache-Control"]) == (200, "public, max-age=300")
    assert ids_in(feed) == played[:0:-1]
    assert ids_in(read(service, path)) == played[2::-1]
    name = service.record_of(other).name
    assert all(re.fullmatch(rf"(1st|2nd) of 2 at Saint Poker against {name}", title) for title in titles(feed))
    assert f"{name} (" in feed.findtext(f"{ATOM}entry/{ATOM}summary", "")
    assert feed.findtext(f"{ATOM}updated") == feed.findtext(f"{ATOM}entry/{ATOM}updated")


def test_the_feed_of_a_tournament_has_its_results(service: Service, organiser: Person) -> None:
    tournament = started(service, organiser, 3)
    assert titles(read(service, f"/tournaments/{tournament}/results.atom")) == []
    play(service, tournament)

    feed = read(service, f"/tournaments/{tournament}/results.atom")

    assert len(titles(feed)) == 3
    assert all(re.search(r"(wins|share first place) at Saint Poker, round \d$", title) for title in titles(feed))
    summaries = [entry.findtext(f"{ATOM}summary", "") for entry in feed.findall(f"{ATOM}entry")]
    assert all(re.fullmatch(r"1st .+, (1st|2nd) .+\.", summary) for summary in summaries), summaries
    assert any("2nd" in summary for summary in summaries)


def test_the_feed_of_a_ladder_has_its_champions(service: Service, owner: Person) -> None:
    result = service.played(owner, service.person())
    ladder, bot = str(result.ladder_id), result.bots[0]
    october = {"ladder_id": ladder, "month": date(2026, 10, 1)}
    with service.database.write() as session:
        closed = {"as_of_seq": 1, "matches": 1_040, "closed_at": datetime(2026, 11, 1, tzinfo=UTC), "bots": 2}
        session.execute(insert(LadderMonth), [{**october, **closed, "champion_id": bot}])
        session.execute(
            insert(LadderMonth), [{**october, **closed, "month": date(2026, 9, 1), "champion_id": None, "matches": 1}]
        )
        row = {"rank": 1, "bot_id": bot, "name": HOSTILE, "value": 1_612 * MICRO, "games": 90}
        row |= {"owner_id": owner.id, "owner_name": "Ada", "matches": 40, "error": 34.4}
        session.execute(insert(MonthRow), [{**october, **row}])

    feed = read(service, f"/ladders/{ladder}/months.atom")

    champion = HOSTILE.replace("\x0b", "\N{REPLACEMENT CHARACTER}")
    assert titles(feed) == [f"October 2026: {champion} is champion", "September 2026: no champion"]
    summaries = [entry.findtext(f"{ATOM}summary") for entry in feed.findall(f"{ATOM}entry")]
    assert summaries[0] == "2 bots played 1\u202f040 matches. Rating of the champion: 1\u202f612.0."
    assert summaries[1] == "2 bots played 1 match."


def test_names_of_strangers_are_escaped(service: Service, owner: Person) -> None:
    result = service.played(owner, service.person())
    with service.database.write() as session:
        session.execute(update(Bot).values(name=Bot.name + HOSTILE[:20], normalized_name=Bot.id))
        session.execute(update(MatchSeat).values(bot_name=HOSTILE))

    feed = read(service, f"/bots/{result.bots[0]}/results.atom")

    assert titles(feed)[0].endswith('against <b>"&\ufffd]]></title>')
    assert {element.tag.removeprefix(ATOM) for element in feed.iter()} <= {
        *("feed", "id", "title", "subtitle", "updated", "author", "name", "uri", "generator", "icon", "link"),
        *("entry", "summary", "category"),
    }


def test_pages_name_their_feed(service: Service, owner: Person, organiser: Person) -> None:
    result, tournament = service.played(owner, service.person()), started(service, organiser, 2)
    client, url = service.anonymous(), service.settings.public_url
    feeds = {
        f"/bots/{result.bots[0]}": f"/bots/{result.bots[0]}/results.atom",
        f"/tournaments/{tournament}/standings": f"/tournaments/{tournament}/results.atom",
        f"/ladders/{result.ladder_id}/months": f"/ladders/{result.ladder_id}/months.atom",
    }
    for page, feed in feeds.items():
        assert f'<link rel="alternate" type="application/atom+xml" href="{url}{feed}" title="' in client.get(page).text
    assert "application/atom+xml" not in client.get(f"/matches/{result.match_id}").text
    for unknown in ("bots/bot_{}/results", "tournaments/trn_{}/results", "ladders/lad_{}/months"):
        assert client.get(f"/{unknown.format('0' * 26)}.atom").status_code == 404


def test_feeds_show_the_rating_of_a_champion_without_an_error(
    service: Service,
    champion: tuple[str, str],
) -> None:
    feed = service.anonymous().get(f"/ladders/{champion[1]}/months.atom").get_data(as_text=True)

    assert "1\u202f700" in feed
    assert "±" not in feed
