"""Keys of names computed anew, with Unicode's table of confusable characters.

Where names that had keys of their own now share one, the oldest keeps it. The others stay as they are, with a key that
no name has, and nobody can take a name that looks like theirs.
"""

import sqlalchemy as sa
from alembic import op

from referee.db.names import name_key, spare_key

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

HOUSE = "house:"  # keys of house bots and their owner are not made from names


def upgrade() -> None:
    _renew("accounts", sa.literal("active"))
    _renew("bots", sa.column("status"))


def _renew(name: str, status: sa.ColumnElement[str]) -> None:
    table = sa.table(name, *map(sa.column, ("id", "name", "name_key", "created_at")))
    query = sa.select(table.c.id, table.c.name, table.c.name_key, status.label("status")).select_from(table)
    rows = op.get_bind().execute(query.order_by(table.c.created_at, table.c.id)).all()
    keys: dict[str, str] = {}  # by id
    taken: set[str] = set()
    for row in rows:
        if row.name_key.startswith(HOUSE):
            continue
        key = name_key(row.name)
        keys[row.id] = spare_key(key, row.id) if row.status == "retired" or key in taken else key
        if row.status != "retired":
            taken.add(key)
    changes = [{"of": row.id, "key": keys[row.id]} for row in rows if keys.get(row.id, row.name_key) != row.name_key]
    if changes:
        # In two steps: a key may go from one to another.
        _set(table, [{"of": change["of"], "key": change["of"]} for change in changes])
        _set(table, changes)


def _set(table: sa.TableClause, changes: list[dict[str, str]]) -> None:
    change = sa.update(table).where(table.c.id == sa.bindparam("of")).values(name_key=sa.bindparam("key"))
    op.get_bind().execute(change, changes)


def downgrade() -> None:
    raise NotImplementedError("keys that were equal before cannot be told apart; restore a backup")
