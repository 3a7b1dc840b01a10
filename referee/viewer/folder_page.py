"""Write pages with the viewer that share its script and styles, for a folder that opens from disk or any web server."""

import html
from collections.abc import Sequence
from typing import Final

from referee.games import game_title
from referee.match.canonical import Json
from referee.viewer import FOLDER, HEAD, bundle, pack_match, styles

POLICY: Final = (
    "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src data:; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
PAGE: Final = (
    HEAD
    + """<link rel="stylesheet" href="../viewer.css">
</head>
<body>
<main>
<header><h1>{game}</h1> <p class="lead">{players} · {links}</p></header>
<div id="viewer"><noscript>This page needs JavaScript to show the match.</noscript></div>
</main>
<script type="text/plain" id="packed">{packed}</script>
<script defer src="../viewer.js"></script>
</body>
</html>
"""
)


def shared_files() -> dict[str, str]:
    """Return the script and the style sheets that the pages of a folder share, by file name.

    The script is no module, because browsers load no modules from disk.
    """
    script = bundle().replace("import.meta.url", "document.baseURI")
    return {
        "viewer.js": f'"use strict";\n(() => {{\n{script}}})();\n',
        "viewer.css": styles(),
        "pages.css": (FOLDER / "folder.css").read_text(),
    }


def render_match(lines: Sequence[bytes], header: Json, links: str) -> str:
    """Return the page of a match in a folder below ``shared_files``. ``links`` is HTML. Raise ``BadLog`` for no log."""
    names = [html.escape(str(player["name"])) for player in header["players"]]
    return PAGE.format(
        policy=html.escape(POLICY, quote=True),
        title=html.escape(f"{game_title(str(header['game']))}, {header['match']}"),
        game=html.escape(game_title(str(header["game"]))),
        players=", ".join(f"<bdi>{name}</bdi>" for name in names),
        links=links,
        packed=pack_match(lines, {}),
    )
