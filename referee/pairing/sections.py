"""Which tables of a stage may share their deals: deal groups in which nobody could meet a deal twice."""

from collections.abc import Mapping, Sequence


def sections(tables: Sequence[Sequence[str]], owner_of: Mapping[str, str], limit: int = 100) -> list[list[int]]:
    """Splits tables (entrants by seat) into groups of at most ``limit`` in which no owner sits at two tables.

    Whoever knows a deal from one table of a group cannot be asked about it at another, not even through a sibling;
    siblings at the same table are no matter. An entrant with no owner, or the owner "", stands for itself. Gives
    the indexes of the tables, rising within each group; every table is in exactly one. First fit, in the order of
    the tables; a table that fits nowhere opens a group, which may stay alone.
    """
    groups: list[list[int]] = []
    sitting: list[set[str]] = []
    open_groups: list[int] = []
    for index, table in enumerate(tables):
        # An owner's name must not be taken for an entrant's id.
        people = {f"owner {owner}" if (owner := owner_of.get(one, "")) else f"entrant {one}" for one in table}
        place = next((at for at in open_groups if sitting[at].isdisjoint(people)), None)
        if place is None:
            place = len(groups)
            groups.append([])
            sitting.append(set())
            open_groups.append(place)
        groups[place].append(index)
        sitting[place] |= people
        if len(groups[place]) == limit:
            open_groups.remove(place)
    return groups
