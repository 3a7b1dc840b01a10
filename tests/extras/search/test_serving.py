"""The search over HTTP and as a page."""

from tests.api.conftest import API, Person, Service, fields_of
from tests.api.test_directory import name_of
from tests.api.test_site_ladders import PAYLOAD, text_of


def test_the_search_finds_over_http_and_as_a_page(service: Service, owner: Person) -> None:
    bot = service.verified_bot(owner)
    client = service.anonymous()

    answer = client.get(f"{API}/search?q={bot['name']}").get_json()
    assert answer["next"] is None
    named = {"kind": "bot", "id": bot["id"], "name": bot["name"], "status": "verified", "summary": None}
    owned = {"owner": owner.id, "owner_name": name_of(owner), "games": ["saint-poker", "pool-nap"]}
    assert answer["items"][0] == {**named, **owned}
    page = text_of(client, f"/search?q={bot['name']}")
    assert f'<a href="/bots/{bot["id"]}">' in page
    assert f'value="{bot["name"]}"' in page
    for query in ("xyzzy", f"{bot['name']}&kind=tournament"):
        assert "Nothing was found." in text_of(client, f"/search?q={query}")
    assert "<img src=x" not in text_of(client, f"/search?q={PAYLOAD}")
    assert fields_of(client.get(f"{API}/search")) == {"q"}


def test_a_query_that_finds_nothing_by_itself_is_refused(service: Service) -> None:
    for query in ("", "%22*%22", "%F0%9F%98%80", "x" * 101, "a+b+c+d+e+f+g+h+i"):
        answer = service.anonymous().get(f"{API}/search?q={query}")

        assert (answer.status_code, fields_of(answer)) == (422, {"q"}), query
        page = text_of(service.anonymous(), f"/search?q={query}")
        assert ('class="error">The search must ' in page) == bool(query), query


def test_pages_of_the_search_have_cursors_of_their_own(service: Service, owner: Person) -> None:
    made = {service.verified_bot(owner)["id"] for _ in range(3)}
    client = service.anonymous()

    first = client.get(f"{API}/search?q=bot&kind=bot&limit=2").get_json()
    rest = client.get(f"{API}/search?q=bot&kind=bot&limit=2&cursor={first['next']}").get_json()

    assert {hit["id"] for hit in first["items"] + rest["items"]} == made
    assert rest["next"] is None
    for other in ("search?q=bo&kind=bot&", "bots?"):
        assert fields_of(client.get(f"{API}/{other}cursor={first['next']}")) == {"cursor"}
