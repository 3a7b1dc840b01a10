"""Count words that ``banned.toml`` bans, by file. Comparing the counts with the allow-list is left to ``allowed``."""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

ROOT: Final = Path(__file__).parents[2]
Offences = dict[str, dict[int, None]]  # by word: the lines it stands in, in order
PROSE: Final = (".md", ".html", ".js", ".mjs", ".yaml", ".yml", ".toml", ".example", "Makefile", "Dockerfile")
GENERATED: Final = ("openapi.yaml", ".min.js")
HELPERS: Final = ("tests", "docs", "examples")  # folders whose identifiers are not judged, only their prose
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
WORD: Final = re.compile(r"\w+")
BREAK: Final = r"\s+(?:[#*/]+\s+)?"  # between two words of a phrase: maybe the end of a line of a comment


@dataclass(frozen=True, slots=True)
class Offence:
    """One banned word in one line. ``kind`` and ``word`` name it in the allow-list."""

    path: str
    line: int
    kind: str
    word: str
    instead: str

    @property
    def key(self) -> tuple[str, str]:
        return self.path, f"{self.kind}: {self.word}"


@cache
def banned() -> dict[str, dict[str, Any]]:
    return tomllib.loads((Path(__file__).parent / "banned.toml").read_text())


@cache
def phrases() -> dict[str, list[tuple[str, frozenset[str], re.Pattern[str], str]]]:
    """Return each banned phrase, its words, the pattern that finds it in lower-case text, and what replaces it.

    They are listed by their longest word.
    """
    listed = defaultdict(list)
    for phrase, use in banned()["phrases"].items():
        words = WORD.findall(phrase)
        listed[max(words, key=len)].append((phrase, frozenset(words), _pattern(phrase), use))
    return listed


def _pattern(phrase: str) -> re.Pattern[str]:
    return re.compile(r"(?<![\w-])" + BREAK.join(map(re.escape, phrase.split())) + r"(?![\w-])")


def files(root: Path = ROOT) -> list[str]:
    """Return the files to read, relative to ``root``: tracked or new, no links, nothing generated or vendored."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, capture_output=True, text=True, check=True
    )
    found = sorted(set(filter(None, listed.stdout.split("\0"))))
    own = Path(__file__).parent.relative_to(ROOT).parts
    return [path for path in found if _is_ours(root, Path(path), own)]


def _is_ours(root: Path, path: Path, own: tuple[str, ...]) -> bool:
    if path.parts[: len(own)] == own or path.name in ("test_words.py", "requirements.lock"):
        return False
    if path.name.endswith(GENERATED) or {"vendor", "swagger-ui", "versions", "fill"}.intersection(path.parts):
        return False
    return (root / path).is_file() and not (root / path).is_symlink() and path.name.endswith((".py", *PROSE))


def offences(root: Path = ROOT, paths: list[str] | None = None) -> list[Offence]:
    """Return every offence of the project, or of ``paths``, in order of path and line."""
    found: list[Offence] = []
    classes: list[tuple[str, str, int]] = []
    chosen = files(root) if paths is None else paths
    for path in chosen:
        text = (root / path).read_text()
        found += names_of_file(path)
        if path.endswith(".py"):
            nodes = list(ast.walk(ast.parse(text)))
            product = is_product(path)
            found += in_python(path, text, nodes, product=product)
            if product:
                classes += [(node.name, path, node.lineno) for node in nodes if isinstance(node, ast.ClassDef)]
        else:
            found += in_prose(path, 1, text)
    found += repeated(classes)
    found += moods(root, [path for path in chosen if path.endswith(".py") and is_product(path)])
    return sorted(found, key=lambda offence: (offence.path, offence.line, offence.kind, offence.word))


def counts(found: list[Offence]) -> dict[tuple[str, str], int]:
    return dict(sorted(Counter(offence.key for offence in found).items()))


def is_product(path: str) -> bool:
    """Return whether identifiers of this file are judged: it is in a package that people install or run."""
    return Path(path).parts[0] not in HELPERS and (ROOT / Path(path).parts[0] / "__init__.py").exists()


# -- identifiers


def names_of_file(path: str) -> Iterator[Offence]:
    place = Path(path)
    words = banned()["modules" if place.suffix == ".py" else "scripts"]
    if place.suffix not in (".py", ".js") or place.parts[0] in HELPERS:
        return
    name = place.parent.name if place.name == "__init__.py" else place.stem
    if name in words:
        yield Offence(path, 1, "module", name, words[name])


def in_python(path: str, text: str, nodes: list[ast.AST], *, product: bool) -> Iterator[Offence]:
    docstrings: set[ast.Constant] = set()
    strings: list[ast.Constant] = []
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            strings.append(node)
        elif isinstance(node, ast.Module | ast.ClassDef | Function) and node.body:
            match node.body[0]:
                case ast.Expr(value=ast.Constant(value=str()) as docstring):
                    docstrings.add(docstring)
        if product:
            yield from identifiers(path, node)
    for docstring in docstrings:
        yield from first_word(path, docstring)
    for string in strings:
        if product and string not in docstrings:
            yield from listed(path, string.lineno, "string", str(string.value), banned()["strings"])
        if string in docstrings or " " in str(string.value):
            yield from in_prose(path, string.lineno, str(string.value))
    yield from in_comments(path, text, strings)


def identifiers(path: str, node: ast.AST) -> Iterator[Offence]:
    match node:
        case ast.ClassDef():
            yield from listed(path, node.lineno, "class", node.name.lstrip("_"), banned()["classes"])
            yield from columns(path, node)
            for method in node.body:
                if isinstance(method, Function):
                    yield from listed(path, method.lineno, "method", method.name, banned()["methods"])
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from function(path, node)
        case ast.For() | ast.AsyncFor() | ast.comprehension():
            for name in ast.walk(node.target):
                if isinstance(name, ast.Name):
                    yield from listed(path, name.lineno, "variable", name.id, banned()["variables"])


def listed(path: str, line: int, kind: str, word: str, words: dict[str, str]) -> Iterator[Offence]:
    if word in words:
        yield Offence(path, line, kind, word, words[word])


def columns(path: str, node: ast.ClassDef) -> Iterator[Offence]:
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            annotation = statement.annotation
            if isinstance(annotation, ast.Subscript) and getattr(annotation.value, "id", "") == "Mapped":
                yield from listed(path, statement.lineno, "column", statement.target.id, banned()["columns"])


def function(path: str, node: Function) -> Iterator[Offence]:
    """Judge the name of a function: one bare participle or preposition does not say what is done to what."""
    words, name = banned()["functions"], node.name.strip("_")
    if any("property" in ast.unparse(decorator) for decorator in node.decorator_list) or node.name.startswith("__"):
        return
    if name in words["participles"] or (
        name.endswith("ed") and "_" not in name and name not in words["not_participles"]
    ):
        yield Offence(path, node.lineno, "function", name, words["bare_participles"])
    elif name in words["prepositions"]:
        yield Offence(path, node.lineno, "function", name, words["bare_prepositions"])


def repeated(classes: list[tuple[str, str, int]]) -> Iterator[Offence]:
    """Yield classes that share a name. The SDK's views of a game and marshmallow's Meta are named by others."""
    own = [entry for entry in classes if entry[0] != "Meta" and "sdk" not in Path(entry[1]).parts]
    count = Counter(name for name, _, _ in own)
    for name, path, line in own:
        if count[name] > 1:
            yield Offence(path, line, "class defined twice", name, "a name that says of what")


# -- prose


def in_comments(path: str, text: str, strings: list[ast.Constant]) -> Iterator[Offence]:
    """Read runs of comment lines as one text, since a phrase may go over the end of a line."""
    spans = {line: node for node in strings for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    block: list[str] = []
    start = 0
    for number, line in enumerate([*text.split("\n"), ""], 1):
        comment = _comment(line, number, spans) if "#" in line else None
        if block and (comment is None or not line.lstrip().startswith("#")):
            yield from in_prose(path, start, "\n".join(block))
            block = []
        if comment is not None:
            start = start if block else number
            block.append(comment)


def _comment(line: str, number: int, spans: dict[int, ast.Constant]) -> str | None:
    node = spans.get(number)
    begin = line.rfind(" # ") if node else line.find("#")
    if line.lstrip().startswith("#") and (node is None or node.lineno == number):
        return line.lstrip()[1:]
    inside = node is not None and node.lineno < number < (node.end_lineno or number)
    return None if begin < 0 or inside else line[begin + 2 :]


def in_prose(path: str, line: int, text: str) -> Iterator[Offence]:
    lower = text.lower()
    words = set(WORD.findall(lower))
    for word in words & phrases().keys():
        for phrase, parts, pattern, use in phrases()[word]:
            for match in pattern.finditer(lower) if parts <= words else ():
                yield Offence(path, line + lower.count("\n", 0, match.start()), "phrase", phrase, use)


def first_word(path: str, node: ast.Constant) -> Iterator[Offence]:
    word = re.match(r"\w*", str(node.value))
    yield from listed(path, node.lineno, "docstring begins", word.group() if word else "", banned()["first_words"])


def moods(root: Path, paths: list[str]) -> Iterator[Offence]:
    """Yield docstrings of functions that do not begin with an imperative, as ruff's D401 judges them."""
    if not paths:
        return
    ruff = [str(Path(sys.executable).with_name("ruff")), "check", "--isolated", "--no-cache", "--exit-zero"]
    rules = ["--select", "D401", "--ignore-noqa", "--output-format", "json"]
    ran = subprocess.run([*ruff, *rules, *paths], cwd=root, capture_output=True, check=True)
    for found in json.loads(ran.stdout):
        path = os.path.relpath(found["filename"], root)
        yield Offence(path, found["location"]["row"], "docstring", "not imperative", 'a verb: "Return …", "Refuse …"')
