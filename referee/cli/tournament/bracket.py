"""A knockout drawn in text: for pairs a tree from left to right, for larger tables a list by stage."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from referee.cli.tables import number
from referee.match.canonical import Json

LEAF_STEP = 2  # rows; so that the place between two is a row of its own
FINAL, THIRD_PLACE = "final", "third_place"

Tables = dict[tuple[int, int], Json]  # by stage and number


@dataclass(slots=True)
class Slot:
    """An entrant in a column of the tree; ``feeders`` are the slots of the table it came from."""

    column: int
    text: str
    feeders: list["Slot"] = field(default_factory=list)
    row: int = 0


def render_bracket(bracket: Json) -> str:
    """The picture, and what is to come below it. ``bracket`` is what the API gives."""
    stages = bracket["stages"]
    if not stages:
        return "nobody is paired yet"
    pairs = all(len(table["entrants"]) == 2 for stage in stages for table in stage["tables"])
    parts = [_tree(stages) if pairs else _list(stages)]
    parts += [f"{words}: {_format_table(table)}" for table, words in _placement_tables(stages) if pairs]
    if bracket["to_come"]:
        left = ", ".join(f"{_label(stage['label'])} ({stage['tables']})" for stage in bracket["to_come"])
        parts.append(f"to come (tables): {left}")
    return "\n\n".join(parts)


# -- the tree --


def _tree(stages: Sequence[Json]) -> str:
    columns = [_label(stage["label"]) for stage in stages]
    roots = _roots(stages)
    if any(root.text and root.column == len(columns) for root in roots):
        columns.append("winner" if stages[-1]["label"] == FINAL else "goes on")
    lowest = 0
    for root in roots:
        lowest = _assign_rows(root, lowest)
    return _picture(columns, roots, lowest)


def _roots(stages: Sequence[Json]) -> list[Slot]:
    """Where the tables of the last stage lead, and those of earlier ones whose entrants are not told further on."""
    tables = {
        (stage["stage"], table["table"]): table for stage in stages for table in stage["tables"] if not _is_aside(table)
    }
    last = stages[-1]["stage"]
    everybody = [one for stage in stages for table in stage["tables"] for one in table["entrants"]]
    everybody += [bye for stage in stages for bye in stage["byes"]]
    seen = {(one["origin"]["stage"], one["origin"]["table"]) for one in everybody if one["origin"]}
    roots = [_root(tables, *key) for key in tables if key[0] == last or key not in seen]
    return roots + [_slot(tables, last, bye) for bye in stages[-1]["byes"]]


def _root(tables: Tables, stage: int, number: int) -> Slot:
    """Where a table leads: to whoever won it, to nobody while it is played."""
    table = tables[stage, number]
    best = next((_name(one) for one in table["entrants"] if one["advanced"]), "")
    return Slot(stage, best, [_slot(tables, stage, one) for one in _by_seed(table)])


def _slot(tables: Tables, stage: int, entrant: Json) -> Slot:
    origin = entrant["origin"]
    before = tables.get((origin["stage"], origin["table"])) if origin else None
    feeders = [_slot(tables, origin["stage"], one) for one in _by_seed(before)] if before else []
    return Slot(stage - 1, _entrant(entrant), feeders)


def _by_seed(table: Json) -> list[Json]:
    """Top to bottom, the same while the event goes on."""
    return sorted(table["entrants"], key=lambda one: (one["seed"] is None, one["seed"]))


def _assign_rows(slot: Slot, lowest: int) -> int:
    """Gives every slot its row, leaves from the top; tells the next free one."""
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
        max([len(title), *(len(one.text) for one in slots if one.column == at)]) for at, title in enumerate(columns)
    ]
    starts = [sum(widths[:at]) + 4 * at for at in range(len(columns))]
    rows = [[" "] * (starts[-1] + widths[-1]) for _ in range(height)]
    for slot in slots:
        if slot.column < len(columns):
            _write(rows[slot.row], starts[slot.column], slot.text)
        if slot.feeders and slot.column < len(columns):
            _join(rows, slot, starts[slot.column] - 4, [starts[one.column] + len(one.text) for one in slot.feeders])
    head = [" "] * (starts[-1] + widths[-1])
    for start, title in zip(starts, columns, strict=True):
        _write(head, start, title)
    return "\n".join("".join(row).rstrip() for row in [head, [], *rows]).rstrip()


def _join(rows: list[list[str]], slot: Slot, bend: int, ends: Sequence[int]) -> None:
    """Lines from the feeders to the slot; ``bend`` is where they turn, ``ends`` where the feeders' words end."""
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


# -- in words --


def _list(stages: Sequence[Json]) -> str:
    lines = []
    for stage in stages:
        lines.append(_label(stage["label"]))
        lines += [f"  table {table['table']}: {_format_table(table)}" for table in stage["tables"]]
        lines += [f"  bye: {_entrant(bye)} ({bye['reason']})" for bye in stage["byes"]]
    return "\n".join(lines)


def _format_table(table: Json) -> str:
    """The entrants, best first; whoever goes on is marked."""
    return ", ".join(f"{_entrant(one)}{' *' if one['advanced'] else ''}" for one in table["entrants"])


def _placement_tables(stages: Sequence[Json]) -> Iterator[tuple[Json, str]]:
    for stage in stages:
        yield from ((table, "third place") for table in stage["tables"] if _is_aside(table))


def _is_aside(table: Json) -> bool:
    return bool(table["label"] == THIRD_PLACE)


def _entrant(one: Json) -> str:
    seed = "" if one["seed"] is None else f"{one['seed']} "
    points = f"  {number(one['points'])}" if one.get("points") is not None else ""
    return f"{seed}{_name(one)}{points}"


def _name(one: Json) -> str:
    """Rivals in a rated match that is being played have none."""
    return one["name"] or "?"


def _label(label: str) -> str:
    return label.replace("_final", "-final").replace("_", " ")
