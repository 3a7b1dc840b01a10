"""Form the deal groups of a round.

The tables of a group have equally many seats and can share their deals without any owner seeing a deal twice.
"""

from collections.abc import Mapping, Sequence


def sections(tables: Sequence[Sequence[str]], owner_of: Mapping[str, str], limit: int = 100) -> list[list[int]]:
    """Split tables (entrants in seat order) into groups of at most ``limit`` in which no owner sits at two tables.

    All tables of a group have the same size, because a deal gives other cards to the seats of a smaller table.

    An owner who knows a deal from one table of a group must not play it at another, not even with a sibling. Siblings
    at the same table do not matter. An entrant without an owner, or with the owner "", counts as its own owner.

    Return the indexes of the tables, ascending within each group; every table is in exactly one group. Tables are
    placed in order by first fit; a table that fits no group opens a new one.
    """
    groups: list[list[int]] = []
    open_groups: list[tuple[int, list[int], set[str]]] = []  # the size of its tables, the group, its owners
    for index, table in enumerate(tables):
        # The prefix distinguishes an owner's id from an identical entrant id.
        owners = {
            f"owner {owner}" if (owner := owner_of.get(entrant, "")) else f"entrant {entrant}" for entrant in table
        }
        for chosen in open_groups:
            size, group, seated = chosen
            if size == len(table) and seated.isdisjoint(owners):
                break
        else:
            chosen = size, group, seated = len(table), [], set()
            groups.append(group)
            open_groups.append(chosen)
        group.append(index)
        seated |= owners
        if len(group) == limit:
            open_groups.remove(chosen)
    return groups
