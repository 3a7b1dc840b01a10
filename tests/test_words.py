"""No banned word is added, and none that goes is left in the allow-list. What is banned stands in words/banned.toml."""

from functools import cache
from pathlib import Path

import pytest

from tests.words import Offence, counts, files, offences
from tests.words.__main__ import describe
from tests.words.allowed import COMMAND, LIST, dump, raised, read


@cache
def found() -> list[Offence]:
    return offences()


def words_of(tmp_path: Path, path: str, text: str) -> list[tuple[int, str]]:
    """Return line and word of each offence in ``text``, were it the file ``path``."""
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text(text)
    return [(offence.line, offence.key[1]) for offence in offences(tmp_path, [path])]


def test_no_file_has_more_banned_words_than_it_is_allowed() -> None:
    allowed, now = read(LIST.read_text()), counts(found())
    over = {key for key, count in now.items() if count > allowed.get(key, 0)}

    offending = [offence for offence in found() if offence.key in over]

    assert not over, f"banned words (of these places at least one is new):\n{describe(offending)}"


def test_the_list_allows_no_more_than_stands_in_the_code() -> None:
    allowed, now = read(LIST.read_text()), counts(found())

    gone = [f"{path} | {word}" for (path, word), count in sorted(allowed.items()) if count > now.get((path, word), 0)]

    assert not gone, f"fewer banned words than allowed: run `{COMMAND}` to lower the list\n" + "\n".join(gone)


def test_the_list_is_sorted_with_one_line_for_a_file_and_word() -> None:
    text, paths = LIST.read_text(), files()

    assert text == dump(read(text)), f"run `{COMMAND}`"
    assert "README.md" in paths
    assert not [path for path in paths if path.endswith((".min.js", "openapi.yaml")) or path.startswith("tests/words/")]


def test_identifiers_of_every_kind_are_found(tmp_path: Path) -> None:
    code = '''\
class Holder:
    sour_matches: Mapped[int]
    planned: int

    def shown(self, seats):
        for one in seats:
            yield {"news": one}

    @property
    def ended(self): ...

    def _of(self):
        """Gives the limit."""

    def feed(self):
        """Return the size."""
'''

    assert words_of(tmp_path, "workers/holding.py", code) == [
        (1, "class: Holder"),
        (1, "module: holding"),
        (2, "column: sour_matches"),
        (5, "function: shown"),
        (6, "variable: one"),
        (7, "string: news"),
        (12, "function: of"),
        (13, "docstring: not imperative"),
        (13, "docstring begins: Gives"),
    ]
    assert words_of(tmp_path, "tests/holding.py", "def shown(): ...\n") == []


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("workers/a.py", '"""A bot.\n\nIt is\ntold the end.\n"""\n', 3),
        ("workers/a.py", "x = 1  # it is told the end\n", 1),
        ("workers/a.py", "x = 1\n# it is\n# told the end\n", 2),
        ("workers/a.py", 'x = f"bot {1} is told the end"\n', 1),
        ("docs/a.md", "# Title\n\nIt Is\nTold the end.\n", 3),
        ("api/templates/a.html", "<p>It is told</p>\n", 1),
        ("api/static/a.js", "// it is\n// told\n", 1),
        ("Makefile", "# it is told\n", 1),
    ],
)
def test_phrases_are_found_in_prose_of_every_kind(tmp_path: Path, path: str, text: str, line: int) -> None:
    assert words_of(tmp_path, path, text) == [(line, "phrase: is told")]


@pytest.mark.parametrize("text", ['x = "#his"\n', "his = 1\n", "x = this\n", 'x = "a-his b"\n', 'x = """a\n# b\n"""\n'])
def test_parts_of_words_and_code_are_no_prose(tmp_path: Path, text: str) -> None:
    assert words_of(tmp_path, "workers/a.py", text) == []


def test_a_class_name_stands_once_unless_others_chose_it(tmp_path: Path) -> None:
    (tmp_path / "api").mkdir()
    (tmp_path / "referee_extras/sdk").mkdir(parents=True)
    (tmp_path / "api/a.py").write_text("class Deal:\n    class Meta: ...\n\n\nclass Plan: ...\n")
    (tmp_path / "api/b.py").write_text("class Deal:\n    class Meta: ...\n")
    (tmp_path / "referee_extras/sdk/c.py").write_text("class Plan: ...\n")

    repeated = offences(tmp_path, ["api/a.py", "api/b.py", "referee_extras/sdk/c.py"])

    assert [(each.path, each.word) for each in repeated] == [("api/a.py", "Deal"), ("api/b.py", "Deal")]


@pytest.mark.parametrize(
    ("before", "after", "grown"),
    [
        ({("a.py", "w"): 2}, {("a.py", "w"): 1}, []),
        ({("a.py", "w"): 2}, {("a.py", "w"): 3}, [("a.py", "w")]),
        ({("a.py", "w"): 2}, {("a.py", "w"): 2, ("b.py", "w"): 1}, [("b.py", "w")]),
        ({("a.py", "w"): 2}, {("b.py", "w"): 2}, []),  # the file has moved
        ({("a.py", "w"): 2, ("b.py", "w"): 1}, {("a.py", "w"): 1, ("b.py", "w"): 2}, [("b.py", "w")]),
    ],
)
def test_the_list_never_grows_but_words_may_move_with_their_file(
    before: dict[tuple[str, str], int], after: dict[tuple[str, str], int], grown: list[tuple[str, str]]
) -> None:
    assert raised(before, after) == grown


def test_a_list_left_by_a_merge_can_be_read() -> None:
    lines = ['"a.py | w" = 2', "<<<<<<< ours", '"a.py | w" = 1', "=======", '"b.py | w" = 3', ">>>>>>> theirs"]

    assert read("\n".join(lines)) == {("a.py", "w"): 2, ("b.py", "w"): 3}
