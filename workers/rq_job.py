"""RQ's job as a wake-up: a thing that can always be thrown away, however little of it Redis still knows."""

from rq.executions import Execution, ExecutionRegistry
from rq.job import Job


class WakeUp(Job):
    """A job whose end never fails on an execution that Redis has forgotten.

    RQ lists an execution for a minute longer than it keeps it, and reading one that is gone raises. Deleting the
    job of a killed worker does just that, in the maintenance of all other workers, and would end them.
    """

    @property
    def execution_registry(self) -> ExecutionRegistry:
        return _Executions(self.id, connection=self.connection)


class _Executions(ExecutionRegistry):
    def get_executions(self, start: int = 0, end: int = -1) -> list[Execution]:
        """By their ids, which is all that deleting them takes."""
        ids = self.get_execution_ids(start, end)
        return [Execution(id, self.job_id, connection=self.connection) for id in ids]
