"""Webhooks over HTTP: creation, privacy, conditional edits, deliveries."""

import json

from referee.protocol.signing import webhook_secret
from referee_extras.notifications import deliveries, outbox
from referee_extras.notifications.deliveries import DeliveryJob, DeliveryOutcome
from tests.api.conftest import API, Person, Service, Start, fields_of

URL = "https://Hooks.example.org:443/mine/"
NEW = {"url": URL, "events": ["tournament.finished", "match.finished"]}


def claimed(service: Service) -> list[DeliveryJob]:
    with service.database.write() as session:
        return deliveries.claim_due(session, 100)


def answered(service: Service, status: int = 200) -> list[DeliveryJob]:
    """Record this response for all due deliveries without sending them."""
    parcels = claimed(service)
    outcome = DeliveryOutcome(status, None if status == 200 else f"{status}, expected 2xx")
    with service.database.write() as session:
        for parcel in parcels:
            deliveries.finish(session, parcel.delivery_id, parcel.epoch, outcome, jitter=0.0)
    return parcels


def test_a_webhook_is_made_shown_proven_changed_and_deleted(service: Service, owner: Person) -> None:
    made = owner.post("/webhooks", NEW)
    hook = made.get_json()
    path = f"/webhooks/{hook['id']}"
    assert (made.status_code, made.headers["Location"]) == (201, API + path)
    assert made.headers["Cache-Control"] == "no-store"
    assert (hook["status"], hook["url"]) == ("unverified", "https://hooks.example.org/mine")
    assert hook["events"] == ["match.finished", "tournament.finished"]
    assert hook.pop("secret") == webhook_secret(service.settings.master_key, hook["id"], 1)
    assert owner.get(path).get_json() == hook

    (ping,) = answered(service)
    assert json.loads(ping.body)["data"] == {"webhook": hook["id"]}
    assert owner.get("/webhooks").get_json()["items"] == [{**hook, "status": "active"}]

    etag = {"If-Match": owner.get(path).headers["ETag"]}
    assert owner.ask("PATCH", path, json={"enabled": False}).status_code == 428
    disabled = owner.ask("PATCH", path, headers=etag, json={"enabled": False, "events": ["bot.unhealthy"]})
    assert disabled.get_json()["status_reason"] == "by its owner"
    assert owner.ask("PATCH", path, headers=etag, json={"enabled": True}).status_code == 412
    assert owner.post(f"{path}/ping").status_code == 409
    etag = {"If-Match": owner.get(path).headers["ETag"]}
    moved = owner.ask("PATCH", path, headers=etag, json={"enabled": True, "url": "https://other.example.org"})
    assert (moved.get_json()["status"], moved.get_json()["events"]) == ("unverified", ["bot.unhealthy"])
    assert [parcel.url for parcel in answered(service)] == ["https://other.example.org"]

    rotated = owner.post(f"{path}/rotate-secret").get_json()
    assert rotated["secret"] == webhook_secret(service.settings.master_key, hook["id"], 2)
    assert rotated["previous_secret_until"] is not None
    assert owner.ask("DELETE", path).status_code == 204
    assert owner.get(path).status_code == owner.ask("DELETE", path).status_code == 404


def test_a_webhook_asked_for_twice_with_one_key_is_made_once(service: Service, owner: Person) -> None:
    key = {"Idempotency-Key": "once"}

    first, second = (owner.post("/webhooks", NEW, headers=key) for _ in range(2))

    assert first.get_json() == second.get_json()
    assert len(owner.get("/webhooks").get_json()["items"]) == 1
    for _ in range(9):
        assert owner.post("/webhooks", NEW).status_code == 201
    assert owner.post("/webhooks", NEW).get_json()["code"] == "quota_exceeded"


def test_a_stranger_finds_nothing_and_nobody_gets_in_without_a_token(service: Service, owner: Person) -> None:
    hook = owner.post("/webhooks", NEW).get_json()
    path = f"/webhooks/{hook['id']}"
    (ping,) = answered(service)
    stranger = service.person("admin")
    etag = {"If-Match": owner.get(path).headers["ETag"]}

    answers = [
        stranger.get(path),
        stranger.get(f"{path}/deliveries"),
        stranger.ask("PATCH", path, headers=etag, json={"enabled": False}),
        stranger.ask("DELETE", path),
        stranger.post(f"{path}/ping"),
        stranger.post(f"{path}/rotate-secret"),
        stranger.post(f"/deliveries/{ping.delivery_id}/redeliver"),
    ]

    assert [answer.status_code for answer in answers] == [404] * len(answers)
    assert stranger.get("/webhooks").get_json()["items"] == []
    assert service.anonymous().get(API + path).status_code == 401


IMPOSSIBLE: dict[str, list[object]] = {
    "url": ["ftp://a.example/", "https://169.254.169.254/", "https://[::1]/", "https://a.example/?x", 5],
    "events": [[], ["ping"], ["match.begun"], "match.finished", None],
}


def test_addresses_that_may_not_be_called_and_events_that_are_none_are_refused(owner: Person) -> None:
    for field, values in IMPOSSIBLE.items():
        for value in values:
            answer = owner.post("/webhooks", {**NEW, field: value})

            assert answer.status_code == 422, value
            assert {named.partition("[")[0] for named in fields_of(answer)} == {field}


def test_deliveries_are_listed_newest_first_and_sent_again_when_asked(service: Service, owner: Person) -> None:
    hook = owner.post("/webhooks", NEW).get_json()
    path = f"/webhooks/{hook['id']}/deliveries"
    answered(service)
    with service.database.write() as session:
        outbox.emit(session, "match.finished", [owner.id], {"match": "mat_1"})
    answered(service, 503)

    first = owner.get(f"{path}?limit=1").get_json()
    (tried,) = first["items"]
    second = owner.get(f"{path}?limit=1&cursor={first['next']}").get_json()
    assert [item["event"] for item in first["items"] + second["items"]] == ["match.finished", "ping"]
    assert (tried["status"], tried["attempts"], tried["response_status"]) == ("due", 1, 503)
    assert tried["last_error"] == "503, expected 2xx"
    assert tried["next_attempt_at"] > tried["created_at"]
    assert json.loads(tried["body"])["data"] == {"match": "mat_1"}
    assert owner.get(f"/webhooks/{hook['id']}").get_json()["failing_since"] is not None

    (ping,) = second["items"]
    assert (ping["status"], ping["next_attempt_at"], ping["response_status"]) == ("delivered", None, 200)
    assert owner.post(f"/deliveries/{tried['id']}/redeliver").status_code == 409
    again = owner.post(f"/deliveries/{ping['id']}/redeliver")
    assert (again.status_code, again.get_json()["status"], again.get_json()["attempts"]) == (202, "due", 0)
    assert [parcel.delivery_id for parcel in answered(service)] == [ping["id"]]


SECRET_PATH = "/api/webhooks/1234/TheTokenOfTheChannel"


def test_E26_the_url_of_a_chat_webhook_is_masked_wherever_it_is_shown(service: Service, owner: Person) -> None:
    url = f"https://discord.com{SECRET_PATH}"
    hook = owner.post("/webhooks", {**NEW, "url": url, "kind": "discord"}).get_json()
    path = f"/webhooks/{hook['id']}"
    (ping,) = answered(service, 503)

    told = [
        owner.get(each).get_data(as_text=True)
        for each in ("/webhooks", path, f"{path}/deliveries", "/accounts/me/export", "/accounts/me/inbox")
    ]

    assert ping.url == url
    assert hook["url"] == "https://discord.com/…nnel"
    assert [text for text in [*told, json.dumps(hook)] if "TheToken" in text] == []
    assert json.loads(told[3])["webhooks"][0]["url"] == "https://discord.com/…nnel"


def test_a_masked_url_replaces_no_real_one(service: Service, owner: Person) -> None:
    url = f"https://slack.example{SECRET_PATH}"
    hook = owner.post("/webhooks", {**NEW, "url": url, "kind": "slack"}).get_json()
    path = f"/webhooks/{hook['id']}"

    for shown in ("https://slack.example/…nnel", "https://slack.example/%E2%80%A6nnel"):
        refused = owner.ask("PATCH", path, {"If-Match": "*"}, json={"url": shown, "events": ["match.finished"]})
        assert (refused.status_code, fields_of(refused)) == (422, {"url"})
    edited = owner.ask("PATCH", path, {"If-Match": "*"}, json={"events": ["match.finished"]})

    assert hook["url"] == "https://slack.example/…nnel"
    assert edited.status_code == 200
    assert [job.url for job in claimed(service)] == [url]


def test_an_edit_of_a_url_that_looks_the_same_once_masked_is_not_overwritten(owner: Person) -> None:
    hook = owner.post("/webhooks", {**NEW, "url": f"https://slack.example/1{SECRET_PATH}", "kind": "slack"}).get_json()
    path, urls = f"/webhooks/{hook['id']}", [f"https://slack.example/{n}{SECRET_PATH}" for n in (2, 3, 4)]
    owner.ask("PATCH", path, {"If-Match": "*"}, json={"url": urls[0]})
    read = owner.get(path)

    statuses = [
        owner.ask("PATCH", path, {"If-Match": read.headers["ETag"]}, json={"url": url}).status_code for url in urls[1:]
    ]

    assert statuses == [200, 412]


MASKED = [
    ("signed", f"https://discord.com{SECRET_PATH}", "https://discord.com/…nnel"),
    ("signed", f"https://canary.discord.com{SECRET_PATH}", "https://canary.discord.com/…nnel"),
    ("signed", f"https://discordapp.com:443{SECRET_PATH}", "https://discordapp.com/…nnel"),
    ("signed", f"https://hooks.slack.com{SECRET_PATH}", "https://hooks.slack.com/…nnel"),
    ("signed", f"https://notdiscord.com{SECRET_PATH}", f"https://notdiscord.com{SECRET_PATH}"),
    ("slack", "https://chat.example:8443/hooks/abc", "https://chat.example:8443/…"),
    ("slack", "https://chat.example/hooks/0123456789", "https://chat.example/…6789"),
]


def test_E26_the_url_of_a_chat_service_is_masked_for_signed_messages_too(owner: Person) -> None:
    for kind, url, shown in MASKED:
        assert owner.post("/webhooks", {**NEW, "url": url, "kind": kind}).get_json()["url"] == shown


def test_A19_webhooks_are_not_registered_inside_the_ranges_of_private_bots(start: Start) -> None:
    room = start(private_bots="10.20.0.0/24:8000-8010", egress_allow="", allow_http=False)

    answer = room.person().post("/webhooks", {"url": "https://10.20.0.7:8000", "events": ["match.finished"]})

    assert answer.status_code == 422
    assert "egress_denied" in answer.get_json()["errors"][0]["message"]
