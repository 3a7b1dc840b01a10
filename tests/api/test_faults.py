"""Fault reports: access, content, counts and response statistics."""

import base64
import json
import subprocess
from collections.abc import Sequence
from typing import Any

import pytest

from referee.games.saint_poker import SaintPoker
from referee.match.match import Answer
from referee.matches.logs.recording import BotError, FaultReport, MatchUpdate, record_batch
from referee.protocol import messages
from referee.protocol.signing import Signer, bot_secret
from tests.api.conftest import Person, Service
from tests.api.playing import Playing
from tests.database.world import World
from tests.surroundings import MASTER_KEY

ANONYMOUS = ("p_aaaaaaaaaaaaaaaa", "p_bbbbbbbbbbbbbbbb")  # what bots know each other by, by seat
TIMING = {"total_ms": 11_000, "dns_ms": 0.2, "connect_ms": 0.4, "wait_ms": 10_999.0, "read_ms": 0.0}


class Faulty(Playing):
    """A rated match, as a runner records it, in which the first bot fails at its first two questions."""

    def __init__(self, service: Service, bots: Sequence[str]) -> None:
        world = World(service.database)
        (claim,) = world.claim(match_id=world.match(list(bots), rated=True))
        super().__init__(world, claim, world.resumed(claim.match_id))
        self.bots = bots
        self.asked: list[bytes] = []
        self.hidden: set[str] = set()  # what the rival held unseen at the first question
        self.fail("deadline", b"")
        self.fail("bad_json", b'{"decision": \xff')

    def receive(self, answers: int = 1) -> None:
        for _ in range(answers):
            self.match.receive(Answer(self.match.requests()[0].seat, choice=0, ms=5))

    def fail(self, code: str, reply: bytes) -> None:
        while (request := self.match.requests()[0]).seat != 0:
            self.receive()
        _, body = messages.Questions(self.match.log.rows[0], 0, ANONYMOUS).encode(request)
        self.asked.append(body)
        if not self.hidden:
            assert isinstance(self.match.state, SaintPoker)
            hands, known = self.match.state.hands, request.observation["known"]
            self.hands, self.hidden = [hand[:] for hand in hands], set(hands[1]) - set(known[1])
        evidence = FaultReport(request.n, 0, self.bots[0], code, "so it was", body, reply, TIMING)
        self.match.receive(Answer(0, trouble=code, ms=50))
        self.record(fault_reports=[evidence])


@pytest.fixture
def rival(service: Service) -> Person:
    return service.person()


@pytest.fixture
def faulty(service: Service, owner: Person, rival: Person) -> Faulty:
    return Faulty(service, [service.verified_bot(person)["id"] for person in (owner, rival)])


def listed(person: Person, path: str) -> list[dict[str, Any]]:
    answer = person.get(path)
    assert answer.status_code == 200, answer.get_data(as_text=True)
    found: list[dict[str, Any]] = answer.get_json()["items"]
    return found


def test_D1_evidence_is_for_the_owner_at_once_and_for_others_never_or_later(
    faulty: Faulty, owner: Person, rival: Person, organiser: Person, admin: Person
) -> None:
    of_bot, of_match = f"/bots/{faulty.bots[0]}/faults", f"/matches/{faulty.id}/faults"
    second, first = listed(owner, of_bot)
    one = f"/faults/{first['id']}"

    assert [fault["code"] for fault in (first, second)] == ["deadline", "bad_json"]
    assert listed(owner, of_match) == [second, first]
    assert "request" not in first
    for person in (rival, organiser, admin):
        assert listed(person, of_match) == []
        assert person.get(one).status_code == person.get(of_bot).status_code == 404
    faulty.end()
    for person in (organiser, admin):
        assert listed(person, of_match) == [second, first]
        assert (person.get(one).get_json()["n"], person.get(one).get_json()["curl"]) == (first["n"], None)
        assert person.get(of_bot).status_code == 404
    assert listed(rival, of_match) == []
    assert rival.get(one).status_code == 404
    for unknown in (2**53 - 1, 2**53):
        assert owner.get(f"/faults/{unknown}").status_code == 404


def test_evidence_holds_the_exact_question_and_what_came_back(faulty: Faulty, owner: Person) -> None:
    faults = listed(owner, f"/matches/{faulty.id}/faults")
    second, first = (owner.get(f"/faults/{fault['id']}").get_json() for fault in faults)

    assert [first["request"].encode(), second["request"].encode()] == faulty.asked
    assert (first["reply"], first["reply_base64"]) == ("", None)
    assert (second["reply"], base64.b64decode(second["reply_base64"])) == (None, b'{"decision": \xff')
    assert first["played"] == json.loads(first["request"])["default_action"]
    assert (first["timing"], first["detail"], first["version"]) == (TIMING, "so it was", "1.0")
    assert first["advice"].startswith("look at the times of the call")
    assert [first["request_cut"], first["reply_cut"]] == [False, False]


def test_D2_the_question_kept_shows_no_hand_but_its_own(faulty: Faulty, owner: Person) -> None:
    (_, first) = listed(owner, f"/bots/{faulty.bots[0]}/faults")
    shown = owner.get(f"/faults/{first['id']}").get_data(as_text=True)

    question = json.loads(json.loads(shown)["request"])
    assert (question["match"]["seat"], question["observation"]["hand"]) == (0, faulty.hands[0])
    assert faulty.hidden
    assert not [card for card in faulty.hidden if f'"{card}"' in json.loads(shown)["request"]]
    assert faulty.bots[1] not in shown  # nor who sits opposite in an anonymous match


def test_the_command_asks_the_same_again_signed_and_holds_no_secret(faulty: Faulty, owner: Person) -> None:
    (_, first) = listed(owner, f"/bots/{faulty.bots[0]}/faults")
    command = owner.get(f"/faults/{first['id']}").get_json()["curl"]
    secret = bot_secret(MASTER_KEY, faulty.bots[0], 1)
    shell = 'curl() { printf "%s\\n" "$@"; printf "body "; cat; }; ' + command

    def run(**variables: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": "/usr/bin:/bin", **variables}
        return subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=False, env=environment)

    unset, told = run(), run(REFEREE_BOT_SECRET=secret).stdout

    fields = dict(line.split(": ", 1) for line in told.splitlines() if line.startswith("webhook-"))
    id, at, signatures = (fields[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
    assert secret.removeprefix("whsec_") not in command
    assert "REFEREE_BOT_SECRET" in unset.stderr
    assert "/decide" in told
    assert told.partition("\nbody ")[2].encode() == faulty.asked[0]
    assert Signer([secret]).verify(id, at, faulty.asked[0], signatures)


def test_faults_are_filtered_and_paged(faulty: Faulty, owner: Person) -> None:
    path = f"/bots/{faulty.bots[0]}/faults"

    assert [fault["code"] for fault in listed(owner, f"{path}?code=deadline")] == ["deadline"]
    assert len(listed(owner, f"{path}?version=1.0&match={faulty.id}")) == 2
    assert listed(owner, f"{path}?version=2") == listed(owner, f"{path}?match=mat_{'0' * 26}") == []
    assert owner.get(f"{path}?code=sloth").status_code == 422
    page = owner.get(f"{path}?limit=1").get_json()
    assert len(listed(owner, f"{path}?limit=1&cursor={page['next']}")) == 1


def test_the_health_of_a_bot_is_told_by_version(faulty: Faulty, owner: Person, rival: Person) -> None:
    path = f"/bots/{faulty.bots[0]}/health"

    assert owner.get(path).get_json() == {"bot": faulty.bots[0], "matches": 0, "items": []}
    faulty.end()
    told = owner.get(path).get_json()
    (by_version,) = told["items"]

    rows = [row for row in faulty.match.log.rows if row["type"] == "decision" and row["seat"] == 0]
    asked = [row["ms"] for row in rows if row["source"] != "forced"]
    assert (told["matches"], by_version["matches"], by_version["version"]) == (1, 1, "1.0")
    assert by_version["decisions"] == len(asked)
    assert by_version["ms"] == {"p50": 5, "p90": sorted(asked)[-(-90 * len(asked) // 100) - 1], "p99": 50, "max": 50}
    assert by_version["faults"] == {"bad_json": 1, "deadline": 1}
    assert owner.get(path).get_json() == told
    faulty.world.play(faulty.bots)  # all of it stored with the result
    assert owner.get(path).get_json()["matches"] == 2
    assert rival.get(path).status_code == 404


def report_errors(faulty: Faulty, *texts: str) -> None:
    errors = [BotError(number, 0, faulty.bots[0], text) for number, text in enumerate(texts)]
    faulty.record(bot_errors=errors)


def test_errors_that_a_bot_reported_are_counted_by_match_and_version_and_shown_to_its_owner_alone(
    faulty: Faulty, owner: Person, rival: Person, service: Service
) -> None:
    path = f"/bots/{faulty.bots[0]}/errors"

    report_errors(faulty, "KeyError: 'legall'", "KeyError: 'once more'")
    report_errors(faulty, "ValueError: \x00 max() of nothing")
    (item,) = listed(owner, path)
    faulty.end()
    (by_version,) = owner.get(f"/bots/{faulty.bots[0]}/health").get_json()["items"]
    log = service.person().get(f"/matches/{faulty.id}/log")

    assert item.items() >= {"match": faulty.id, "seat": 0, "version": "1.0", "errors": 3, "n": 0}.items()
    assert item["error"].startswith("ValueError: ")
    assert "\x00" not in item["error"]
    assert by_version["errors"] == 3
    assert rival.get(path).status_code == 404
    assert service.app.test_client().get(f"/api/v1{path}").status_code == 401
    assert b"ValueError" not in log.data


def test_errors_are_paged_newest_match_first(faulty: Faulty, owner: Person) -> None:
    path = f"/bots/{faulty.bots[0]}/errors"
    report_errors(faulty, "first")
    faulty.end()
    second = faulty.world.match([faulty.bots[0], faulty.bots[0]], rated=False)
    (claim,) = faulty.world.claim(match_id=second)
    with faulty.world.database.write() as session:
        errors = [BotError(1, seat, faulty.bots[0], "later") for seat in (0, 1)]
        assert not record_batch(session, [MatchUpdate(second, claim.epoch, bot_errors=errors)])

    shown, cursor = [], ""
    while cursor is not None:
        page = owner.get(f"{path}?limit=1{cursor and f'&cursor={cursor}'}").get_json()
        shown += [(item["match"], item["seat"]) for item in page["items"]]
        cursor = page["next"]

    assert shown == [(second, 0), (second, 1), (faulty.id, 0)]
    assert owner.get(f"{path}?cursor=nonsense").status_code == 422
