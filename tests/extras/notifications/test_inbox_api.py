"""The inbox over HTTP."""

from referee_extras.notifications import outbox
from tests.api.conftest import Person, Service


def emit(service: Service, account_id: str, number: int) -> None:
    with service.database.write() as session:
        payload = {"bot": f"bot_{'0' * 26}", "name": f"Bot {number}", "tournament": None, "reason": "deadline"}
        outbox.emit(session, "bot.unhealthy", [account_id], payload)


def test_an_inbox_is_paged_counted_and_marked(service: Service, owner: Person) -> None:
    for number in range(5):
        emit(service, owner.id, number)

    first = owner.get("/accounts/me/inbox?limit=2").get_json()
    second = owner.get(f"/accounts/me/inbox?limit=2&cursor={first['next']}").get_json()
    shown = [entry["text"] for entry in first["items"] + second["items"]]
    ids = {"ids": [entry["id"] for entry in first["items"]]}
    some = owner.post("/accounts/me/inbox/read", ids).get_json()
    unread = owner.get("/accounts/me/inbox?unread=true").get_json()["items"]
    rest = owner.ask("POST", "/accounts/me/inbox/read").get_json()

    assert shown == [f"Bot {number} did not answer: deadline" for number in (4, 3, 2, 1)]
    assert {entry["path"] for entry in first["items"]} == {f"/bots/bot_{'0' * 26}"}
    assert (some, len(unread), rest) == ({"unread": 3}, 3, {"unread": 0})
    assert owner.get("/accounts/me/inbox/unread").get_json() == {"unread": 0}


def test_E5_an_inbox_is_its_owners_alone(service: Service, owner: Person) -> None:
    emit(service, owner.id, 1)
    other = service.person()
    (entry,) = owner.get("/accounts/me/inbox").get_json()["items"]

    other.post("/accounts/me/inbox/read", {"ids": [entry["id"]]})

    assert other.get("/accounts/me/inbox").get_json()["items"] == []
    assert owner.get("/accounts/me/inbox/unread").get_json() == {"unread": 1}
    assert service.anonymous().get("/api/v1/accounts/me/inbox").status_code == 401
