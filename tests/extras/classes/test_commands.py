"""`referee admin class` against a running service: lines, files and cards."""

import csv
import io
import json
import stat
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from referee.accounts import accounts
from referee.cli import main
from referee_extras.classes.cards import Card, render_cards
from tests.api.in_thread import api_in_thread
from tests.cli.running import says


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


def test_names_become_accounts_with_tokens_in_files_that_only_the_teacher_reads(
    access: list[str], tmp_path: Path
) -> None:
    names = listed(tmp_path, "# class 9b\nAda Files\n\n  Çiğdem F  \r\n", "utf-8-sig")
    out, cards = tmp_path / "tokens.csv", tmp_path / "cards.html"

    said, notes = run(
        access, names, "--out", str(out), "--cards", str(cards), "--service-url", "http://10.20.0.1:8000/"
    )

    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    assert [(row["name"], row["state"], row["service"]) for row in rows] == [
        ("Ada Files", "created", "http://10.20.0.1:8000"),
        ("Çiğdem F", "created", "http://10.20.0.1:8000"),
    ]
    assert {stat.S_IMODE(file.stat().st_mode) for file in (out, cards)} == {0o600}
    for row in rows:
        assert row["token"].startswith("ref_")
        assert row["token"] not in said + notes
        assert row["token"] in cards.read_text()
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


@pytest.mark.parametrize("option", ["--out", "--cards"])
def test_a_file_with_tokens_is_never_overwritten(access: list[str], tmp_path: Path, option: str) -> None:
    (tmp_path / "old").write_text("tokens")

    _, said = run(access, listed(tmp_path, "Grace Kept\n"), option, str(tmp_path / "old"), status=2)
    _, nowhere = run(access, listed(tmp_path, "Grace Kept\n"), option, str(tmp_path / "no" / "file"), status=2)

    assert "exists already, and tokens in it would be lost" in said
    assert "is not a folder" in nowhere
    assert (tmp_path / "old").read_text() == "tokens"


def test_an_owner_may_not_create_a_class(access: list[str], tmp_path: Path) -> None:
    made, _ = run(access, listed(tmp_path, "Heidi Owner\n"))
    (row,) = csv.DictReader(io.StringIO(made))
    student = [*access[:3], row["token"]]

    _, said = run(student, listed(tmp_path, "Another Student\n"), status=1)

    assert "needs a token with the scope `all`" in said


class Texts(HTMLParser):
    """Collect the elements and the texts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_card_has_name_token_service_and_three_commands_and_loads_nothing() -> None:
    page = render_cards([Card("O'Brien & Söhne", "ref_abc", "http://10.20.0.1:8000"), Card("Bob", "ref_d", "http://x")])

    read = Texts()
    read.feed(page)
    assert read.tags.count("article") == 2
    assert {"script", "link", "img"} & set(read.tags) == set()
    assert "O'Brien & Söhne" in read.text
    assert "ref_abc" in read.text
    assert "referee login --url http://10.20.0.1:8000" in read.text
    assert "referee new-bot mybot" in read.text
    assert (
        'referee register http://ADDRESS:8000 --start mybot --name "O\'Brien & Söhne bot" '
        "--url http://10.20.0.1:8000" in read.text
    )
