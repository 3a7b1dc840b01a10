"""Bots over HTTP: registration, visibility, edits, checks."""

import json
from typing import Any

import pytest
from sqlalchemy import select

from referee.bots import checks, handshakes
from referee.bots.certificates import current_rules_versions
from referee.bots.checks import CheckOutcome, ClaimedCheck
from referee.bots.tables import Bot, Check
from referee.protocol.signing import bot_secret
from referee.workflows.bots import check_claims, handshake_results
from tests.api.conftest import API, Person, Service, Start, fields_of
from tests.api.tournaments import entered
from tests.database.world import World, manifest_of

PRIVATE = {"url", "verified_url", "status_reason", "handshake", "check", "previous_secret_until", "secret"}
GAMES = ("saint-poker", "pool-nap")
RULES = current_rules_versions(GAMES)
NOBODY = "bot_" + "0" * 26


def test_a_bot_is_registered_unverified_with_its_secret_and_a_handshake_due(service: Service, owner: Person) -> None:
    made = owner.post("/bots", {"name": "My bot", "url": "https://Bots.example.org:443/mine/"})

    bot = made.get_json()
    assert made.status_code == 201
    assert made.headers["Location"] == f"{API}/bots/{bot['id']}"
    assert (bot["status"], bot["handshake"]["state"], bot["url"]) == (
        "unverified",
        "due",
        "https://bots.example.org/mine",
    )
    assert bot["secret"] == bot_secret(service.settings.master_key, bot["id"], 1)
    assert "secret" not in owner.get(f"/bots/{bot['id']}").get_json()


@pytest.mark.parametrize(
    "url",
    [
        *("ftp://a.example/", "https://user:pass@a.example/", "https://169.254.169.254/", "https://" + "a" * 3000),
        *(5, None, ["https://a.example"]),
    ],
    ids=lambda url: str(url)[:24],
)
def test_A1_an_address_that_may_not_be_called_is_refused_and_nothing_stored(owner: Person, url: object) -> None:
    answer = owner.post("/bots", {"name": "My bot", "url": url})

    assert answer.status_code == 422
    assert fields_of(answer) == {"url"}
    assert owner.get("/bots").get_json()["items"] == []


@pytest.mark.parametrize(
    "field", ["status", "rating", "owner", "owner_id", "is_admin", "id", "secret", "max_concurrent_requests"]
)
def test_E4_fields_that_are_not_the_owners_are_refused(owner: Person, field: str) -> None:
    answer = owner.post("/bots", {"name": "My bot", "url": "https://a.example", field: "verified"})

    assert answer.status_code == 422
    assert fields_of(answer) == {field}


def test_E5_only_the_owner_sees_what_is_private(service: Service, owner: Person) -> None:
    bot = service.verified_bot(owner)
    path = f"/bots/{bot['id']}"

    own, others, public = owner.get(path), service.person().get(path), service.anonymous().get(API + path)

    assert own.get_json().keys() & PRIVATE == PRIVATE - {"secret"}
    assert not others.get_json().keys() & PRIVATE
    assert others.get_json() == public.get_json()
    listed = service.anonymous().get(f"{API}/bots").get_json()["items"]
    assert listed == [{name: value for name, value in public.get_json().items() if name != "former_names"}]
    assert not owner.get("/bots").get_json()["items"][0].keys() & PRIVATE


ACTS = [("PATCH", ""), *(("POST", f"/{verb}") for verb in ("pause", "resume", "retire", "rotate-secret", "check"))]


@pytest.mark.parametrize(("method", "act"), [*ACTS, ("GET", "/faults"), ("GET", "/health")])
def test_E5_anothers_bot_is_as_missing_as_none(service: Service, owner: Person, method: str, act: str) -> None:
    bot, other = service.verified_bot(owner), service.person()
    before = service.record_of(bot["id"])
    options: dict[str, Any] = {"json": {"name": "stolen"}} if method == "PATCH" else {}

    foreign = other.ask(method, f"/bots/{bot['id']}{act}", {"If-Match": "*"}, **options)
    missing = other.ask(method, f"/bots/{NOBODY}{act}", {"If-Match": "*"}, **options)

    bodies = [{**answer.get_json(), "request_id": ""} for answer in (foreign, missing)]
    assert foreign.status_code == missing.status_code == 404
    assert bodies[0] == bodies[1]
    assert service.record_of(bot["id"]).revision == before.revision


def test_a_bot_is_paused_resumed_checked_and_retired(service: Service, owner: Person) -> None:
    bot = service.verified_bot(owner)

    statuses = []
    for act in ("pause", "resume", "check", "retire"):
        answer = owner.post(f"/bots/{bot['id']}/{act}")
        statuses.append((answer.status_code, answer.get_json()["status"], answer.get_json()["handshake"]["state"]))
    after = owner.post(f"/bots/{bot['id']}/resume")

    assert statuses == [
        (200, "paused", "idle"),
        (200, "verified", "idle"),
        (202, "verified", "due"),
        (200, "retired", "idle"),
    ]
    assert (after.status_code, after.get_json()["code"]) == (409, "conflict")


def test_the_operator_may_take_a_bot_out_of_play_but_not_its_secret(
    service: Service, owner: Person, admin: Person
) -> None:
    bot = service.verified_bot(owner)

    assert admin.post(f"/bots/{bot['id']}/pause").get_json()["status"] == "paused"
    assert admin.post(f"/bots/{bot['id']}/rotate-secret").status_code == 404


def test_a_new_secret_is_shown_once(service: Service, owner: Person) -> None:
    bot = service.verified_bot(owner)

    rotated = owner.post(f"/bots/{bot['id']}/rotate-secret")

    assert rotated.get_json()["secret"] == bot_secret(service.settings.master_key, bot["id"], 2) != bot["secret"]
    assert rotated.headers["Cache-Control"] == "no-store"
    assert rotated.get_json()["previous_secret_until"] is not None


def test_E10_an_edit_needs_the_present_validator(service: Service, owner: Person) -> None:
    path = f"/bots/{service.verified_bot(owner)['id']}"
    etag = owner.get(path).headers["ETag"]

    first = owner.ask("PATCH", path, {"If-Match": etag}, json={"name": "new name"})
    second = owner.ask("PATCH", path, {"If-Match": etag}, json={"name": "newer name"})
    third = owner.ask("PATCH", path, {"If-Match": owner.get(path).headers["ETag"]}, json={"name": "newest name"})

    assert (first.status_code, second.status_code, third.status_code) == (200, 412, 200)
    assert owner.get(path).get_json()["name"] == "newest name"


def test_an_edit_is_not_refused_because_the_bot_is_called_or_checked_meanwhile(service: Service, owner: Person) -> None:
    path = f"/bots/{service.verified_bot(owner)['id']}"
    owner.post(f"{path}/check")
    read = owner.get(path)

    answer_handshake(service)

    seen = owner.ask("GET", path, {"If-None-Match": read.headers["ETag"]})
    edited = owner.ask("PATCH", path, {"If-Match": read.headers["ETag"]}, json={"name": "new name"})
    late = owner.ask("PATCH", path, {"If-Match": seen.headers["ETag"]}, json={"name": "newer name"})
    assert (seen.status_code, seen.get_json()["check"]["questions_sent"]) == (200, 3)
    assert (edited.status_code, late.status_code) == (200, 412)
    unchanged = owner.get(path)
    assert owner.ask("GET", path, {"If-None-Match": unchanged.headers["ETag"]}).status_code == 304
    public = service.anonymous().get(API + path).headers["ETag"]
    assert owner.ask("PATCH", path, {"If-Match": public}, json={"name": "newer name"}).status_code == 412


def test_a_bot_with_a_new_address_must_prove_it(service: Service, owner: Person) -> None:
    path = f"/bots/{service.verified_bot(owner)['id']}"

    moved = owner.ask("PATCH", path, {"If-Match": "*"}, json={"url": "https://elsewhere.example"})

    assert moved.status_code == 200
    assert (moved.get_json()["status"], moved.get_json()["handshake"]["state"]) == ("unverified", "due")


@pytest.mark.parametrize("changes", [{}, {"status": "verified"}, {"url": "ftp://x.example"}, {"name": None}, []])
def test_E4_a_bad_edit_changes_nothing(service: Service, owner: Person, changes: object) -> None:
    path = f"/bots/{service.verified_bot(owner)['id']}"
    before = owner.get(path).get_json()

    assert owner.ask("PATCH", path, {"If-Match": "*"}, json=changes).status_code == 422
    assert owner.get(path).get_json() == before


def test_bots_are_listed_by_owner_and_status(service: Service, owner: Person) -> None:
    first, second = service.verified_bot(owner), service.verified_bot(owner)
    service.verified_bot(service.person())
    owner.post(f"/bots/{first['id']}/pause")

    def ids(query: str) -> list[str]:
        return [bot["id"] for bot in owner.get(f"/bots?{query}").get_json()["items"]]

    assert ids(f"owner={owner.id}") == [second["id"], first["id"]]
    assert ids(f"owner={owner.id}&status=paused") == [first["id"]]
    assert fields_of(owner.get("/bots?owner=x&status=dead")) == {"owner", "status"}


@pytest.mark.parametrize(
    "path",
    [
        "/bots/%2e%2e",
        "/bots/../accounts",
        "/bots//x",
        "//bots",
        f"/bots/{NOBODY};x",
        f"/bots/{NOBODY}%00",
        f"/bots/{NOBODY}%0a",
        f"/bots/{NOBODY.upper()}",
        f"/bots/mat_{'0' * 26}",
        f"/bots/bot_{'٠' * 26}",
        f"/bots/bot_{'0' * 10_000}",
        "/bots/' OR 1=1 --",
        "/games/..%2f..%2fetc%2fpasswd",
        "/games/%ff",
    ],
)
def test_E20_tricks_in_paths_find_nothing(owner: Person, path: str) -> None:
    assert owner.get(path).status_code == 404


def test_E24_a_bot_is_registered_while_redis_is_down(start: Start) -> None:
    service = start(redis_url="redis://127.0.0.1:1/0")
    owner = service.person()

    made = owner.post("/bots", {"name": "My bot", "url": "https://a.example"})

    assert made.status_code == 201
    assert service.record_of(made.get_json()["id"]).handshake_state == "due"
    ready = service.anonymous().get("/readyz")
    assert (ready.status_code, ready.get_json()["status"]) == (200, "degraded")


def test_E21_an_owner_has_a_limited_number_of_bots(service: Service, owner: Person) -> None:
    def register(number: int) -> int:
        return owner.post("/bots", {"name": f"bot {number}", "url": f"https://b{number}.example"}).status_code

    made = [register(number) for number in range(20)]
    service.forget_requests()  # a minute later; 20 checks a minute are allowed

    assert [*made, register(20)] == [201] * 20 + [409]
    with service.database.read() as session:
        assert session.query(Bot).count() == 20


def test_its_owner_and_organisers_learn_why_a_bot_does_not_play(
    service: Service, owner: Person, organiser: Person
) -> None:
    tournament_id, bots = entered(service, organiser, 2)
    mine = service.verified_bot(owner)["id"]
    path = f"/bots/{mine}/waiting"

    idle = owner.get(path).get_json()
    owner.post(f"/tournaments/{tournament_id}/enter", {"bot": mine})
    entered_only = owner.get(path).get_json()
    match_id = World(service.database).match([mine, bots[0]])
    queued = organiser.get(path).get_json()

    assert (idle["bot"], idle["playing"], idle["open"], idle["reason"]["code"]) == (mine, 0, 0, "not_entered")
    assert [(one["tournament"], one["reason"]["code"]) for one in entered_only["tournaments"]] == [
        (tournament_id, "event_not_started")
    ]
    assert [(one["match"], one["position"], one["reason"]["code"]) for one in queued["matches"]] == [
        (match_id, 1, "next")
    ]
    assert queued["reason"]["text"] == "the match is next in the queue: a runner starts it when it has a free slot"
    assert service.person().get(path).status_code == 404
    assert service.anonymous().get(f"{API}{path}").status_code == 401


def test_the_certificate_is_for_everybody_the_report_for_the_owner(service: Service, owner: Person) -> None:
    bot = service.verified_bot(owner)
    path = f"/bots/{bot['id']}"
    anybody = service.anonymous()

    first = anybody.get(f"{API}{path}/certificate").get_json()
    assert (first["version"], first["fits"], first["ended_at"]) == ("1.0", ["saint-poker", "pool-nap"], None)
    asked = owner.post(f"{path}/check").get_json()
    assert (asked["handshake"]["state"], asked["check"]["state"]) == ("due", "idle")
    answer_handshake(service)
    running = owner.get(path).get_json()["check"]
    assert tuple(running[name] for name in ("state", "questions_sent", "questions_total", "current_step")) == (
        "running",
        3,
        60,
        "pool-nap",
    )
    answer_check(service, {"pool-nap": 1})
    done = owner.get(path).get_json()["check"]

    assert (done["state"], done["report"]["came"]) == ("idle", "its reply")
    history = anybody.get(f"{API}{path}/certificates?limit=1").get_json()
    assert [one["rules"] for one in history["items"]] == [{"pool-nap": 1}]
    older = anybody.get(f"{API}{path}/certificates?limit=1&cursor={history['next']}").get_json()
    assert [(one["id"], one["fits"], one["ended_reason"]) for one in older["items"]] == [(first["id"], [], "replaced")]
    everything = anybody.get(API + path).get_data(as_text=True) + json.dumps([history, older])
    assert "its reply" not in everything


def test_without_a_certificate_nothing_is_rated_and_everybody_is_told_what_to_do(
    service: Service, owner: Person, organiser: Person
) -> None:
    bot, rival = service.verified_bot(owner), service.verified_bot(service.person())
    owner.post(f"/bots/{bot['id']}/check")
    answer_handshake(service)
    answer_check(service, {})
    event = organiser.post("/tournaments", {"name": "Cup", "game": "saint-poker", "seats": 2}).get_json()["id"]
    organiser.post(f"/tournaments/{event}/open")
    seats = {"game": "saint-poker", "bots": [bot["id"], rival["id"]]}

    entered_rated = owner.post(f"/tournaments/{event}/enter", {"bot": bot["id"]})
    arranged = organiser.post("/matches", {**seats, "rated": True})
    shown = service.anonymous().get(f"{API}/bots/{bot['id']}/certificate")

    assert [(one.status_code, one.get_json()["code"]) for one in (entered_rated, arranged, shown)] == [
        (409, "no_certificate"),
        (409, "no_certificate"),
        (404, "no_certificate"),
    ]
    for refusal in (entered_rated, arranged, shown):
        assert f"POST /api/v1/bots/{bot['id']}/check" in refusal.get_json()["detail"]
    assert owner.post("/matches", seats).status_code == 201


def answer_handshake(service: Service) -> None:
    """Do what a runner does for a handshake and the beginning of a conformance check."""
    with service.database.write() as session:
        (handshake,) = handshakes.claim_due_handshakes(session)
        handshake_results.finish_handshake(
            session, handshake.bot_id, handshake.epoch, {"ok": True}, manifest_of("1.0", GAMES, 8)
        )
        (claimed,) = check_claims.claim_due(session, 1)
        checks.tell(session, claimed, 3, 60, "pool-nap")


def answer_check(service: Service, passed: dict[str, int]) -> None:
    with service.database.write() as session:
        one = session.scalars(select(Check).where(Check.state == "running")).one()
        claimed = ClaimedCheck(one.bot_id, one.epoch, 1)
        checks.finish(session, claimed, CheckOutcome("1.0", RULES, passed, "1", {"came": "its reply"}))
