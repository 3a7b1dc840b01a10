"""The accounts of a class: all or none, and the same again; `referee admin class` with lines and files."""

import csv
import io
import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import func, select

from referee.accounts import accounts
from referee.accounts.tables import Account
from referee.cli import main
from referee.workflows.erasing import account_deletion
from tests.api.conftest import API, Person, Service
from tests.api.in_thread import api_in_thread
from tests.cli.running import says
from tests.surroundings import MASTER_KEY

NAMES = ["Ada Lovelace", "Bob", "Çiğdem"]


def create(admin: Person, names: list[str], **more: Any) -> list[dict[str, Any]]:
    answer = admin.post("/accounts/class", {"names": names, **more})
    assert answer.status_code == 200, answer.get_json()
    items: list[dict[str, Any]] = answer.get_json()["items"]
    return items


def count_accounts(service: Service) -> int:
    with service.database.read() as session:
        return session.scalars(select(func.count()).select_from(Account)).one()


def works(service: Service, token: str) -> int:
    return Person(service.anonymous(), "", token).get("/accounts/me").status_code


def test_each_name_gets_an_account_and_a_token_that_may_play(service: Service, admin: Person) -> None:
    key, body = {"Idempotency-Key": "k" * 32}, {"names": NAMES, "expires_in_days": 90}
    made, again = (admin.ask("POST", "/accounts/class", key, json=body).get_json()["items"] for _ in range(2))
    assert made == again

    assert [member["account"]["name"] for member in made] == NAMES
    assert {member["account"]["role"] for member in made} == {"owner"}
    for member in made:
        student = Person(service.anonymous(), member["account"]["id"], member["token"]["token"])
        assert (member["is_new"], member["token"]["scopes"]) == (True, ["play"])
        assert member["token"]["expires_at"]
        assert student.get("/accounts/me").get_json()["name"] == member["account"]["name"]
        bot = {"name": f"{member['account']['name']} bot", "url": "https://b.example.org"}
        assert student.post("/bots", bot).status_code == 201
        assert student.post("/accounts/me/tokens", {"name": "more"}).get_json()["code"] == "missing_scope"
    kinds = [act["kind"] for act in admin.get("/acts").get_json()["items"]]
    assert kinds == ["account.created"] * 3


def test_a_second_run_creates_only_what_is_new_and_gives_no_tokens(service: Service, admin: Person) -> None:
    first = create(admin, NAMES[:2])

    again = create(admin, NAMES)

    assert [(member["is_new"], member["token"] is not None) for member in again] == [
        (False, False),
        (False, False),
        (True, True),
    ]
    assert [member["account"]["id"] for member in again[:2]] == [member["account"]["id"] for member in first]
    assert [works(service, member["token"]["token"]) for member in first] == [200, 200]


def test_new_tokens_replace_those_of_earlier_runs_and_no_others(service: Service, admin: Person) -> None:
    (first,) = create(admin, ["Ada"])
    own = admin.post(f"/accounts/{first['account']['id']}/tokens", {"name": "laptop"}).get_json()

    for _ in range(accounts.TOKENS_PER_ACCOUNT + 1):
        (again,) = create(admin, ["Ada"], new_tokens=True)

    assert (again["is_new"], works(service, again["token"]["token"])) == (False, 200)
    assert works(service, first["token"]["token"]) == 401
    assert works(service, own["token"]) == 200
    assert [act["kind"] for act in admin.get("/acts?limit=1").get_json()["items"]] == ["account.token_created"]


BAD_NAMES: list[tuple[list[str], dict[int, str]]] = [
    (["Ada", "B", "Ca  rl"], {1: "must have 2 to 32 characters", 2: "two spaces"}),
    (["Ada", "Bob", "Ada"], {2: "is the same as 'Ada' or looks the same"}),
    (["Ada", "ADA"], {1: "is the same as 'Ada' or looks the same"}),
    (["Ada", "Аda"], {1: "is the same as 'Ada' or looks the same"}),  # a Cyrillic capital
    (["Ada", "Olga"], {1: "is an account with the role organiser"}),
    (["Ada", "olga"], {1: "looks the same as the account 'Olga'"}),
    (["Ada", "Sam"], {1: "is a suspended account"}),
    (["Ada", "house-bot:1"], {1: "may contain only"}),
    (["Ada", "Referee"], {1: "is reserved"}),
    (["Ada", "x" * 33, "<b>", "Bob", "bob"], {1: "2 to 32", 2: "may contain only", 4: "looks the same"}),
    (["Held One", "Free", "Held Two"], {0: "was given up", 2: "was given up"}),
    (["Free", "Full"], {1: "token"}),
]


def test_E14_with_a_bad_name_nothing_is_created_and_all_bad_ones_are_named(service: Service, admin: Person) -> None:
    with service.database.write() as session:
        accounts.create_account(session, "Olga", "organiser")
        held = [accounts.create_account(session, name).id for name in ("Held One", "Held Two")]
        full = accounts.create_account(session, "Full").id
        for number in range(accounts.TOKENS_PER_ACCOUNT):
            accounts.create_token(session, full, f"laptop {number}")
    with service.database.write() as session:
        for id in held:
            account_deletion.delete_account(session, accounts.get_account(session, id), id, master_key=MASTER_KEY)
    sam, _ = (member["account"]["id"] for member in create(admin, ["Sam", "Free"]))
    admin.post(f"/accounts/{sam}/suspend", {"reason": "a test"})
    before = count_accounts(service)

    for names, errors in BAD_NAMES:
        answer = admin.post("/accounts/class", {"names": names, "new_tokens": True})

        assert answer.status_code == 422
        found = {error["field"]: error["message"] for error in answer.get_json()["errors"]}
        assert found.keys() == {f"names.{place}" for place in errors}
        for place, reason in errors.items():
            assert reason in found[f"names.{place}"]
        assert count_accounts(service) == before


def test_E26_only_the_operator_creates_a_class_with_a_body_as_described(start: Any, admin: Person) -> None:
    service = start(self_service=False)  # where nobody opens an account
    operator = Person(service.anonymous(), admin.id, admin.token)
    bad: list[dict[str, Any]] = [
        *({}, {"names": []}, {"names": ["Ada"] * 201}, {"names": "Ada"}, {"names": [1]}),
        *({"names": ["Ada"], **more} for more in ({"role": "x"}, {"new_tokens": "yes"}, {"expires_in_days": 0})),
    ]

    assert [operator.post("/accounts/class", body).status_code for body in bad] == [422] * len(bad)
    for role in ("owner", "organiser"):
        assert service.person(role).post("/accounts/class", {"names": ["Ada"]}).status_code == 403
    assert service.anonymous().post(f"{API}/accounts/class", json={"names": ["Ada"]}).status_code == 401
    assert [member["is_new"] for member in create(operator, ["Ada"])] == [True]


@pytest.fixture(scope="module")
def access(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """Return the options that select a running service, and the token of its operator."""
    with api_in_thread(tmp_path_factory.mktemp("class")) as (url, world):
        with world.database.write() as session:
            operator = accounts.create_account(session, "Teacher", "admin")
            _, text = accounts.create_token(session, operator.id, "first")
        yield ["--url", url, "--token", text]


def run(access: list[str], file: Path, *arguments: str, status: int = 0) -> tuple[str, str]:
    """Run the command, and return what it wrote to standard output and to standard error."""
    done = says({}, "admin", "class", str(file), *arguments, *access, status=status)
    return done.stdout, done.stderr


def listed(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    file = folder / "names.txt"
    file.write_text(text, encoding=encoding)
    return file


def test_names_become_accounts_with_tokens_in_a_file_that_only_the_teacher_reads(
    access: list[str], tmp_path: Path
) -> None:
    names = listed(tmp_path, "# class 9b\nAda Files\n\n  Çiğdem F  \r\n", "utf-8-sig")
    out = tmp_path / "tokens.csv"

    said, notes = run(access, names, "--out", str(out), "--service-url", "http://10.20.0.1:8000/")

    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    assert [(row["name"], row["state"], row["service"]) for row in rows] == [
        ("Ada Files", "created", "http://10.20.0.1:8000"),
        ("Çiğdem F", "created", "http://10.20.0.1:8000"),
    ]
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    for row in rows:
        assert row["token"].startswith("ref_")
        assert row["token"] not in said + notes
        me = CliRunner().invoke(main, ["whoami", *access[:2], "--token", row["token"]])
        assert me.stdout.startswith(f"{row['name']} (")
    assert "hand each student only their own" in notes
    assert "this machine only" not in notes


def test_without_a_file_the_tokens_are_printed_once_and_a_second_run_has_none(
    access: list[str], tmp_path: Path
) -> None:
    names = listed(tmp_path, "Bob Printed\n")

    first, notes = run(access, names)
    second, _ = run(access, names)
    third, _ = run(access, names, "--new-tokens", "--json")

    (created,) = csv.DictReader(io.StringIO(first))
    (exists,) = csv.DictReader(io.StringIO(second))
    (member,) = json.loads(third)["items"]
    assert (created["state"], exists["state"], exists["token"]) == ("created", "exists", "")
    assert (member["is_new"], member["token"]["token"] != created["token"]) == (False, True)
    assert "http://127.0.0.1" in notes.split(" is an address of this machine only")[0]
    _, refused = run([*access[:3], member["token"]["token"]], listed(tmp_path, "Another Student\n"), status=1)
    assert "needs a token with the scope `all`" in refused


def test_bad_lines_are_named_by_their_numbers_and_nothing_is_created(access: list[str], tmp_path: Path) -> None:
    names = listed(tmp_path, "# names\nEve Lines\n\nX\neve lines\nMallory/\nTeacher\n")
    out = tmp_path / "tokens.csv"

    _, said = run(access, names, "--out", str(out), status=1)
    left = CliRunner().invoke(main, ["admin", "class", str(listed(tmp_path, "Eve Lines\n")), "--json", *access])

    assert f"{names}, line 4: 'X' must have 2 to 32 characters" in said
    assert f"{names}, line 5: 'eve lines' is the same as 'Eve Lines' or looks the same; write each name once" in said
    assert f"{names}, line 6: 'Mallory/' may contain only letters" in said
    assert f"{names}, line 7: 'Teacher' is an account with the role admin; choose another name" in said
    assert "Nothing was created. Correct these lines and run the command again." in said
    assert not out.exists()
    assert json.loads(left.stdout)["items"][0]["is_new"]


@pytest.mark.parametrize(("text", "encoding", "said"), [
    ("", "utf-8", "has no names"),
    ("# only this\n", "utf-8", "has no names"),
    ("Ren\u00e9\n", "latin-1", "is not UTF-8 text"),
    ("\n".join(f"Student {number}" for number in range(201)), "utf-8", "has 201 names"),
])  # fmt: skip
def test_files_that_are_no_lists_are_refused(
    access: list[str], tmp_path: Path, text: str, encoding: str, said: str
) -> None:
    assert said in run(access, listed(tmp_path, text, encoding), status=2)[1]


def test_a_file_with_tokens_is_never_overwritten(access: list[str], tmp_path: Path) -> None:
    (tmp_path / "old").write_text("tokens")

    _, said = run(access, listed(tmp_path, "Grace Kept\n"), "--out", str(tmp_path / "old"), status=2)
    _, nowhere = run(access, listed(tmp_path, "Grace Kept\n"), "--out", str(tmp_path / "no" / "file"), status=2)

    assert "exists already, and tokens in it would be lost" in said
    assert "is not a folder" in nowhere
    assert (tmp_path / "old").read_text() == "tokens"
