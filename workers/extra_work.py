"""Do what extras plug into a runner, beside its matches. A failure is logged and affects nothing else."""

from functools import partial

from referee import plugs
from referee.botclient.address_guard import Policy
from referee.db.extra_work import list_work
from referee.errors import Unavailable
from referee.protocol.signing import webhook_secrets
from workers.database_thread import DatabaseThread


class ExtraWork:
    """Start the work of all extras. Each gets the database thread, what it may call, and a function for secrets.

    The function returns the secrets of an id and some generations, from which an extra does not learn the master key.
    """

    def __init__(self, database: DatabaseThread, policy: Policy, master_key: bytes, public_url: str) -> None:
        secrets_of = partial(webhook_secrets, master_key)
        self._parts = [
            (extra, work.start(database, policy, secrets_of, public_url=public_url)) for extra, work in list_work()
        ]

    @property
    def is_busy(self) -> bool:
        return any(part.is_busy for _, part in self._parts)

    async def start_due(self) -> None:
        """Start what is due, as far as there is room. Raise ``Unavailable`` if the database is down."""
        for extra, part in self._parts:
            try:
                await part.start_due()
            except Unavailable:
                raise
            except Exception:  # noqa: BLE001  # whatever the code of an extra raises; it is logged with its traceback
                plugs.report_failure(extra, "runner_work")

    async def stop(self) -> None:
        """End what is under way, or hand it over to other runners."""
        for extra, part in self._parts:
            try:
                await part.stop()
            except Exception:  # noqa: BLE001
                plugs.report_failure(extra, "runner_work")
