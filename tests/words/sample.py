"""Print sentences at random, for a reader who did not write them: docstrings and comments, then texts that users read.

The commit's hash seeds the choice, so that anybody draws the same: ``python -m tests.words.sample [HOW_MANY] [SEED]``.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from random import Random
from typing import Final

from tests.words import ROOT, Function, files, is_product

FEWEST_WORDS: Final = 4  # fewer are labels, not sentences
SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\[])")
FOR_USERS: Final = (
    "click.ClickException",
    "click.UsageError",
    "click.BadParameter",
    "click.echo",
    "Conflict",
    "Invalid",
)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    seed = sys.argv[2] if len(sys.argv) > 2 else _commit()
    dice = Random(seed)
    texts = {"Docstrings and comments": list(for_engineers()), "Texts for users": list(for_users())}
    for title, found in texts.items():
        print(f"\n{title}: {count} of {len(found)}, seed {seed}\n")
        for number, (where, text) in enumerate(sorted(dice.sample(found, count)), 1):
            print(f"{number:3} {where}\n    {' '.join(text.split())}")


def _commit() -> str:
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    return head.stdout.strip()


def for_engineers() -> Iterator[tuple[str, str]]:
    """Yield place and text of each docstring and each run of comment lines in what people install or run."""
    for path in filter(_is_python, files()):
        text = (ROOT / path).read_text()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Module | ast.ClassDef | Function) and (docstring := ast.get_docstring(node)):
                yield f"{path}:{node.body[0].lineno}", docstring
        comments = re.compile(r"(?:^[ ]*# .+\n)+", re.MULTILINE)
        for match in comments.finditer(text):
            if "# -- " in match.group():  # the title of a section
                continue
            yield f"{path}:{text.count(chr(10), 0, match.start()) + 1}", match.group().replace("# ", "")


def for_users() -> Iterator[tuple[str, str]]:
    """Yield place and text of each sentence of the documents, templates, command help and errors."""
    for path in files():
        if path.endswith(".md") and not path.startswith(("CHANGELOG", "tests/")):
            yield from _sentences(path, re.sub(r"```.*?```|<!--.*?-->", "", (ROOT / path).read_text(), flags=re.DOTALL))
        elif path.endswith(".html"):
            plain = re.sub(r"\{[{%#].*?[}%#]\}|<script.*?</script>", " ", (ROOT / path).read_text(), flags=re.DOTALL)
            yield from _sentences(path, unescape(re.sub(r"<[^>]+>", "\n\n", plain)))
        elif _is_python(path):
            yield from _messages(path)


def _messages(path: str) -> Iterator[tuple[str, str]]:
    """Yield what commands print and raise, their help, and the descriptions of the API."""
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if not isinstance(node, ast.Call):
            continue
        strings = [keyword.value for keyword in node.keywords if keyword.arg in ("help", "description")]
        if ast.unparse(node.func) in FOR_USERS:
            strings += node.args
        for string in strings:
            if isinstance(string, ast.Constant | ast.JoinedStr) and _is_sentence(text := ast.unparse(string)):
                yield f"{path}:{string.lineno}", text


def _sentences(path: str, text: str) -> Iterator[tuple[str, str]]:
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*[-|#\d])", text):
        for sentence in SENTENCE_END.split(paragraph.strip()):
            if _is_sentence(sentence) and not sentence.startswith(("|", "#")):
                yield path, sentence


def _is_sentence(text: str) -> bool:
    return len(text.split()) >= FEWEST_WORDS


def _is_python(path: str) -> bool:
    return path.endswith(".py") and is_product(path) and Path(path).parts[0] != "tools"


if __name__ == "__main__":
    main()
