"""Badges of bots: true texts for every state, escaped, as wide as their texts, cached briefly."""

import re
from xml.etree import ElementTree

import pytest
from sqlalchemy import update

from referee.bots import bots, house_bots
from referee.bots.states import BotState
from referee.bots.tables import Bot
from referee.ladders.tables import Ladder, RatingError
from referee_extras.pictures.badge import PADDING, SIZE
from referee_extras.pictures.fonts import measure
from tests.api.conftest import Person, Service, fields_of

SVG = "{http://www.w3.org/2000/svg}"


def badge(service: Service, bot: str, query: str = "") -> ElementTree.Element:
    answer = service.anonymous().get(f"/bots/{bot}/badge.svg{query}")
    assert (answer.status_code, answer.mimetype) == (200, "image/svg+xml")
    return ElementTree.fromstring(answer.text)


def words(drawn: ElementTree.Element) -> list[str]:
    return [str(element.text) for element in drawn.iter(f"{SVG}text")]


@pytest.fixture
def rated(service: Service, owner: Person) -> str:
    """Return the first of two bots on the official ladder of a game. Its rating has an error."""
    result = service.played(owner, service.person())
    winner = result.bots[result.placements.index(1)]
    with service.database.write() as session:
        session.execute(update(Ladder).values(official=True, daily_matches=48))
        session.add(RatingError(ladder_id=result.ladder_id, bot_id=winner, error=34.4, as_of_seq=1))
    return str(winner)


def test_a_badge_has_the_rank_and_the_rating_and_is_as_wide_as_they_are(service: Service, rated: str) -> None:
    drawn = badge(service, rated)

    label, value = words(drawn)
    assert label == "Saint Poker"
    assert re.fullmatch(r"#1 of 2, 1\u202f5\d\d", value)
    assert words(badge(service, rated, "?game=saint-poker")) == [label, value]
    widths = [round(measure(text, SIZE)) for text in (label, value)]
    assert [float(element.get("textLength", 0)) for element in drawn.iter(f"{SVG}text")] == widths
    assert float(drawn.get("width", 0)) == sum(widths) + 4 * PADDING


def test_a_bot_without_a_rating_has_a_true_badge(service: Service, owner: Person, rated: str) -> None:
    unrated, client = service.verified_bot(owner)["id"], service.anonymous()
    with service.database.write() as session:
        house = house_bots.get_or_create_house_bot(session, "sound").id

    assert words(badge(service, unrated)) == ["Referee", "not rated yet"]
    assert words(badge(service, rated, "?game=pool-nap")) == ["Pool Nap", "not rated yet"]
    assert words(badge(service, house)) == ["Referee", "house player"]
    assert fields_of(client.get(f"/bots/{rated}/badge.svg?game=chess")) == {"game"}
    assert client.get(f"/bots/bot_{'0' * 26}/badge.svg").status_code == 404


@pytest.mark.parametrize("state", [BotState.PAUSED, BotState.RETIRED])
def test_a_bot_that_does_not_play_has_a_badge_that_says_so_in_another_colour(
    service: Service, rated: str, state: BotState
) -> None:
    fills = [{element.get("fill") for element in badge(service, rated).iter(f"{SVG}rect")}]
    with service.database.write() as session:
        (bots.pause if state == BotState.PAUSED else bots.retire)(session, rated)
    drawn = badge(service, rated)
    fills.append({element.get("fill") for element in drawn.iter(f"{SVG}rect")})

    assert words(drawn)[1].endswith(f", {state}")
    assert fills[0] != fills[1]


def test_the_title_names_the_bot_escaped(service: Service, rated: str) -> None:
    hostile = '</title><script>alert("1")</script>'[:32]
    with service.database.write() as session:
        session.execute(update(Bot).where(Bot.id == rated).values(name=hostile))

    drawn = badge(service, rated)

    title = drawn.findtext(f"{SVG}title")
    assert title is not None
    assert title.startswith(f"{hostile}: Saint Poker, #1 of 2")
    assert (drawn.get("role"), drawn.get("aria-label")) == ("img", title)
    assert not list(drawn.iter(f"{SVG}script"))


def test_a_badge_is_cached_briefly_and_the_page_of_the_bot_has_its_markdown(service: Service, rated: str) -> None:
    client, path, url = service.anonymous(), f"/bots/{rated}/badge.svg", service.settings.public_url
    answer, page = client.get(path), client.get(f"/bots/{rated}").text

    assert answer.headers["Cache-Control"] == "public, max-age=300"
    assert re.fullmatch('"[0-9a-f]+"', answer.headers["ETag"])
    assert client.get(path, headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert f"<code>[![Rank on Referee]({url}{path})]({url}/bots/{rated})</code>" in page
    assert page.count("badge.svg") == 2
