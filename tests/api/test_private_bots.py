"""What the API allows and says on a service whose bots may have private addresses, and its quotas."""

import logging
from pathlib import Path

import pytest

from referee.runtime.starting import load_settings_at_start
from tests.api.conftest import Service, Start


@pytest.fixture
def room(start: Start) -> Service:
    return start(
        private_bots="10.20.0.0/24:8000-8010,[fd12:3456::/64]:8000",
        self_service=True,  # accounts of this test; `Settings.load` refuses it
        egress_allow="",
        allow_http=False,
        bots_per_owner=2,
        bots_per_host=3,
    )


def test_readiness_and_the_page_for_a_new_bot_name_the_private_ranges(room: Service) -> None:
    ready, page = room.anonymous().get("/readyz").get_json(), room.anonymous().get("/register").text

    assert ready["egress"] == "private"
    assert ready["private_bots"] == ["10.20.0.0/24:8000-8010", "[fd12:3456::/64]:8000"]
    assert "<code>10.20.0.0/24:8000-8010</code>, <code>[fd12:3456::/64]:8000</code>" in page


def test_A19_bots_are_registered_inside_the_ranges_only(room: Service) -> None:
    owner = room.person()
    outside = (
        "http://10.20.0.7:8011",
        "http://10.20.1.7:8000",
        "http://bots.example.org:8000",
        "http://127.0.0.1:8000",
    )

    for url in outside:
        answer = owner.post("/bots", {"name": "Mine", "url": url})
        assert answer.status_code == 422, url
        assert "10.20.0.0/24:8000-8010" in answer.get_json()["errors"][0]["message"]
    for url in ("http://10.20.0.7:8000", "https://bots.example.org"):
        assert owner.post("/bots", {"name": f"Mine {len(url)}", "url": url}).status_code == 201, url


def test_A14_quotas_are_settings_and_their_errors_say_whom_to_ask(room: Service) -> None:
    owner, other = room.person(), room.person()
    for number in (1, 2):
        assert owner.post("/bots", {"name": f"Mine {number}", "url": "http://10.20.0.7:8000"}).status_code == 201

    third = owner.post("/bots", {"name": "Mine 3", "url": "http://10.20.0.8:8000"})
    assert other.post("/bots", {"name": "Yours", "url": "http://10.20.0.7:8001"}).status_code == 201
    fourth = other.post("/bots", {"name": "Yours 2", "url": "http://10.20.0.7:8002"})

    assert third.get_json()["detail"] == (
        "An owner can have at most 2 bots, and you have 2. Retire one first, or ask the operator of this service for "
        "more (REFEREE_BOTS_PER_OWNER)."
    )
    assert fourth.get_json()["detail"] == (
        "At most 3 bots can have addresses on one host, and 10.20.0.7 has 3. Use another host, or ask the operator of "
        "this service for more bots on one host (REFEREE_BOTS_PER_HOST)."
    )
    assert (third.status_code, fourth.status_code) == (409, 409)


def test_E8_one_address_has_its_own_limit_and_does_not_limit_tokens_behind_it(start: Start) -> None:
    class_room = start(address_requests=5)
    people = [class_room.person() for _ in range(3)]

    pages = [class_room.anonymous().get("/bots").status_code for _ in range(8)]

    assert pages.count(429) >= 3
    assert {person.get("/accounts/me").status_code for person in people for _ in range(4)} == {200}


@pytest.mark.parametrize("database", ["sqlite:///referee.db", "postgresql://user@10.20.0.5/name"])
def test_A19_processes_say_loudly_what_is_open_or_do_not_start(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    changed = {"DATA": str(tmp_path), "SELF_SERVICE": "false", "PRIVATE_BOTS": "10.20.0.0/24:8000"}
    for name, text in {f"REFEREE_{name}": text for name, text in changed.items()}.items():
        monkeypatch.setenv(name, text)
    monkeypatch.setenv("DATABASE_URL", database)

    with caplog.at_level(logging.WARNING):
        settings = load_settings_at_start()

    (record,) = caplog.records
    if settings is None:
        assert "10.20.0.5, an address of the database; name a range without it" in record.message
    else:
        assert (record.message, vars(record)["ranges"]) == ("private_bots_allowed", "10.20.0.0/24:8000")
    assert (settings is None) == database.startswith("postgresql")
