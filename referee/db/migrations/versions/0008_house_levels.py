"""House players named by their levels: `house:1` to `house:4` instead of `house:random` and `house:sound`."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

LEVELS: Final = {  # by former address: address, name
    "house:random": ("house:1", "House 1 Random"),
    "house:sound": ("house:3", "House 3 Sound"),
    "house:first": ("house:first", "House First"),  # no level: it is not offered any more, but still plays
}


def upgrade() -> None:
    bots = sa.table("bots", *map(sa.column, ("name", "normalized_name", "url", "verified_url")))
    tournaments = sa.table("tournaments", sa.column("substitute"))
    for former, (address, name) in LEVELS.items():
        renamed = {"name": name, "normalized_name": address, "url": address, "verified_url": address}
        op.execute(sa.update(bots).where(bots.c.normalized_name == former).values(renamed))
        substitute = tournaments.c.substitute
        op.execute(sa.update(tournaments).where(substitute == former.removeprefix("house:")).values(substitute=address))


def downgrade() -> None:
    raise NotImplementedError("levels 2 and 4 did not exist before; restore a backup")
