"""The tables of notifications, as the models declare them. Results of before are not reported.

Until the first release a change of the schema changes the models alone, as for the tables of the service.
"""

from alembic import op
from sqlalchemy import func, insert, literal, select

from referee.matches.tables import Result
from referee_extras.notifications.tables import NotificationsTable, ReportedResults

revision = "1001"
down_revision = None


def upgrade() -> None:
    NotificationsTable.metadata.create_all(op.get_bind())
    last = select(literal(1), func.coalesce(func.max(Result.seq), 0))
    op.execute(insert(ReportedResults).from_select(["id", "seq"], last))
