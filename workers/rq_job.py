"""Extend RQ's job class so that a job can be deleted even if Redis has lost parts of it."""

from rq.executions import Execution, ExecutionRegistry
from rq.job import Job


class WakeUp(Job):
    """Represent a job whose deletion does not fail on an execution that has expired in Redis.

    RQ lists executions for a minute longer than it stores them, and reading an expired one raises an error. When
    workers clean up the job of a killed worker, they read its executions, and the error would end all of them.
    """

    @property
    def execution_registry(self) -> ExecutionRegistry:
        return _Executions(self.id, connection=self.connection)


class _Executions(ExecutionRegistry):
    def get_executions(self, start: int = 0, end: int = -1) -> list[Execution]:
        """Return the job's executions, built from their ids alone. This is sufficient to delete them."""
        ids = self.get_execution_ids(start, end)
        return [Execution(id, self.job_id, connection=self.connection) for id in ids]
