"""The overview of the service: running matches with their scores, the featured match, and the first page."""

import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from api.overview.live_scores import LiveScore, choose_matches, read_live_score
from referee.figures import count
from referee.games import catalogue
from referee.match.canonical import Json
from referee.match.log import PublicView
from referee.match.match import Answer, Match
from referee.matches.states import MatchState
from referee.matches.tables import StoredMatch
from tests.api import playing as playing_
from tests.api.conftest import API, Service
from tests.api.playing import Playing
from tests.api.test_site_tournaments import read, words
from tests.database import tournaments
from tests.database.world import World, manifest_of
from tests.match.playing import chance, header, played


def overview(service: Service) -> Any:
    service.app.extensions.pop("referee.now", None)  # drop the overview that is cached for two seconds
    return service.anonymous().get(f"{API}/now").get_json()


def begin(world: World, answers: int = 0, **plan: Any) -> Playing:
    """Return a running match, with the rows of a number of answers recorded."""
    playing = playing_.begin(world, **{"rated": False, **plan})
    playing.receive(answers)
    playing.record()
    return playing


def events_of(match: Match) -> list[Json]:
    return [event for row in match.log.rows for event in row.get("events", ())]


def stored(world: World, match_id: str) -> StoredMatch:
    with world.database.read() as session:
        return session.get_one(StoredMatch, match_id)


def shown_alone(service: Service, playing: Playing) -> tuple[list[int] | None, str]:
    """Return the scores and the round of the only running match in the overview, and end the match."""
    (shown,) = overview(service)["matches"]
    assert shown["id"] == playing.id
    with service.database.write() as session:
        session.get_one(StoredMatch, playing.id).status = MatchState.CANCELLED
    return shown["scores"], shown["round"]


def test_running_matches_have_their_public_scores(service: Service, world: World) -> None:
    assert shown_alone(service, begin(world)) == (None, "Round 1")

    far = begin(world, answers=12)
    scores = [event["scores"] for event in events_of(far.match) if "scores" in event]
    assert shown_alone(service, far) == (scores[-1], f"Round {len(scores)}")

    delayed = begin(world, answers=13, rated=True)
    rows = service.anonymous().get(f"{API}/matches/{delayed.id}/rows").get_json()["items"]
    public = read_live_score(stored(world, delayed.id), rows)
    assert shown_alone(service, delayed) == (public.scores, public.round)
    assert len(rows) < delayed.recorded


def score_of(match: Match) -> LiveScore:
    rows = match.log.rows
    stored = StoredMatch(game=rows[0]["game"], seats=len(rows[0]["players"]))
    return read_live_score(stored, PublicView(rows[0]).add(rows))


@pytest.mark.parametrize("game", catalogue())
def test_each_game_names_the_member_of_its_events_with_the_scores(game: str) -> None:
    match = played(header(game, 4), lambda request: Answer(request.seat, choice=0))

    score = score_of(match)

    assert score.scores == match.state.scores()
    assert score.round


def test_prisoners_has_scores_before_its_deal_ends() -> None:
    match = Match(header("prisoners", 3), chance(3))
    match.begin()
    while len(won := [event for event in events_of(match) if event["event"] == "prisoner" and event["points"]]) < 3:
        request = match.requests()[0]
        match.receive(Answer(request.seat, choice=len(request.legal_actions) // 2))

    assert score_of(match).scores == match.state.scores()
    assert sum(match.state.scores()) == sum(event["points"] for event in won)
    assert not any("scores" in event for event in events_of(match))


def test_one_match_of_each_game_is_shown_the_closest_first(service: Service, world: World) -> None:
    close, far = LiveScore([19, 3, 20], ""), LiveScore([-20, 40, 30], "")
    assert close.gap < far.gap < LiveScore(None, "").gap

    first, second = (begin(world, answers=count).id for count in (0, 12))
    other, third = begin(world, game="pool-nap", answers=8).id, begin(world, answers=24).id
    with service.app.app_context(), world.database.read() as session:
        matches = [session.get_one(StoredMatch, match_id) for match_id in (first, second, other)]
        chosen = choose_matches(session, matches)
        kept = choose_matches(session, matches, {first})

    assert [one.live.gap for one in chosen] == sorted(one.live.gap for one in chosen)
    assert {one.match.id for one in chosen} == {second, other}  # the first one has no scores yet
    assert {one.match.id for one in kept} == {first, other}
    assert kept[-1].match.id == first
    shown = [match["id"] for match in overview(service)["matches"]]
    assert set(shown) == {second, other}  # the third one was arranged later
    assert third not in shown
    page = service.anonymous().get("/").get_data(as_text=True)
    on_page = re.findall(r'class="card live-match">\s*<h3><a href="/matches/(mat_\w+)"', page)
    assert on_page == sorted(shown, key=lambda match_id: stored(world, match_id).game)  # in fixed places


def test_the_featured_match_stays_until_it_is_over(service: Service, anonymous: FlaskClient, world: World) -> None:
    assert overview(service)["featured"] is None
    first = begin(world).id
    assert overview(service)["featured"] == first

    second = begin(world, tournament_id=tournaments.create(world)).id  # those of tournaments come first

    assert featured_on(read(anonymous, "/")) == first
    assert overview(service)["featured"] == second  # a process that has shown none yet


def test_the_first_page_plays_a_match_else_the_last_result(anonymous: FlaskClient, world: World) -> None:
    assert 'id="featured"' not in read(anonymous, "/")
    over = world.play(world.bots(2), options={"rounds": 2}, rated=False)
    assert featured_on(read(anonymous, "/")) == over.match_id
    world.play(world.bots(2), options={"rounds": 2}, rated=False)
    hidden = begin(world, rated=True).id
    page = read(anonymous, "/")
    assert featured_on(page) != hidden
    assert "Last result" in words(page)

    running = begin(world).id

    assert featured_on(read(anonymous, "/")) == running


@pytest.mark.parametrize(("seats", "choice"), [(2, 0), (4, 2)])
def test_winners_come_first(anonymous: FlaskClient, world: World, seats: int, choice: int) -> None:
    bots = [world.bot(manifest=manifest_of(games=["prisoners"])) for _ in range(seats)]
    result = world.play(bots, game="prisoners", rated=False, choice=choice)

    (line,) = results_on(read(anonymous, "/"))

    match = anonymous.get(f"{API}/matches/{result.match_id}").get_json()
    placed = sorted(match["seats"], key=lambda seat: seat["placement"])
    names, first = [seat["name"] for seat in placed], sum(seat["placement"] == 1 for seat in placed)
    verb = " tied ahead of " if first > 1 else " beat "
    joined = [" and ".join(", ".join(group).rsplit(", ", 1)) for group in (names[:first], names[first:]) if group]
    joint = " – " if min(result.scores) < 0 else "–"
    scores = joint.join(count(result.scores[seat["seat"]]) for seat in placed)
    assert line.startswith(f"{verb.join(joined)}{' tied' if first == seats else ''} {scores} Prisoners")


def test_scores_are_shown_when_the_deals_are_revealed(anonymous: FlaskClient, world: World) -> None:
    tournaments.begun(world, 4, deal_sharing="common", options={"rounds": 2})
    first, second = world.claim(2)
    world.finish(first)
    assert re.search(r"\d–\d", results_on(read(anonymous, "/"))[0]) is None

    world.finish(second)

    assert all(re.search(r"\d–\d", line) for line in results_on(read(anonymous, "/")))


def results_on(page: str) -> list[str]:
    found = re.search(r'<ul class="results">(.*?)</ul>', page, re.DOTALL)
    assert found
    return [words(line).replace(" ,", ",") for line in re.findall(r"<li>(.*?)</li>", found[1], re.DOTALL)]


def featured_on(page: str) -> str:
    found = re.search(r'id="featured".*?href="/matches/(mat_\w+)"', page, re.DOTALL)
    assert found
    return found[1]
