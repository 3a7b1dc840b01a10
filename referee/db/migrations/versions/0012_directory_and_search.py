"""What owners say about their bots, longer names of tournaments, and the documents that the search finds.

Draft tournaments have no document until they are opened, and accounts without bots have none.
"""

import sqlalchemy as sa
from alembic import op

from referee.db.search_documents import INDEXED_WORDS, split_words

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

ID = sa.String(length=40)
STATES = ("draft", "open", "running", "paused", "finished", "cancelled")  # of tournaments
BATCH = 1_000
SORTED_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
DOCUMENTS = sa.table("search_documents", *map(sa.column, ("kind", "object_id", "name", "words")))
PUBLIC_NAMES = {
    "bot": "SELECT id, name FROM bots",
    "owner": "SELECT id, name FROM accounts WHERE id IN (SELECT owner_id FROM bots)",
    "tournament": "SELECT id, name FROM tournaments WHERE status <> 'draft'",
}
REMOVE = "INSERT INTO search_index (search_index, rowid, words) VALUES ('delete', old.number, old.words);"
ADD = "INSERT INTO search_index (rowid, words) VALUES (new.number, new.words);"
TRIGGERS = {"INSERT": ADD, "DELETE": REMOVE, "UPDATE": f"{REMOVE} {ADD}"}


def upgrade() -> None:
    for name, length in {"summary": 160, "language": 40, "link": 300}.items():
        op.add_column("bots", sa.Column(name, sa.String(length=length)))
    _widen_names_of_tournaments()
    op.create_table(
        "search_documents",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("kind", ID, nullable=False),
        sa.Column("object_id", ID, nullable=False),
        sa.Column("name", SORTED_TEXT, nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.CheckConstraint("kind IN ('bot', 'owner', 'tournament')", name=op.f("ck_search_documents_kind")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_search_documents")),
        sa.UniqueConstraint("kind", "object_id", name=op.f("uq_search_documents_kind_object_id")),
    )
    _create_index()
    for kind, query in PUBLIC_NAMES.items():
        _fill(kind, query)


def _create_index() -> None:
    if op.get_context().dialect.name != "sqlite":
        op.execute(f"CREATE INDEX search_index ON search_documents USING gin ({INDEXED_WORDS})")
        return
    # The words of documents need no tokenizer; this one separates them at spaces.
    op.execute(
        "CREATE VIRTUAL TABLE search_index USING fts5("
        "words, content='search_documents', content_rowid='number', tokenize='ascii', prefix='1 2 3')"
    )
    for change, statements in TRIGGERS.items():
        op.execute(
            f"CREATE TRIGGER search_index_{change.lower()} AFTER {change} ON search_documents BEGIN {statements} END"
        )


def _fill(kind: str, query: str) -> None:
    connection = op.get_bind()
    found = connection.execute(sa.text(query)).all()
    rows = [{"kind": kind, "object_id": id, "name": " ".join(split_words(name))} for id, name in found]
    for start in range(0, len(rows), BATCH):
        batch = [row | {"words": row["name"]} for row in rows[start : start + BATCH]]
        connection.execute(sa.insert(DOCUMENTS), batch)


def _widen_names_of_tournaments() -> None:
    listed = ", ".join(f"'{state}'" for state in STATES)
    states = sa.CheckConstraint(f"status IN ({listed})", name=op.f("ck_tournaments_status"))
    with op.batch_alter_table("tournaments", table_args=(states,)) as tournaments:
        tournaments.alter_column("name", type_=sa.String(length=80), existing_type=sa.String(length=64))


def downgrade() -> None:
    raise NotImplementedError("names of tournaments could be too long for earlier versions; restore a backup")
