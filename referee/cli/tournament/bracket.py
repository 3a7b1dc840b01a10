"""Draw a knockout bracket as text: a tree from left to right for tables of two, or a list of rounds for larger ones."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len

from referee.cli.table_layout import terminal_width, wrap
from referee.cli.tables import number
from referee.match.canonical import Json

LEAF_STEP = 2  # rows between two leaves, which leave a free row for the winner
FINAL, THIRD_PLACE = "final", "third_place"

Tables = dict[tuple[int, int], Json]  # by tournament round and table number


@dataclass(slots=True)
class Slot:
    """Represent an entrant in a column of the tree. ``feeders`` are the slots of the table from which it advanced."""

    column: int
    text: str
    feeders: list["Slot"] = field(default_factory=list)
    row: int = 0


def render_bracket(bracket: Json) -> str:
    """Return the drawing, followed by the numbers of future tables. ``bracket`` is the JSON document of the API.

    A tree that is wider than the terminal is replaced by a list.
    """
    rounds = bracket["rounds"]
    if not rounds:
        return "No tables have been paired yet."
    pairs = all(len(table["entrants"]) == 2 for played in rounds for table in played["tables"])
    tree = _tree(rounds) if pairs else ""
    width = terminal_width()
    fits = width is None or max(map(cell_len, tree.split("\n"))) <= width
    parts = [tree if pairs and fits else "\n".join(wrap(_list(rounds), width))]
    parts += [f"{label}: {_format_table(table)}" for table, label in _placement_tables(rounds) if pairs and fits]
    if bracket["to_come"]:
        coming = ", ".join(f"{_label(later['label'])} ({later['tables']})" for later in bracket["to_come"])
        parts.append(f"to come (tables): {coming}")
    return "\n\n".join(parts)


# -- the tree --


def _tree(rounds: Sequence[Json]) -> str:
    columns = [_label(played["label"]) for played in rounds]
    roots = _roots(rounds)
    if any(root.text and root.column == len(columns) for root in roots):
        columns.append("winner" if rounds[-1]["label"] == FINAL else "advances")
    lowest = 0
    for root in roots:
        lowest = _assign_rows(root, lowest)
    return _picture(columns, roots, lowest)


def _roots(rounds: Sequence[Json]) -> list[Slot]:
    """Return the slots after the tables of the last round, and after earlier tables whose entrants do not reappear."""
    tables = {
        (played["tournament_round"], table["table"]): table
        for played in rounds
        for table in played["tables"]
        if not _is_for_third_place(table)
    }
    last = rounds[-1]["tournament_round"]
    entrants = [entrant for played in rounds for table in played["tables"] for entrant in table["entrants"]]
    entrants += [bye for played in rounds for bye in played["byes"]]
    origins = {
        (entrant["origin"]["tournament_round"], entrant["origin"]["table"]) for entrant in entrants if entrant["origin"]
    }
    roots = [_root(tables, *key) for key in tables if key[0] == last or key not in origins]
    return roots + [_slot(tables, last, bye) for bye in rounds[-1]["byes"]]


def _root(tables: Tables, round_number: int, number: int) -> Slot:
    """Return the slot after a table. Its text is the name of the winner, or empty while the table is being played."""
    table = tables[round_number, number]
    winner = next((_name(entrant) for entrant in table["entrants"] if entrant["advanced"]), "")
    return Slot(round_number, winner, [_slot(tables, round_number, entrant) for entrant in _by_seed(table)])


def _slot(tables: Tables, round_number: int, entrant: Json) -> Slot:
    origin = entrant["origin"]
    before = tables.get((origin["tournament_round"], origin["table"])) if origin else None
    feeders = [_slot(tables, origin["tournament_round"], earlier) for earlier in _by_seed(before)] if before else []
    return Slot(round_number - 1, _entrant(entrant), feeders)


def _by_seed(table: Json) -> list[Json]:
    """Return the entrants of a table in order of seed, which does not change during the tournament."""
    return sorted(table["entrants"], key=lambda entrant: (entrant["seed"] is None, entrant["seed"]))


def _assign_rows(slot: Slot, lowest: int) -> int:
    """Assign rows to the slot and all its feeders, beginning with row ``lowest``. Return the next free row."""
    if not slot.feeders:
        slot.row = lowest
        return lowest + LEAF_STEP
    for feeder in slot.feeders:
        lowest = _assign_rows(feeder, lowest)
    slot.row = (slot.feeders[0].row + slot.feeders[-1].row) // 2
    return lowest


def _picture(columns: Sequence[str], roots: Sequence[Slot], height: int) -> str:
    slots = list(_all(roots))
    widths = [
        max([len(title), *(len(slot.text) for slot in slots if slot.column == column)])
        for column, title in enumerate(columns)
    ]
    starts = [sum(widths[:column]) + 4 * column for column in range(len(columns))]
    rows = [[" "] * (starts[-1] + widths[-1]) for _ in range(height)]
    for slot in slots:
        if slot.column < len(columns):
            _write(rows[slot.row], starts[slot.column], slot.text)
        if slot.feeders and slot.column < len(columns):
            ends = [starts[feeder.column] + len(feeder.text) for feeder in slot.feeders]
            _connect(rows, slot, starts[slot.column] - 4, ends)
    head = [" "] * (starts[-1] + widths[-1])
    for start, title in zip(starts, columns, strict=True):
        _write(head, start, title)
    return "\n".join("".join(row).rstrip() for row in [head, [], *rows]).rstrip()


def _connect(rows: list[list[str]], slot: Slot, bend: int, ends: Sequence[int]) -> None:
    """Draw lines to the slot from its feeders, whose texts end in columns ``ends``; lines bend in column ``bend``."""
    top, bottom = slot.feeders[0].row, slot.feeders[-1].row
    for feeder, end in zip(slot.feeders, ends, strict=True):
        _write(rows[feeder.row], end + 1, "─" * (bend + 1 - end - 1))
    for row in range(top, bottom + 1):
        rows[row][bend + 1] = "┐" if row == top else "┘" if row == bottom else "│"
    if slot.text:
        _write(rows[slot.row], bend + 1, "├─")


def _all(slots: Sequence[Slot]) -> Iterator[Slot]:
    for slot in slots:
        yield slot
        yield from _all(slot.feeders)


def _write(row: list[str], start: int, text: str) -> None:
    row[start : start + len(text)] = text


# -- the list --


def _list(rounds: Sequence[Json]) -> str:
    lines = []
    for played in rounds:
        lines.append(_label(played["label"]))
        lines += [f"  table {table['table']}: {_format_table(table)}" for table in played["tables"]]
        lines += [f"  bye: {_entrant(bye)} ({bye['reason']})" for bye in played["byes"]]
    return "\n".join(lines)


def _format_table(table: Json) -> str:
    """Return the entrants as text in the order of the API, with an asterisk after each that advanced."""
    return ", ".join(f"{_entrant(entrant)}{' *' if entrant['advanced'] else ''}" for entrant in table["entrants"])


def _placement_tables(rounds: Sequence[Json]) -> Iterator[tuple[Json, str]]:
    for played in rounds:
        yield from ((table, "third place") for table in played["tables"] if _is_for_third_place(table))


def _is_for_third_place(table: Json) -> bool:
    return bool(table["label"] == THIRD_PLACE)


def _entrant(entrant: Json) -> str:
    seed = "" if entrant["seed"] is None else f"{entrant['seed']} "
    points = f"  {number(entrant['points'])}" if entrant.get("points") is not None else ""
    return f"{seed}{_name(entrant)}{points}"


def _name(entrant: Json) -> str:
    """Return the name of the bot, or ``?`` while it is hidden because its rated match is being played."""
    return entrant["name"] or "?"


def _label(label: str) -> str:
    return label.replace("_final", "-final").replace("_", " ")
