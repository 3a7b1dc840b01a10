"""The bracket of a knockout as a tree: a column for each stage, lines from each table to where its winners play."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from markupsafe import Markup

from api.pages.charts.svg import tag
from api.pages.formatting import decimal
from api.tournaments import terms

Json = dict[str, Any]
Key = tuple[int, int | str]  # stage and table, or who rested

MOST_TABLES: Final = 32  # in a column; stages with more are left to the list
CARD, BETWEEN = 216, 40  # widths
ROW, SPACE, TOP = 25, 16, 34  # heights
LEFT, SCORE = 30, 40  # of a card: the seed, the points


@dataclass(slots=True)
class BracketNode:
    """A table, somebody who rests, or a table to come, where it stands in the picture."""

    key: Key
    column: int
    rows: Sequence[Json]
    note: str = ""  # what it is, where it is no usual table
    top: float = 0.0
    sources: list["BracketNode"] = field(default_factory=list)

    @property
    def is_aside(self) -> bool:
        """Whether it has its sources in common with the final beside it."""
        return self.note == terms.STAGES["third_place"]

    @property
    def height(self) -> float:
        return ROW * max(1, len(self.rows)) + (ROW if self.note else 0)

    @property
    def middle(self) -> float:
        return self.top + self.height / 2

    @property
    def left(self) -> float:
        return self.column * (CARD + BETWEEN)


def tree(drawn: Json, name: str) -> Markup:
    """The picture of what the API's bracket tells. Early stages with too many tables are left out."""
    stages = [stage for stage in drawn["stages"] if len(stage["tables"]) <= MOST_TABLES]
    columns = _sort_columns([_cards(stage, at) for at, stage in enumerate(stages)])
    for cards in columns:
        _place(cards)
    for stage in drawn["to_come"]:
        if stage["tables"] <= MOST_TABLES:
            columns.append(_to_come(len(columns), stage, columns[-1] if columns else []))
    heads = [terms.stage_name(stage.get("stage", 0), stage["label"]) for stage in [*stages, *drawn["to_come"]]]
    parts = [
        *(_head(at, head) for at, head in enumerate(heads[-len(columns) :])),
        *(_line(source, card) for cards in columns for card in cards if not card.is_aside for source in card.sources),
        *(_render_node(card) for cards in columns for card in cards),
    ]
    width = len(columns) * (CARD + BETWEEN) - BETWEEN + 2
    height = max((card.top + card.height for cards in columns for card in cards), default=TOP) + 2
    return tag(
        "svg",
        *parts,
        viewBox=f"-1 0 {width} {height:.0f}",
        width=width,
        height=height,
        role="group",
        aria_label=f"Bracket of {name}",
        class_="bracket",
    )


def _cards(stage: Json, column: int) -> list[BracketNode]:
    tables = [
        BracketNode(
            (stage["stage"], table["table"]),
            column,
            table["entrants"],
            terms.STAGES["third_place"] if table["label"] == "third_place" else "",
        )
        for table in stage["tables"]
    ]
    words = {"walkover": "walkover", "odd": "no match needed"}
    byes = [
        BracketNode((stage["stage"], one["bot"] or ""), column, [one], words[one["reason"]]) for one in stage["byes"]
    ]
    return [*tables, *byes]


def _sort_columns(columns: list[list[BracketNode]]) -> list[list[BracketNode]]:
    """The columns, sorted so that those who meet next stand beside each other; each card knows its sources."""
    by_key: Mapping[Key, BracketNode] = {card.key: card for cards in columns for card in cards}
    done: dict[Key, BracketNode] = {}

    def visit(card: BracketNode) -> None:
        if card.key in done:
            return
        for one in sorted(card.rows, key=lambda row: row.get("seed") or 0):
            source = by_key.get(_origin(one))
            if source is not None and source is not card and source not in card.sources:
                card.sources.append(source)
                visit(source)
        done[card.key] = card

    for cards in reversed(columns):
        for card in cards:
            visit(card)
    return [[card for card in done.values() if card.column == at] for at in range(len(columns))]


def _origin(one: Json) -> Key:
    """The card somebody came from; one that is not there where nothing is told."""
    origin = one.get("origin")
    if origin is None:
        return 0, ""
    return origin["stage"], origin["table"] or one["bot"]


def _place(cards: list[BracketNode]) -> None:
    """Each card in the middle of its sources, as far as the one above leaves room."""
    free: float = TOP
    for card in cards:
        middles = [source.middle for source in card.sources]
        wanted = sum(middles) / len(middles) - card.height / 2 if middles else free
        card.top = max(wanted, free)
        free = card.top + card.height + SPACE


def _to_come(column: int, stage: Json, before: list[BracketNode]) -> list[BracketNode]:
    """Empty tables, spread over the height of the column before."""
    number = stage["tables"]
    end = max((card.top + card.height for card in before), default=TOP + number * (ROW + SPACE))
    share = (end - TOP) / number
    cards = [BracketNode((0, f"{column} {at}"), column, (), "") for at in range(number)]
    free: float = TOP
    for at, card in enumerate(cards):
        card.top = max(free, TOP + share * (at + 0.5) - card.height / 2)
        free = card.top + card.height + SPACE
    return cards


def _head(column: int, text: str) -> Markup:
    return tag("text", text, x=column * (CARD + BETWEEN), y=16, class_="stage-name")


def _line(source: BracketNode, card: BracketNode) -> Markup:
    begin, end = source.left + CARD, card.left
    half = (begin + end) / 2
    path = f"M{begin:.1f} {source.middle:.1f}H{half:.1f}V{card.middle:.1f}H{end:.1f}"
    return tag("path", d=path, class_="way")


def _render_node(card: BracketNode) -> Markup:
    if not card.rows:
        frame = tag("rect", x=card.left, y=card.top, width=CARD, height=card.height, rx=6, class_="frame to-come")
        return tag("g", frame, tag("text", "to come", x=card.left + LEFT, y=card.top + 17, class_="quiet"))
    top = card.top + (ROW if card.note else 0)
    note = [tag("text", card.note, x=card.left + LEFT, y=card.top + 17, class_="note")] if card.note else []
    frame = tag("rect", x=card.left, y=card.top, width=CARD, height=card.height, rx=6, class_="frame")
    rows = [part for at, one in enumerate(card.rows) for part in _row(one, card.left, top + at * ROW)]
    return tag("g", frame, *note, *rows)


def _row(one: Json, left: float, top: float) -> Iterator[Markup]:
    """Seed, name and points; whoever goes on has a tick and stands out."""
    on = "on" if one.get("advanced") else ""
    base = top + 17
    if one["seed"] is not None:
        yield tag("text", str(one["seed"]), x=left + LEFT - 7, y=base, text_anchor="end", class_="seed")
    if one["bot"] is None:
        yield tag("text", "told when it is over", x=left + LEFT, y=base, class_="quiet")
        return
    name = str(one["name"])
    inner = tag("text", tag("title", name), name, x=0, y=17, class_=f"name {on}".strip())
    shown = tag("svg", inner, x=left + LEFT, y=top, width=CARD - LEFT - SCORE, height=ROW)  # cuts what is too long
    yield tag("a", shown, href=f"/bots/{one['bot']}")
    if one.get("points") is not None:
        score = f"{'✓ ' if on else ''}{_points(one['points'])}"
        yield tag("text", score, x=left + CARD - 9, y=base, text_anchor="end", class_=f"points {on}".strip())


def _points(points: float) -> str:
    return decimal(points, 0 if points == int(points) else 1)
