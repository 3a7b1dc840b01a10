"""No page tells readers to install this project by its name: no package index has it, and anybody could register one.

Pages, starter bots, templates and comments may install a path of a checkout, or a package that the lock files pin.
"""

import re
import shlex
from pathlib import Path

from tests.words import files

ROOT = Path(__file__).parents[1]
SUFFIXES = {".md", ".py", ".toml", ".txt", ".html", ".yaml", ".yml", ".js", ".mjs", ".go", ".sh", ".cfg", ""}
COMMAND = re.compile(
    r"\b(?P<tool>(?:uv +)?pip3? +install|pipx +(?:install|run)|uv +(?:add|tool +install)|uvx|npm +(?:install|i|add)|npx"
    r"|yarn +add|pnpm +add|go +(?:install|get)|cargo +install|conda +install|brew +install)\b(?P<rest>[^\n`|;&#]*)"
)
WITH_VALUE = {"-r", "--requirement", "-c", "--constraint", "-e", "--editable", "-i", "--index-url", "--target"}


def pinned() -> set[str]:
    """Return the names of the packages in the lock files."""
    lines = "\n".join((ROOT / name).read_text() for name in ("requirements.lock", "requirements-dev.lock")).splitlines()
    return {re.split(r"[=;<>\[ ]", line)[0].lower().replace("_", "-") for line in lines if line and line[0].isalnum()}


def strangers(text: str) -> list[str]:
    """Return the names in commands of ``text`` that install a package from an index although no lock file pins it."""
    found = []
    for command in COMMAND.finditer(text):
        words = iter(split(command["rest"]))
        for word in words:
            if word in WITH_VALUE:
                next(words, None)
            elif not is_path(word) and not word.startswith("-"):
                name = re.split(r"[=;<>~!\[@]", word)[0].lower().replace("_", "-")
                if "pip" not in command["tool"] or name not in pinned():
                    found.append(f"{command['tool']} {word}")
    return found


def split(rest: str) -> list[str]:
    try:
        return shlex.split(rest)
    except ValueError:  # prose with an apostrophe
        return rest.split()


def is_path(word: str) -> bool:
    return word.startswith((".", "/", "~", "$", "{")) or word in ("\\", ")", "…")


def test_no_file_installs_a_package_that_is_not_ours_by_its_name() -> None:
    paths = [path for path in files() if Path(path).suffix in SUFFIXES and not path.startswith("tests/")]
    texts = {path: (ROOT / path).read_text(errors="replace") for path in paths}

    found = {path: strangers(text) for path, text in texts.items()}

    assert {"README.md", "docs/learning.md", "docs/sdk.md", "bots/python/bot.py"} <= texts.keys()
    assert {path: names for path, names in found.items() if names} == {}


def test_names_in_commands_are_found_and_paths_and_pins_are_not() -> None:
    text = """pip install 'referee[rl]'
        `python -m pip install -r more.txt --upgrade referee==1`, uvx referee play
        npm install referee-bot
        pip install '.[rl]'     # from a checkout
        pip install --no-deps -r requirements.lock
        pip install NumPy==2.4.6"""

    found = strangers(text)

    assert found[:2] == ["pip install referee[rl]", "pip install referee==1"]
    assert found[2:] == ["uvx referee", "uvx play", "npm install referee-bot"]
