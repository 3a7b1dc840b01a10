"""The page of a match that other sites may show in a frame: its headers, its content, and that it is the only one."""

import re

from tests.api.conftest import Person, Service
from tests.api.test_queries import BROWSER, address, routes
from tests.database import tournaments
from tests.database.world import World

EMBED = '/embed/matches/<id("mat"):match_id>'


def read(service: Service, match_id: str) -> tuple[str, str]:
    """Return the content policy and the text of the page."""
    answer = service.anonymous().get(f"/embed/matches/{match_id}", headers=BROWSER)
    assert answer.status_code == 200
    assert "Set-Cookie" not in answer.headers
    assert "X-Frame-Options" not in answer.headers
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    return answer.headers["Content-Security-Policy"], answer.get_data(as_text=True)


def test_any_site_may_frame_it_and_it_has_only_the_viewer(service: Service, world: World) -> None:
    match_id = world.play(world.bots(2)).match_id

    policy, page = read(service, match_id)

    assert "frame-ancestors *" in policy
    assert "form-action 'none'" in policy
    assert "default-src 'none'" in policy
    assert not re.search("<(form|nav|header|footer|button)", page)
    assert not re.search("session|token|account", re.sub("<script type=.application/json.*?</script>", "", page))
    links = re.findall("<a [^>]+>", page)
    assert links == [f'<a data-page href="/matches/{match_id}" target="_blank" rel="noopener">']
    assert '<meta name="robots" content="noindex">' in page
    assert re.search(f'<link rel="canonical" href="[^"]+[0-9a-z]/matches/{match_id}">', page)
    assert "/embed/" not in page


def test_it_hides_players_as_the_page_of_the_match_does(service: Service, world: World) -> None:
    match_id = world.match(tournament_id=tournaments.create(world))
    (claim,) = world.claim(match_id=match_id)
    players = world.load(match_id).header["players"]

    _, before = read(service, match_id)
    shown = service.anonymous().get(f"/matches/{match_id}", headers=BROWSER)
    world.finish(claim)
    _, after = read(service, match_id)

    for player in players:
        assert player["bot"] not in before
        assert f'"{player["name"]}"' not in before
        assert player["bot"] in after
    assert "frame-ancestors 'none'" in shown.headers["Content-Security-Policy"]
    assert service.anonymous().get(f"/embed/matches/mat_{'0' * 26}", headers=BROWSER).status_code == 404


def test_no_other_response_may_be_framed(service: Service, admin: Person) -> None:
    assert any(rule.rule == EMBED for _, rule in routes(service.app))
    for method, rule in routes(service.app):
        with admin.client.open(address(rule), method=method, headers=admin.headers(**BROWSER)) as answer:
            assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"], (method, rule)
