"""Bundle the match viewer as one module for the site, or together with a match as an HTML file that opens from disk."""

import base64
import gzip
import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Final

from referee.errors import BadLog
from referee.games import catalogue, game_title
from referee.match.canonical import Json, dumps
from referee.match.log import parse_row
from referee.protocol.fault_advice import ADVICE
from referee.viewer.presentation import module_file, presentations, table_module

FOLDER: Final = Path(__file__).parent
ENTRY: Final = "standalone.js"
STYLES: Final = ("standalone.css", "viewer.css")
SHARED: Final = ("words.js",)  # served as modules of their own, which import nothing
CARD: Final = re.compile(r'"([2-9TJQKA][cdhs]|X[12])"')

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.\.?/[^"]+)";\n', re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?:/\*\*.*?\*/|//[^\n]*)\n", re.MULTILINE | re.DOTALL)  # of whole lines
_EXPORTED = re.compile(r"^export const (\w+)", re.MULTILINE)
_DECLARED = re.compile(r"^(?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)

HEAD: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
"""  # of every page that opens from disk
PAGE: Final = (
    HEAD
    + """<style>{style}</style>
</head>
<body>
<main>
<header><h1>{game}</h1> <p class="lead">{players} · match <bdi>{match}</bdi></p></header>
<div id="viewer"><noscript>This page needs JavaScript to show the match; it loads nothing.</noscript></div>
</main>
<script type="text/plain" id="packed">{packed}</script>
<script type="module">{script}</script>
</body>
</html>
"""
)


def render_standalone(lines: Sequence[bytes], *, questions: Mapping[int, Json] | None = None) -> str:
    """Return the text of an HTML file that shows the match of this log.

    ``questions`` has the questions to bots, keyed by row number. Raise ``BadLog`` if the lines are not a log. The page
    verifies the log when it is opened.
    """
    header = _header(lines)
    script, style = bundle(), styles()
    players = [html.escape(str(player["name"])) for player in header["players"]]
    return PAGE.format(
        policy=_policy(script, style),
        title=html.escape(f"{header['game']}, {header['match']}"),
        style=style,
        game=html.escape(game_title(str(header["game"]))),
        match=html.escape(str(header["match"])),
        players=", ".join(f"<bdi>{name}</bdi>" for name in players),
        packed=pack_match(lines, questions or {}),
        script=script,
    )


def styles() -> str:
    """Return the style sheet of a page with the viewer that needs no other."""
    return "".join((FOLDER / name).read_text() for name in STYLES)


def pack_match(lines: Sequence[bytes], questions: Mapping[int, Json]) -> str:
    """Return the data of a match that ``bundle`` shows, as gzipped JSON in base64. Raise ``BadLog`` for no log."""
    try:
        log = b"".join(line + b"\n" for line in lines).decode()
    except UnicodeDecodeError as error:
        raise BadLog(0, f"not UTF-8: {error}") from None
    asked = {str(row): question for row, question in questions.items()}
    content = {"log": log, "questions": asked, "faults": advice(), "cards": _cards(log)}
    return base64.b64encode(gzip.compress(dumps(content), 9, mtime=0)).decode()


def bundle() -> str:
    """Return all modules as one script that shows the match packed into its page."""
    order: dict[str, str] = {}
    _gather_module(ENTRY, order)
    taken: dict[str, str] = {}
    for module, source in order.items():
        for name in _DECLARED.findall(source):
            assert taken.setdefault(name, module) == module, f"{name} is declared in {taken[name]} and in {module}"
    return "\n".join(order.values()) + "\nopenPacked();\n"


def site_modules() -> dict[str, str]:
    """Return the module of each kind of page of the site, and one with the advice on all faults, by file name.

    Each contains the modules that the page needs, because browsers fetch one file faster than thirty. It imports the
    modules ``SHARED``, because the tables of the games import them too.
    """
    pages = {name: _gather_page(modules, exports) for name, (modules, exports) in SITE_PAGES.items()}
    return pages | {"advice.js": f"export const ADVICE = {json.dumps(advice(), ensure_ascii=False)};\n"}


def _gather_page(modules: Sequence[str], exports: Sequence[str]) -> str:
    order: dict[str, str] = {}
    shared: dict[str, set[str]] = {}
    for module in modules:
        _gather_module(module, order, shared)
    imports = [
        f'import {{ {", ".join(sorted(names))} }} from "./{module}";\n' for module, names in sorted(shared.items())
    ]
    return "".join(imports) + "\n".join(order.values()) + f"\nexport {{ {', '.join(exports)} }};\n"


def card_pictures() -> dict[str, str]:
    """Return the SVG pictures of all cards and of the card back, keyed by name."""
    return {path.stem: path.read_text().strip() for path in sorted((FOLDER / "cards").glob("*.svg"))}


def advice() -> dict[str, Json]:
    """Return the advice on each fault as plain text, keyed by fault code."""
    return {
        code: {name: _strip_markdown(text) for name, text in asdict(given).items()} for code, given in ADVICE.items()
    }


def _header(lines: Sequence[bytes]) -> Json:
    try:
        header = parse_row(lines[0])
        known = all(isinstance(header[name], str) for name in ("game", "match"))
        known = known and all(isinstance(player["name"], str) for player in header["players"])
    except (IndexError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise BadLog(0, f"not the header of a match log: {error!r}") from None
    if not known:
        raise BadLog(0, "the header must name the game, the match and the players")
    return header


def _gather_module(name: str, order: dict[str, str], shared: dict[str, set[str]] | None = None) -> None:
    """Add a module to ``order`` after the modules it imports, without what a browser does not need.

    Leave out imports, comments and ``export`` keywords. With ``shared``, leave out the modules ``SHARED``, too, and
    add to it the names that are imported from each.
    """
    if name in order:
        return
    source = GENERATED[name]() if name in GENERATED else module_file(name).read_text()
    for names, path in _IMPORT.findall(source):
        imported = normpath(join(dirname(name), path))
        if imported in SHARED and shared is not None:
            shared.setdefault(imported, set()).update(names.replace(",", " ").split())
        else:
            _gather_module(imported, order, shared)
    order[name] = re.sub(r"^export ", "", _COMMENT.sub("", _IMPORT.sub("", source)), flags=re.MULTILINE)


def _presentations() -> str:
    """Return the source of a module that contains the presentation of each game."""
    return f"export const ALL_PRESENTATIONS = {json.dumps(presentations(), ensure_ascii=False)};\n".replace(
        "</", "<\\/"
    )


def _tables() -> str:
    """Return the source of a module that contains the tables of all games, for pages that cannot fetch modules."""
    modules = [name for name in map(table_module, catalogue()) if name]
    tables = {name: _EXPORTED.findall(module_file(name).read_text())[0] for name in modules}
    imports = "".join(f'import {{ {table} }} from "./{name}";\n' for name, table in tables.items())
    return f"{imports}export const ALL_TABLES = [{', '.join(tables.values())}];\n"


SITE_PAGES: Final = {  # modules, and what the page's script imports
    "match_page.js": (
        ("viewer.js", "tables.js", "cards.js"),
        ("addPresentations", "fetchPictures", "fetchTable", "make", "mount"),
    ),
    "match_log.js": (("logfile.js", "checking.js"), ("checkLog", "readLog")),
    "show_page.js": (
        ("show.js", "logfile.js", "tables.js", "cards.js"),
        ("Show", "addPresentations", "fetchPictures", "fetchTable", "readLog"),
    ),
    "still_page.js": (("still.js",), ("drawStill",)),
    "log_page.js": (("open_log.js", "tables.js", "cards.js"), ("addPresentations", "fetchPictures", "openLog")),
}
GENERATED: Final = {"presentations.js": _presentations, "games.js": _tables}


def _cards(log: str) -> dict[str, str]:
    """Return the SVG pictures of the cards in this log and of the card back, keyed by name."""
    return {name: drawing for name, drawing in card_pictures().items() if name in {"back", *CARD.findall(log)}}


def _policy(script: str, style: str) -> str:
    """Return a content security policy that allows only the content of the page and no requests."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _strip_markdown(markdown: str) -> str:
    return markdown.replace("`", "").replace("*", "")
