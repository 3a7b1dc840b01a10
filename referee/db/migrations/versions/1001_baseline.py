"""All tables, as the models declare them, and what models cannot declare: the search index, and acts that stay.

Until the first release a change of the schema changes the models alone. From then on this migration never changes, so
it has to stop reading the models, and each change is a migration of its own.
"""

import secrets

from alembic import op

from referee.db.search_documents import INDEXED_WORDS
from referee.schema import Base

revision = "1001"
down_revision = None
branch_labels = None
depends_on = None

REMOVE = "INSERT INTO search_index (search_index, rowid, words) VALUES ('delete', old.number, old.words);"
ADD = "INSERT INTO search_index (rowid, words) VALUES (new.number, new.words);"
TRIGGERS = {"INSERT": ADD, "DELETE": REMOVE, "UPDATE": f"{REMOVE} {ADD}"}
FORBIDDEN = "the list of acts is append-only"
KEPT = ("id", "created_at", "account_id", "kind", "object_id", "tournament_id")  # columns of acts that never change


def upgrade() -> None:
    Base.metadata.create_all(op.get_bind())
    op.bulk_insert(Base.metadata.tables["installation"], [{"number": 1, "id": secrets.token_hex(16), "probe": 0}])
    if op.get_bind().dialect.name == "sqlite":
        _index_words_in_sqlite()
        _protect_acts_in_sqlite()
    else:
        op.execute(f"CREATE INDEX search_index ON search_documents USING gin ({INDEXED_WORDS})")
        _protect_acts_in_postgresql()


def _index_words_in_sqlite() -> None:
    # The words of documents need no tokenizer; this one separates them at spaces.
    op.execute(
        "CREATE VIRTUAL TABLE search_index USING fts5("
        "words, content='search_documents', content_rowid='number', tokenize='ascii', prefix='1 2 3')"
    )
    for change, statements in TRIGGERS.items():
        op.execute(
            f"CREATE TRIGGER search_index_{change.lower()} AFTER {change} ON search_documents BEGIN {statements} END"
        )


def _protect_acts_in_sqlite() -> None:
    """Refuse changes of acts. Only names and reasons of an act that concerns a deleted account or bot can be erased."""
    changed = " OR ".join(f"NEW.{name} IS NOT OLD.{name}" for name in KEPT)
    refusal = f"BEGIN SELECT RAISE(ABORT, '{FORBIDDEN}'); END"
    op.execute(f"CREATE TRIGGER acts_delete BEFORE DELETE ON acts {refusal}")
    unless_erased = f"{changed} OR NOT ({_concerns_deleted()})"
    op.execute(f"CREATE TRIGGER acts_update BEFORE UPDATE ON acts WHEN {unless_erased} {refusal}")


def _protect_acts_in_postgresql() -> None:
    """Refuse the same changes as ``_protect_acts_in_sqlite``."""
    changed = " OR ".join(f"NEW.{name} IS DISTINCT FROM OLD.{name}" for name in KEPT)
    op.execute(
        "CREATE FUNCTION refuse_change_of_acts() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN IF TG_OP = 'DELETE' THEN RAISE EXCEPTION '{FORBIDDEN}'; END IF; "
        f"IF {changed} OR NOT ({_concerns_deleted()}) THEN RAISE EXCEPTION '{FORBIDDEN}'; END IF; RETURN NEW; END $$"
    )
    op.execute(
        "CREATE TRIGGER acts_change BEFORE UPDATE OR DELETE ON acts "
        "FOR EACH ROW EXECUTE FUNCTION refuse_change_of_acts()"
    )


def _concerns_deleted() -> str:
    deleted = "deleted_at IS NOT NULL AND id IN (OLD.account_id, OLD.object_id)"
    return " OR ".join(f"EXISTS (SELECT 1 FROM {table} WHERE {deleted})" for table in ("accounts", "bots"))  # noqa: S608  # names of tables


def downgrade() -> None:
    raise NotImplementedError("nothing would be left; restore a backup")
