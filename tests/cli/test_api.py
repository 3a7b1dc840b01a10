"""`referee api` against a running service, and against hosts that redirect."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from referee.accounts import accounts
from referee.cli import main
from referee.cli.service import saved_tokens
from tests.api.in_thread import api_in_thread
from tests.cli.answering import Answer, Call, answering
from tests.cli.running import says


@dataclass
class Service:
    """A running service with an organiser and three bots of theirs."""

    url: str
    token: str

    def call(self, *arguments: str, status: int = 0) -> Result:
        return says({"REFEREE_URL": self.url, "REFEREE_TOKEN": self.token}, "api", *arguments, status=status)


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with api_in_thread(tmp_path_factory.mktemp("api")) as (url, world):
        organiser = world.account(role="organiser")
        for name in ("Ada", "Bob", "Cid"):
            world.bot(organiser, name=name)
        token = world.write(accounts.create_token, organiser, "first")[1]
        yield Service(url, token)


def test_a_get_prints_json_with_indentation_or_on_one_line(there: Service) -> None:
    indented = there.call("/accounts/me").stdout
    line = there.call("GET", "api/v1/accounts/me", "--json").stdout

    assert json.loads(indented) == json.loads(line)
    assert indented.startswith('{\n  "')
    assert line.count("\n") == 1


def test_fields_of_a_get_are_parameters_of_the_query(there: Service) -> None:
    two = json.loads(there.call("get", "/bots", "limit:=2").stdout)
    none = json.loads(there.call("GET", "/bots?limit=2", "status=paused").stdout)

    assert len(two["items"]) == 2
    assert none["items"] == []


def test_all_pages_are_printed_an_item_on_each_line(there: Service) -> None:
    lines = there.call("/bots?limit=2", "--paginate").stdout.splitlines()

    assert {json.loads(line)["name"] for line in lines} == {"Ada", "Bob", "Cid"}


def test_only_lists_have_pages(there: Service) -> None:
    assert "/accounts/me is not a list" in there.call("/accounts/me", "--paginate", status=1).stderr
    assert "--paginate fetches lists" in there.call("POST", "/bots", "--paginate", status=2).stderr


def test_fields_without_a_method_are_posted_and_a_patch_needs_no_etag(there: Service) -> None:
    time = 'time:={"budget_ms": 2000, "bank_ms": 0}'
    drafted = json.loads(there.call("/tournaments", "name=Cup", "game=saint-poker", "seats:=2", time).stdout)

    edited = json.loads(there.call("PATCH", f"/tournaments/{drafted['id']}", "prizes=A cake", "rated:=false").stdout)
    deleted = there.call("DELETE", f"/tournaments/{drafted['id']}")

    assert drafted["time"]["budget_ms"] == 2000
    assert (edited["prizes"], edited["rated"], edited["seats"]) == ("A cake", False, 2)
    assert deleted.stdout == ""


def test_what_is_not_json_is_printed_as_it_is(there: Service) -> None:
    drafted = json.loads(there.call("/tournaments", "name=Csv", "game=saint-poker", "seats:=2").stdout)

    assert there.call(f"/tournaments/{drafted['id']}/results.csv").stdout.startswith("seq,match,")


def test_a_refusal_is_a_sentence_and_status_1(there: Service) -> None:
    unknown = there.call("/matches/mat_1", status=1)
    wrong = there.call("POST", "/tournaments", "name=Cup", "game=chess", "seats:=2", status=1)
    as_json = there.call("/matches/mat_1", "--json", status=1)

    assert unknown.stderr.startswith("Error: ")
    assert unknown.stdout == ""
    assert "game: " in wrong.stderr
    assert json.loads(as_json.stdout)["error"]["status"] == 404


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["https://elsewhere.example/bots"], "is not a path of this service"),
        (["//elsewhere.example/bots"], "is not a path of this service"),
        (["GET", "/\\elsewhere.example"], "is not a path of this service"),
        (["GET"], "Pass the PATH"),
        (["/bots", "name"], "is not of the form"),
        (["/bots", "seats:=two"], "is not JSON"),
        (["/bots", "name=a", "name=b"], "more than once"),
    ],
)
def test_what_is_no_request_to_the_service_is_wrong_usage(there: Service, arguments: list[str], reason: str) -> None:
    assert reason in there.call(*arguments, status=2).stderr


def test_a_redirect_is_refused_and_the_saved_token_goes_to_its_service_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    tokens: list[str | None] = []

    def answer(call: Call) -> Answer:
        tokens.append(call.headers.get("Authorization"))
        return (307, {"Location": f"{other}{call.path}"}, b"") if len(tokens) == 1 else (200, {}, b"{}")

    with answering(answer) as other, answering(answer) as url:
        saved_tokens.save(url, "ref_secret")
        refused = CliRunner().invoke(main, ["api", "/bots"])
        elsewhere = CliRunner().invoke(main, ["api", "/bots", "--url", other])

    assert refused.exit_code == 1
    assert f"{url} redirected (307); use the final URL" in refused.stderr
    assert elsewhere.exit_code == 0
    assert tokens == ["Bearer ref_secret", None]
