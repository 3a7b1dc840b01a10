"""Draw the bracket of a knockout as a tree: a column for each round, and lines from each table to the next one."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from markupsafe import Markup

from api.pages.charts.svg import tag
from api.pages.emblem import emblem
from api.tournaments import terms
from referee.figures import decimal

Json = dict[str, Any]
Key = tuple[int, int | str]  # the round, and the table or the id of the bot with a bye

MAX_TABLES: Final = 32  # in a column; rounds with more tables are only listed
NARROWEST, WIDEST, BETWEEN = 216, 340, 40  # widths of nodes, and between them
PAGE = 1116  # width for which nodes are made as wide as possible
ROW, SPACE, TOP = 25, 16, 34  # heights
LEFT, EMBLEM, SCORE = 30, 20, 40  # widths, inside a node, of seed, emblem and points


@dataclass(slots=True)
class BracketNode:
    """Represent a table, a bye or a future table, with its position in the drawing."""

    key: Key
    column: int
    rows: Sequence[Json]
    note: str = ""  # heading of the node; empty for a regular table
    width: int = NARROWEST
    top: float = 0.0
    sources: list["BracketNode"] = field(default_factory=list)

    @property
    def is_aside(self) -> bool:
        """Return whether this is the match for third place, which has the same sources as the final."""
        return self.note == terms.ROUNDS["third_place"]

    @property
    def height(self) -> float:
        return ROW * max(1, len(self.rows)) + (ROW if self.note else 0)

    @property
    def middle(self) -> float:
        return self.top + self.height / 2

    @property
    def left(self) -> float:
        return self.column * (self.width + BETWEEN)


def bracket_tree(bracket: Json, name: str) -> Markup:
    """Return a drawing of ``bracket``, which has the format of the API. Leave out rounds with too many tables."""
    rounds = [level for level in bracket["rounds"] if len(level["tables"]) <= MAX_TABLES]
    columns = _sort_columns([_nodes(level, column) for column, level in enumerate(rounds)])
    for nodes in columns:
        _set_positions(nodes)
    for level in bracket["to_come"]:
        if level["tables"] <= MAX_TABLES:
            columns.append(_nodes_to_come(len(columns), level, columns[-1] if columns else []))
    width = max(NARROWEST, min(WIDEST, (PAGE + BETWEEN) // max(1, len(columns)) - BETWEEN))
    for node in itertools.chain(*columns):
        node.width = width
    headings = [
        terms.round_name(level.get("tournament_round", 0), level["label"]) for level in [*rounds, *bracket["to_come"]]
    ]
    parts = [
        *(
            tag("text", text, x=column * (width + BETWEEN), y=16, class_="round-name")
            for column, text in enumerate(headings[-len(columns) :])
        ),
        *(_line(source, node) for nodes in columns for node in nodes if not node.is_aside for source in node.sources),
        *(_render_node(node) for nodes in columns for node in nodes),
    ]
    total = len(columns) * (width + BETWEEN) - BETWEEN + 2
    height = max((node.top + node.height for nodes in columns for node in nodes), default=TOP) + 2
    return tag(
        "svg",
        *parts,
        viewBox=f"-1 0 {total} {height:.0f}",
        width=total,
        height=height,
        role="group",
        aria_label=f"Bracket of {name}",
        class_="bracket",
    )


def _nodes(level: Json, column: int) -> list[BracketNode]:
    tables = [
        BracketNode(
            (level["tournament_round"], table["table"]),
            column,
            table["entrants"],
            terms.ROUNDS["third_place"] if table["label"] == "third_place" else "",
        )
        for table in level["tables"]
    ]
    labels = {"walkover": "walkover", "odd": "bye"}
    byes = [
        BracketNode((level["tournament_round"], bye["bot"] or ""), column, [bye], labels[bye["reason"]])
        for bye in level["byes"]
    ]
    return [*tables, *byes]


def _sort_columns(columns: list[list[BracketNode]]) -> list[list[BracketNode]]:
    """Set the sources of all nodes. Return the columns, sorted so that tables with the same next table are adjacent."""
    by_key: Mapping[Key, BracketNode] = {node.key: node for nodes in columns for node in nodes}
    visited: dict[Key, BracketNode] = {}

    def visit(node: BracketNode) -> None:
        if node.key in visited:
            return
        for row in sorted(node.rows, key=lambda row: row.get("seed") or 0):
            source = by_key.get(_origin(row))
            if source is not None and source is not node and source not in node.sources:
                node.sources.append(source)
                visit(source)
        visited[node.key] = node

    for nodes in reversed(columns):
        for node in nodes:
            visit(node)
    return [[node for node in visited.values() if node.column == column] for column in range(len(columns))]


def _origin(row: Json) -> Key:
    """Return the key of the node from which an entrant came, or a key that no node has if the origin is hidden."""
    origin = row.get("origin")
    if origin is None:
        return 0, ""
    return origin["tournament_round"], origin["table"] or row["bot"]


def _set_positions(nodes: list[BracketNode]) -> None:
    """Put the middle of each node level with the middle of its sources, or lower if there is no room."""
    free: float = TOP
    for node in nodes:
        middles = [source.middle for source in node.sources]
        wanted = sum(middles) / len(middles) - node.height / 2 if middles else free
        node.top = max(wanted, free)
        free = node.top + node.height + SPACE


def _nodes_to_come(column: int, level: Json, before: list[BracketNode]) -> list[BracketNode]:
    """Return nodes for tables to come, spread over the height of the previous column."""
    number = level["tables"]
    end = max((node.top + node.height for node in before), default=TOP + number * (ROW + SPACE))
    share = (end - TOP) / number
    nodes = [BracketNode((0, f"{column} {index}"), column, (), "") for index in range(number)]
    free: float = TOP
    for index, node in enumerate(nodes):
        node.top = max(free, TOP + share * (index + 0.5) - node.height / 2)
        free = node.top + node.height + SPACE
    return nodes


def _line(source: BracketNode, node: BracketNode) -> Markup:
    begin, end = source.left + source.width, node.left
    half = (begin + end) / 2
    path = f"M{begin:.1f} {source.middle:.1f}H{half:.1f}V{node.middle:.1f}H{end:.1f}"
    return tag("path", d=path, class_="way")


def _render_node(node: BracketNode) -> Markup:
    style, text, text_style = ("frame", node.note, "note") if node.rows else ("frame to-come", "to come", "quiet")
    frame = tag("rect", x=node.left, y=node.top, width=node.width, height=node.height, rx=6, class_=style)
    heading = [tag("text", text, x=node.left + LEFT, y=node.top + 17, class_=text_style)] if text else []
    top = node.top + (ROW if node.note else 0)
    rows = [part for index, row in enumerate(node.rows) for part in _row(row, node, top + index * ROW)]
    return tag("g", frame, *heading, *rows)


def _row(row: Json, node: BracketNode, top: float) -> Iterator[Markup]:
    """Yield the seed, name and points of an entrant. Highlight entrants that advance, and mark them with a tick."""
    on = "on" if row.get("advanced") else ""
    base, left = top + 17, node.left
    if row["seed"] is not None:
        yield tag("text", str(row["seed"]), x=left + LEFT - 7, y=base, text_anchor="end", class_="seed")
    if row["bot"] is None:
        yield tag("text", "not shown yet", x=left + LEFT, y=base, class_="quiet")
        return
    name = str(row["name"])
    inner = tag("bdi", name, title=name, class_=f"name {on}".strip())  # HTML, which can be shortened with an ellipsis
    width = node.width - LEFT - EMBLEM - SCORE
    place = tag("foreignObject", inner, x=left + LEFT + EMBLEM, y=top, width=width, height=ROW)
    yield tag("a", emblem(row["bot"], x=left + LEFT, y=top + 5), place, href=f"/bots/{row['bot']}")
    if row.get("points") is not None:
        score = f"{'✓ ' if on else ''}{_points(row['points'])}"
        yield tag("text", score, x=left + node.width - 9, y=base, text_anchor="end", class_=f"points {on}".strip())


def _points(points: float) -> str:
    return decimal(points, 0 if points == int(points) else 1)
