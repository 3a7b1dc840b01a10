"""The API while the master key is rotated: hosts with the old and the new settings answer each other's clients."""

from typing import Any

from referee.master_keys import MasterKey
from referee.match.signing_keys import SigningKey
from referee.matches.logs.chain import ChainWriter
from tests.api.conftest import Person, Service, Start
from tests.database.world import World
from tests.surroundings import MASTER_KEY

NEW = bytes(range(100, 132))
OLD_HOST, NEW_HOST = MasterKey(MASTER_KEY, [NEW]), MasterKey(NEW, [MASTER_KEY])


def test_K34_repeated_requests_and_cursors_are_understood_on_hosts_with_the_other_key_until_the_old_one_ends(
    start: Start,
) -> None:
    old, new, later = start(master_key=OLD_HOST), start(master_key=NEW_HOST), start(master_key=MasterKey(NEW))
    owner = old.person()

    def on(service: Service) -> Person:
        """Return the same account as a client of another host."""
        return Person(service.app.test_client(), owner.id, owner.token)

    def register(service: Service) -> Any:
        bot = {"name": "My bot", "url": "https://a.example"}
        return on(service).post("/bots", bot, headers={"Idempotency-Key": "k1"})

    first, second = register(old), register(new)
    assert (first.status_code, second.get_data()) == (201, first.get_data())
    assert register(later).status_code == 409

    owner.post("/bots", {"name": "Another", "url": "https://b.example"})

    def next_page(service: Service, first: Service) -> int:
        cursor = on(first).get("/bots?limit=1").get_json()["next"]
        return on(service).get(f"/bots?limit=1&cursor={cursor}").status_code

    assert [next_page(new, old), next_page(old, new), next_page(later, new), next_page(later, old)] == [
        *(200, 200, 200, 422),
    ]


def test_K34_the_page_of_keys_shows_until_when_the_earlier_key_signed(start: Start) -> None:
    old = start(master_key=OLD_HOST)
    world = World(old.database)
    bots = [old.verified_bot(old.person())["id"] for _ in range(2)]
    world.play(bots)
    match_id = world.match(bots)
    new = start(master_key=NEW_HOST)
    with new.database.write() as session:
        ChainWriter(session, NEW_HOST).sign([(match_id, "e" * 64)])

    items = new.anonymous().get("/api/v1/keys").get_json()["items"]

    assert [(item["id"], item["current"], item["last_number"]) for item in items] == [
        (SigningKey.derive(NEW).public.id, True, None),
        (SigningKey.derive(MASTER_KEY).public.id, False, 1),
    ]
    assert items[1]["until"] is not None
    assert "entry 1" in new.anonymous().get("/keys", headers={"Accept": "text/html"}).text
