"""The table of pictures, as the model declares it.

Until the first release a change of the schema changes the model alone, as for the tables of the service.
"""

from alembic import op

from referee_extras.pictures.tables import PicturesTable

revision = "1001"
down_revision = None


def upgrade() -> None:
    PicturesTable.metadata.create_all(op.get_bind())
