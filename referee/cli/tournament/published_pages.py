"""Render the pages of a published tournament: its overview, its rounds and its crosstable. ``publish`` writes them."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Final

from referee.games import game_title
from referee.match.canonical import Json
from referee.tournaments.states import TournamentState
from referee.viewer import HEAD
from referee.viewer.folder_page import POLICY

PAGE: Final = (
    HEAD
    + """<link rel="stylesheet" href="viewer.css">
<link rel="stylesheet" href="pages.css">
</head>
<body>
<main class="page">
<header>{top}<h1><bdi>{heading}</bdi></h1></header>
{content}
</main>
</body>
</html>
"""
)
Table = tuple[Sequence[tuple[str, bool]], Iterable[Sequence[str]]]  # headings, and whether they are of numbers; rows


def render_page(name: str, heading: str, content: str, *, back: bool = True) -> str:
    """Return a page of the tournament ``name`` with this HTML as its content, and a link to the overview."""
    title = name if heading == name else f"{heading}, {name}"
    top = f'<p><a href="index.html"><bdi>{escape(name)}</bdi></a></p>' if back else ""
    policy = escape(POLICY, quote=True)
    return PAGE.format(policy=policy, title=escape(title), top=top, heading=escape(heading), content=content)


def render_table(caption: str, table: Table, *, kind: str = "") -> str:
    """Return a table as HTML. The first column of each row that is not a number is its heading."""
    headings, rows = table
    head = "".join(f'<th scope="col"{_number(numeric)}>{escape(text)}</th>' for text, numeric in headings)
    lines = []
    for row in rows:
        named = next((index for index, (_, numeric) in enumerate(headings) if not numeric), 0)
        cells = [
            f'<th scope="row"{_number(numeric)}>{cell}</th>' if index == named else f"<td{_number(numeric)}>{cell}</td>"
            for index, (cell, (_, numeric)) in enumerate(zip(row, headings, strict=True))
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    body = "\n".join(lines)
    frame = f'<div class="table" role="region" tabindex="0" aria-label="{escape(caption)}">'
    return (
        f'{frame}<table class="{kind}"><caption class="unseen">{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def render_overview(tournament: Json, rows: Sequence[Json], parts: Sequence[tuple[str, str]], taken_at: str) -> str:
    """Return the front page: what was played, the standings, and links to ``parts``: file name and text."""
    name = tournament["name"]
    is_final = tournament["status"] == TournamentState.FINISHED
    links = "".join(f'<li><a href="{escape(file)}">{escape(text)}</a></li>' for file, text in parts)
    said = tournament.get("description")
    content = [
        ""
        if is_final
        else f'<p class="notice">The tournament is {escape(tournament["status"])}. {_as_of(taken_at)}</p>',
        _facts(tournament),
        f'<div class="said">{escape(said)}</div>' if said else "",
        f"<h2>{'Final standings' if is_final else 'Standings so far'}</h2>",
        render_table("Standings, best first", _standings(rows)) if rows else "<p>No bots are entered.</p>",
        f"<h2>Rounds, matches and files</h2><ul>{links}</ul>",
        "<p>The files and their SHA-256 digests are listed in <code>SHA256SUMS</code>; check them with "
        "<code>sha256sum -c SHA256SUMS</code>. A log is checked with <code>referee verify</code>.</p>",
        f'<p class="quiet">{_as_of(taken_at)}</p>',
    ]
    return render_page(name, name, "\n".join(filter(None, content)), back=False)


def render_round(
    name: str, heading: str, matches: Sequence[Sequence[Json]], byes: Sequence[str], logs: set[str]
) -> str:
    """Return the page of a round: ``matches`` are lists of rows of results.csv, one for each seat."""
    rows = [_match_cells(seats, logs) for seats in matches]
    headings = [("Table", False), ("Result", False), ("State", False), ("Ended (UTC)", False), ("Log", False)]
    content = render_table(heading, (headings, rows)) if rows else "<p>No matches have ended.</p>"
    resting = ", ".join(f"<bdi>{escape(bot)}</bdi>" for bot in byes)
    return render_page(name, heading, content + (f"<p>Bye: {resting}</p>" if byes else ""))


def render_crosstable(name: str, rows: Sequence[Json]) -> str:
    """Return the crosstable: points of each bot against each other, as in 1.5/2."""
    headings = [("No.", True), ("Bot", False), *((str(number), True) for number in range(1, len(rows) + 1))]
    lines = []
    for number, row in enumerate(rows, 1):
        met = {item["bot"]: f"{item['points']:g}/{item['matches']}" for item in row["opponents"]}
        cells = ["·" if other is row else met.get(other["bot"], "–") for other in rows]
        lines.append([str(number), f"<bdi>{escape(row['name'])}</bdi>", *cells])
    text = "<p>1.5/2 means 1.5 points from two matches at the same table. Columns are numbered like the rows.</p>"
    return render_page(name, "Crosstable", text + render_table("Crosstable", (headings, lines), kind="cross"))


def _match_cells(seats: Sequence[Json], logs: set[str]) -> list[str]:
    first = seats[0]
    table = f"{first['table']}" + (f", leg {first['leg']}" if first["leg"] not in ("", "1") else "")
    match = first["match"]
    has_log = match in logs
    placed = sorted(seats, key=lambda seat: (int(seat["placement"]), int(seat["seat"])))
    result = ", ".join(f"{seat['placement']}. <bdi>{escape(seat['name'])}</bdi>" for seat in placed)
    state = escape(first["status"] + (f": {first['reason']}" if first["reason"] else ""))
    return [
        f'<a href="matches/{match}.html">{escape(table)}</a>' if has_log else escape(table),
        result,
        state,
        escape(first["finished_at"][:16].replace("T", " ")),
        f'<a href="logs/{match}.ndjson">log</a>' if has_log else "not public",
    ]


def _standings(rows: Sequence[Json]) -> Table:
    names = [rule["name"] for rule in rows[0]["tie_breaks"] if rule["name"] != "points"]
    texts = [name.replace("_", " ").capitalize() for name in names]
    headings = [("Rank", True), ("Bot", False), ("Owner", False), ("Matches", True), ("Points", True)]
    return [*headings, *((text, True) for text in texts)], [_standings_cells(row, names) for row in rows]


def _standings_cells(row: Json, names: Sequence[str]) -> list[str]:
    values: Mapping[str, float | None] = {rule["name"]: rule["value"] for rule in row["tie_breaks"]}
    marks = [f"disqualified: {row['disqualification']}"] if row["disqualification"] else []
    marks += ["withdrawn"] if row["withdrawn"] and not marks else []
    name = f"<bdi>{escape(row['name'])}</bdi>" + (f' <span class="quiet">{escape(marks[0])}</span>' if marks else "")
    cells = [str(row["rank"]), name, f"<bdi>{escape(row['owner_name'])}</bdi>", str(row["matches"])]
    return [*cells, f"{row['points']:g}", *(_value(name, values[name]) for name in names)]


def _value(name: str, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value / 1_000_000:.0f}" if name == "rating" else f"{value:.3f}".rstrip("0").rstrip(".")


def _facts(tournament: Json) -> str:
    facts = [
        ("Game", f"{game_title(tournament['game'])}, {tournament['seats']} seats per table"),
        ("Format", tournament["format"].replace("_", " ")),
        ("Rated", "yes" if tournament["rated"] else "no"),
        ("Organisers", ", ".join(item["name"] for item in tournament["organisers"])),
        ("Started", _utc(tournament["started_at"])),
        ("Ended", _utc(tournament["finished_at"])),
        *((title, tournament.get(field) or "") for title, field in (("Prizes", "prizes"), ("Contact", "contact"))),
        ("Draw", tournament["draw"] or ""),
    ]
    shown = "".join(f"<dt>{title}</dt><dd><bdi>{escape(text)}</bdi></dd>" for title, text in facts if text)
    return f'<dl class="facts">{shown}</dl>'


def _utc(moment: str | None) -> str:
    return f"{moment[:16].replace('T', ' ')} UTC" if moment else ""


def _as_of(moment: str) -> str:
    return f"These pages were written at {moment}."


def _number(numeric: bool) -> str:
    return ' class="number"' if numeric else ""
