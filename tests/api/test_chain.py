"""Public keys and the chain of signatures, in the API and on pages."""

import json
from typing import Any

from sqlalchemy import delete, select, update

from referee.accounts import acts
from referee.accounts.act_kinds import ActKind
from referee.match.signature import parse_signature
from referee.match.signing_keys import SigningKey, parse_key, parse_keys
from referee.matches.tables import PublishedKey, SignedLog
from tests.api.conftest import API, Service
from tests.database.world import World
from tests.surroundings import MASTER_KEY

KEY = SigningKey.derive(MASTER_KEY).public
EARLIER = SigningKey.derive(b"e" * 32).public


def get(service: Service, path: str) -> Any:
    return service.anonymous().get(API + path)


def test_before_the_first_signature_there_is_a_key_and_no_chain(service: Service, world: World) -> None:
    match_id = world.match()  # which is not over

    keys = get(service, "/keys").get_json()

    unused = dict.fromkeys(("since", "until", "last_number"))
    (key,) = keys["items"]
    assert key == {"id": KEY.id, "algorithm": "ed25519", "public_key": KEY.raw.hex(), "current": True, **unused}
    for query in ("", "?head=true", f"?match={match_id}", "?after=5"):
        assert get(service, f"/chain{query}").get_json() == {"items": [], "next": None}
    assert "No log has been signed yet" in service.anonymous().get("/keys").text
    assert "Signature" not in service.anonymous().get(f"/matches/{match_id}").text


def test_F14_keys_are_listed_current_first_and_earlier_ones_stay(service: Service, world: World) -> None:
    world.play(world.bots(2))
    with world.database.write() as session:
        created = session.get_one(PublishedKey, KEY.id).created_at
        session.add(PublishedKey(id=EARLIER.id, public_key=EARLIER.raw.hex(), created_at=created))

    answer = get(service, "/keys")
    first = get(service, "/keys?limit=1").get_json()
    second = get(service, f"/keys?limit=1&cursor={first['next']}").get_json()

    items = answer.get_json()["items"]
    assert [(item["id"], item["current"]) for item in items] == [(KEY.id, True), (EARLIER.id, False)]
    assert all(item["since"] for item in items)
    assert [*first["items"], *second["items"]] == items
    assert parse_keys(answer.text) == [KEY, EARLIER]


def test_F14_everybody_sees_that_the_service_was_restored(service: Service) -> None:
    client = service.anonymous()
    assert "Restored from backups" not in client.get("/keys").text
    made: dict[str, Any] = {"backup_made_at": "2026-11-20T03:04:05+00:00", "backup_version": "0.2.0", "last_result": 7}
    with service.database.write() as session:
        acts.record_act(session, None, ActKind.ACCOUNT_RENAMED, "acc_1", reason="private")
        for lost in (None, {"results": 12_345, "acts": 67}):
            acts.record_act(session, None, ActKind.SERVICE_RESTORED, "0123", **made, lost=lost)

    listed = client.get(f"{API}/restores").get_json()["items"]
    page = client.get("/keys").text

    assert {act["kind"] for act in listed} == {"service.restored"}
    assert [act["details"]["lost"] for act in listed] == [{"results": 12_345, "acts": 67}, None]
    assert listed[0]["details"].items() >= made.items()
    shown = page.partition("Restored from backups</h2>")[2]
    counts = {'datetime="2026-11-20T03:04:05Z"': 2, "<td>12345</td>": 1, "<td>67</td>": 1, "<td>not known</td>": 2}
    assert {text: shown.count(text) for text in counts} == counts


def test_F14_the_chain_is_listed_page_by_page_and_matches_the_logs_and_pages(service: Service, world: World) -> None:
    bots = world.bots(2)
    played = [world.play(bots).match_id for _ in range(5)]

    first = get(service, "/chain?limit=2").get_json()
    second = get(service, f"/chain?limit=2&cursor={first['next']}").get_json()
    rest = get(service, "/chain?after=4").get_json()

    items = [*first["items"], *second["items"], *rest["items"]]
    assert [item["match"] for item in items] == played
    assert [item["number"] for item in items] == [1, 2, 3, 4, 5]
    assert [item["previous"] for item in items] == [None, *(item["digest"] for item in items[:-1])]
    assert rest["next"] is None
    for item in items:
        line = get(service, f"/matches/{item['match']}/log").data.splitlines()[-1]
        entry = parse_signature(line)
        KEY.check(entry)
        assert {**json.loads(line), "digest": entry.digest()} == {**item, "type": "signature"}
        assert get(service, f"/chain?match={item['match']}").get_json() == {"items": [item], "next": None}
        assert get(service, f"/matches/{item['match']}/verification").get_json()["signature"] == item
    assert get(service, "/chain?head=true").get_json()["items"] == items[-1:]
    client = service.anonymous()
    keys, match = client.get("/keys").text, client.get(f"/matches/{played[0]}").text
    assert parse_key(KEY.text) == KEY
    for text in (KEY.text, f"referee verify --key {KEY.text} FILE", items[-1]["digest"]):
        assert text in keys
    assert 'href="/keys"' in client.get("/").text
    assert f"entry 1 of the chain, key <code>{KEY.id}</code>" in match
    assert '<a href="/keys">' in match


def test_a_bad_query_is_refused(service: Service) -> None:
    match = f"match=mat_{'0' * 26}"
    for query in ("after=-1", "after=x", "head=1x", "match=mat_1", "after=1&head=true", "limit=0", f"{match}&after=1"):
        assert get(service, f"/chain?{query}").status_code == 422, query


def test_F14_an_unsigned_log_is_served_and_said_to_be_unsigned(service: Service, world: World) -> None:
    match_id = world.play(world.bots(2)).match_id
    with world.database.write() as session:
        session.execute(delete(SignedLog))

    assert get(service, f"/matches/{match_id}/verification").get_json()["signature"] is None
    assert json.loads(get(service, f"/matches/{match_id}/log").data.splitlines()[-1])["type"] == "reveal"
    assert "<dt>Signature</dt><dd>none</dd>" in service.anonymous().get(f"/matches/{match_id}").text


def test_F14_what_was_changed_is_not_served(service: Service, world: World) -> None:
    bots = world.bots(2)
    played = [world.play(bots).match_id for _ in range(3)]
    with world.database.read() as session:
        before = dict(session.execute(select(SignedLog.__table__).where(SignedLog.number == 3)).mappings().one())

    def refusal(path: str) -> tuple[int, str]:
        answer = get(service, path)
        return answer.status_code, answer.get_json()["code"]

    for change in ({"signature": "0" * 128}, {"log_digest": "d" * 64}, {"previous": "d" * 64}, {"number": 7}):
        of_match = update(SignedLog).where(SignedLog.match_id == played[2])
        world.execute(of_match.values(**{**before, **change}))
        for query in ("", "?head=true", f"?match={played[2]}"):
            assert refusal(f"/chain{query}") == (409, "chain_damaged"), change
        for what in ("log", "verification"):
            assert refusal(f"/matches/{played[2]}/{what}") == (409, "log_damaged"), change
        assert "The head is not shown" in service.anonymous().get("/keys").text
        assert "wrong: " in service.anonymous().get(f"/matches/{played[2]}").text
        assert get(service, f"/matches/{played[0]}/log").status_code == 200
