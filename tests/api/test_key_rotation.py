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
BOT = {"name": "My bot", "url": "https://a.example"}


def on(service: Service, person: Person) -> Person:
    """Return the same account as a client of another host."""
    return Person(service.app.test_client(), person.id, person.token)


def keyed(person: Person) -> Any:
    return person.post("/bots", BOT, headers={"Idempotency-Key": "k1"})


def test_K34_a_repeated_request_finds_its_response_on_a_host_with_the_other_key(start: Start) -> None:
    old, new, later = start(master_key=OLD_HOST), start(master_key=NEW_HOST), start(master_key=MasterKey(NEW))
    owner = old.person()

    first = keyed(owner)
    second = keyed(on(new, owner))

    assert (first.status_code, second.get_data()) == (201, first.get_data())
    assert keyed(on(later, owner)).status_code == 409  # after the end of the old key


def test_K34_cursors_of_both_keys_are_read_until_the_old_one_ends(start: Start) -> None:
    old, new, later = start(master_key=OLD_HOST), start(master_key=NEW_HOST), start(master_key=MasterKey(NEW))
    owner = old.person()
    for _ in range(3):
        old.verified_bot(owner)

    def next_page(service: Service, cursor: str) -> Any:
        return on(service, owner).get(f"/bots?limit=1&cursor={cursor}")

    def cursor(service: Service) -> str:
        return str(on(service, owner).get("/bots?limit=1").get_json()["next"])

    assert next_page(new, cursor(old)).status_code == 200
    assert next_page(old, cursor(new)).status_code == 200
    assert next_page(later, cursor(new)).status_code == 200
    assert next_page(later, cursor(old)).status_code != 200


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
    page = new.anonymous().get("/keys", headers={"Accept": "text/html"}).get_data(as_text=True)

    assert [(item["id"], item["current"], item["last_number"]) for item in items] == [
        (SigningKey.derive(NEW).public.id, True, None),
        (SigningKey.derive(MASTER_KEY).public.id, False, 1),
    ]
    assert items[1]["until"] is not None
    assert "entry 1" in page
