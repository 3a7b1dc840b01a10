"""Bots over HTTP: registration, visibility, edits, checks."""

import json
from typing import Any

from sqlalchemy import select

from referee.bots import checks, handshakes
from referee.bots.certificates import current_rules_versions
from referee.bots.checks import CheckOutcome, ClaimedCheck
from referee.bots.tables import Check
from referee.protocol.signing import bot_secret
from referee.workflows.bots import check_claims, handshake_results
from tests.api.conftest import API, Person, Service, Start, fields_of
from tests.api.tournaments import entered, opened
from tests.database.world import World, manifest_of

PRIVATE = {"url", "verified_url", "status_reason", "handshake", "check", "previous_secret_until", "secret"}
GAMES = ("saint-poker", "pool-nap")
RULES = current_rules_versions(GAMES)
NOBODY = "bot_" + "0" * 26
ANY = {"If-Match": "*"}
ACTS = [("PATCH", ""), *(("POST", f"/{verb}") for verb in ("pause", "resume", "retire", "rotate-secret", "check"))]


def test_a_bot_is_registered_unverified_with_a_handshake_due_and_its_secrets_are_shown_once(
    service: Service, owner: Person
) -> None:
    made = owner.post("/bots", {"name": "My bot", "url": "https://Bots.example.org:443/mine/"})
    bot = made.get_json()
    rotated = owner.post(f"/bots/{bot['id']}/rotate-secret")

    assert (made.status_code, made.headers["Location"]) == (201, f"{API}/bots/{bot['id']}")
    shown = bot["status"], bot["handshake"]["state"], bot["url"]
    assert shown == ("unverified", "due", "https://bots.example.org/mine")
    secrets = [bot_secret(service.settings.master_key, bot["id"], generation) for generation in (1, 2)]
    assert [bot["secret"], rotated.get_json()["secret"]] == secrets
    assert "secret" not in owner.get(f"/bots/{bot['id']}").get_json()
    assert rotated.headers["Cache-Control"] == "no-store"
    assert rotated.get_json()["previous_secret_until"] is not None


def test_A1_an_address_that_may_not_be_called_is_refused_and_nothing_stored(owner: Person) -> None:
    for url in (
        *("ftp://a.example/", "https://user:pass@a.example/", "https://169.254.169.254/", "https://" + "a" * 3000),
        *(5, None, ["https://a.example"]),
    ):
        answer = owner.post("/bots", {"name": "My bot", "url": url})

        assert (answer.status_code, fields_of(answer)) == (422, {"url"}), url
        assert owner.get("/bots").get_json()["items"] == []


def test_E4_fields_that_are_not_the_owners_are_refused(owner: Person) -> None:
    more = dict.fromkeys(("status", "rating", "owner", "id", "secret", "max_concurrent_requests"), "verified")

    answer = owner.post("/bots", {"name": "My bot", "url": "https://a.example", **more})

    assert (answer.status_code, fields_of(answer)) == (422, {*more})


def test_E5_only_the_owner_sees_what_is_private(service: Service, owner: Person, mine: str) -> None:
    path = f"/bots/{mine}"

    own, others, public = owner.get(path), service.person().get(path), service.anonymous().get(API + path)

    assert own.get_json().keys() & PRIVATE == PRIVATE - {"secret"}
    assert not others.get_json().keys() & PRIVATE
    assert others.get_json() == public.get_json()
    listed = service.anonymous().get(f"{API}/bots").get_json()["items"]
    assert listed == [{name: value for name, value in public.get_json().items() if name != "former_names"}]
    assert owner.get("/bots").get_json()["items"] == listed


def test_E5_anothers_bot_is_as_missing_as_none(service: Service, mine: str) -> None:
    other, before = service.person(), service.record_of(mine)

    for method, act in [*ACTS, ("GET", "/faults"), ("GET", "/health")]:
        options: dict[str, Any] = {"json": {"name": "stolen"}} if method == "PATCH" else {}
        answers = [other.ask(method, f"/bots/{bot}{act}", ANY, **options) for bot in (mine, NOBODY)]
        foreign, missing = ({**answer.get_json(), "request_id": ""} for answer in answers)
        assert foreign == missing
        assert [answer.status_code for answer in answers] == [404, 404], act
    assert service.record_of(mine).revision == before.revision


def test_a_bot_is_paused_resumed_checked_and_retired(owner: Person, admin: Person, mine: str) -> None:
    def do(act: str) -> tuple[int, str, str]:
        answer = owner.post(f"/bots/{mine}/{act}")
        return answer.status_code, answer.get_json()["status"], answer.get_json()["handshake"]["state"]

    assert do("pause") == (200, "paused", "idle")
    assert do("resume") == (200, "verified", "idle")
    assert admin.post(f"/bots/{mine}/rotate-secret").status_code == 404  # the operator may only take it out of play
    assert admin.post(f"/bots/{mine}/pause").get_json()["status"] == "paused"
    assert do("resume") == (200, "verified", "idle")
    assert do("check") == (202, "verified", "due")
    assert do("retire") == (200, "retired", "idle")
    after = owner.post(f"/bots/{mine}/resume")
    assert (after.status_code, after.get_json()["code"]) == (409, "conflict")


def test_E10_an_edit_is_refused_only_if_it_was_edited_meanwhile(service: Service, owner: Person, mine: str) -> None:
    path = f"/bots/{mine}"
    owner.post(f"{path}/check")
    read = owner.get(path).headers["ETag"]

    def edit(etag: str, **changes: str) -> int:
        return owner.ask("PATCH", path, {"If-Match": etag}, json=changes).status_code

    answer_handshake(service)  # the bot is called and checked meanwhile

    seen = owner.ask("GET", path, {"If-None-Match": read})
    assert (seen.status_code, seen.get_json()["check"]["questions_sent"]) == (200, 3)
    assert edit(read, name="new name") == 200
    assert [edit(etag, summary="Late") for etag in (read, seen.headers["ETag"])] == [412, 412]
    unchanged = owner.get(path).headers["ETag"]
    assert owner.ask("GET", path, {"If-None-Match": unchanged}).status_code == 304
    assert edit(service.anonymous().get(API + path).headers["ETag"], name="newer name") == 412
    assert edit(unchanged, name="newest name") == 200
    assert (owner.get(path).get_json()["name"], owner.get(path).get_json()["summary"]) == ("newest name", None)


def test_E4_a_bad_edit_changes_nothing_and_a_new_address_must_be_proven(owner: Person, mine: str) -> None:
    before = owner.get(f"/bots/{mine}").get_json()

    bad: tuple[Any, ...] = ({}, {"status": "verified"}, {"url": "ftp://x.example"}, {"name": None}, [])
    for changes in bad:
        assert owner.ask("PATCH", f"/bots/{mine}", ANY, json=changes).status_code == 422, changes
    assert owner.get(f"/bots/{mine}").get_json() == before
    moved = owner.ask("PATCH", f"/bots/{mine}", ANY, json={"url": "https://elsewhere.example"})
    assert (moved.status_code, moved.get_json()["status"]) == (200, "unverified")
    assert moved.get_json()["handshake"]["state"] == "due"


def test_E20_tricks_in_paths_find_nothing(owner: Person) -> None:
    for path in (
        *("/bots/%2e%2e", "/bots/../accounts", "/bots//x", "//bots", f"/bots/{NOBODY};x", f"/bots/{NOBODY}%00"),
        *(f"/bots/{NOBODY}%0a", f"/bots/{NOBODY.upper()}", f"/bots/mat_{'0' * 26}", f"/bots/bot_{'٠' * 26}"),
        *(f"/bots/bot_{'0' * 10_000}", "/bots/' OR 1=1 --", "/games/..%2f..%2fetc%2fpasswd", "/games/%ff"),
    ):
        assert owner.get(path).status_code == 404, path


def test_E24_a_bot_is_registered_while_redis_is_down(start: Start) -> None:
    service = start(redis_url="redis://127.0.0.1:1/0")

    made = service.person().post("/bots", {"name": "My bot", "url": "https://a.example"})

    assert made.status_code == 201
    assert service.record_of(made.get_json()["id"]).handshake_state == "due"
    ready = service.anonymous().get("/readyz")
    assert (ready.status_code, ready.get_json()["status"]) == (200, "degraded")


def test_its_owner_and_organisers_learn_why_a_bot_does_not_play(
    service: Service, owner: Person, organiser: Person, mine: str
) -> None:
    tournament_id, bots = entered(service, organiser, 2)
    path = f"/bots/{mine}/waiting"

    idle = owner.get(path).get_json()
    owner.post(f"/tournaments/{tournament_id}/enter", {"bot": mine})
    (entry,) = owner.get(path).get_json()["tournaments"]
    match_id = World(service.database).match([mine, bots[0]])
    queued = organiser.get(path).get_json()
    (match,) = queued["matches"]

    assert (idle["bot"], idle["playing"], idle["open"], idle["reason"]["code"]) == (mine, 0, 0, "not_entered")
    assert (entry["tournament"], entry["reason"]["code"]) == (tournament_id, "event_not_started")
    assert (match["match"], match["position"], match["reason"]["code"]) == (match_id, 1, "next")
    assert queued["reason"]["text"] == "the match is next in the queue: a runner starts it when it has a free slot"
    assert service.person().get(path).status_code == 404
    assert service.anonymous().get(f"{API}{path}").status_code == 401


def test_the_certificate_is_for_everybody_the_report_for_the_owner(service: Service, owner: Person, mine: str) -> None:
    path, anybody = f"/bots/{mine}", service.anonymous()

    first = anybody.get(f"{API}{path}/certificate").get_json()
    assert (first["version"], first["fits"], first["ended_at"]) == ("1.0", ["saint-poker", "pool-nap"], None)
    asked = owner.post(f"{path}/check").get_json()
    assert (asked["handshake"]["state"], asked["check"]["state"]) == ("due", "idle")
    answer_handshake(service)
    running = owner.get(path).get_json()["check"]
    progress = {"state": "running", "questions_sent": 3, "questions_total": 60, "current_step": "pool-nap"}
    assert running.items() >= progress.items()
    answer_check(service, {"pool-nap": 1})
    done = owner.get(path).get_json()["check"]

    assert (done["state"], done["report"]["came"]) == ("idle", "its reply")
    history = anybody.get(f"{API}{path}/certificates?limit=1").get_json()
    assert [one["rules"] for one in history["items"]] == [{"pool-nap": 1}]
    older = anybody.get(f"{API}{path}/certificates?limit=1&cursor={history['next']}").get_json()
    assert [(one["id"], one["fits"], one["ended_reason"]) for one in older["items"]] == [(first["id"], [], "replaced")]
    assert "its reply" not in anybody.get(API + path).text + json.dumps([history, older])


def test_without_a_certificate_nothing_is_rated_and_everybody_is_told_what_to_do(
    service: Service, owner: Person, organiser: Person, mine: str, theirs: str
) -> None:
    owner.post(f"/bots/{mine}/check")
    answer_handshake(service)
    answer_check(service, {})
    seats = {"game": "saint-poker", "bots": [mine, theirs]}

    refused = [
        owner.post(f"/tournaments/{opened(organiser)}/enter", {"bot": mine}),
        organiser.post("/matches", {**seats, "rated": True}),
        service.anonymous().get(f"{API}/bots/{mine}/certificate"),
    ]

    assert [answer.status_code for answer in refused] == [409, 409, 404]
    assert {answer.get_json()["code"] for answer in refused} == {"no_certificate"}
    assert all(f"POST /api/v1/bots/{mine}/check" in answer.get_json()["detail"] for answer in refused)
    assert owner.post("/matches", seats).status_code == 201


def answer_handshake(service: Service) -> None:
    """Do what a runner does for a handshake and the beginning of a conformance check."""
    with service.database.write() as session:
        (handshake,) = handshakes.claim_due_handshakes(session)
        manifest = manifest_of("1.0", GAMES, 8)
        handshake_results.finish_handshake(session, handshake.bot_id, handshake.epoch, {"ok": True}, manifest)
        (claimed,) = check_claims.claim_due(session, 1)
        checks.tell(session, claimed, 3, 60, "pool-nap")


def answer_check(service: Service, passed: dict[str, int]) -> None:
    with service.database.write() as session:
        one = session.scalars(select(Check).where(Check.state == "running")).one()
        claimed = ClaimedCheck(one.bot_id, one.epoch, 1)
        checks.finish(session, claimed, CheckOutcome("1.0", RULES, passed, "1", {"came": "its reply"}))
