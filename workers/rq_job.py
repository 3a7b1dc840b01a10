"""Extend RQ's job class: say what a runner did, and delete a job even if Redis has lost parts of it."""

from datetime import datetime
from typing import Any, Final

from redis.client import Pipeline
from rq.executions import Execution, ExecutionRegistry
from rq.job import Job

from workers.queues import FAILED_KEPT_S

COUNTED: Final = ("matches", "handed_over", "failed", "handshakes", "checks")  # in the result of a runner


class WakeUp(Job):
    """Represent a job whose description says at its end what its runner did, and whose deletion does not fail.

    RQ lists executions for a minute longer than it stores them, and reading an expired one raises an error. When
    workers clean up the job of a killed worker, they read its executions, and the error would end all of them.
    """

    def perform(self) -> Any:
        """Run the runner and return its result. If it found nothing to do, do not keep the job."""
        result = super().perform()
        if not any(result[name] for name in COUNTED):
            self.result_ttl = 0
        self.description = describe_result(result)
        return result

    def heartbeat(self, timestamp: datetime, ttl: int, pipeline: Pipeline | None = None, xx: bool = False) -> None:
        """Store a heartbeat that expires, as Redis may have lost the rest of the job, and nobody would delete it."""
        super().heartbeat(timestamp, ttl, pipeline, xx)
        connection = self.connection if pipeline is None else pipeline
        connection.expire(self.key, FAILED_KEPT_S)

    @property
    def execution_registry(self) -> ExecutionRegistry:
        return _Executions(self.id, connection=self.connection)


def describe_result(result: dict[str, Any]) -> str:
    """Return what a runner did, as ``rq`` and its dashboards show it."""
    did = [f"{count} {name.replace('_', ' ')}" for name in COUNTED[1:] if (count := result[name])]
    return ", ".join([f"runner: {result['matches']} {'match' if result['matches'] == 1 else 'matches'}", *did])


class _Executions(ExecutionRegistry):
    def get_executions(self, start: int = 0, end: int = -1) -> list[Execution]:
        """Return the job's executions, built from their ids alone. This is sufficient to delete them."""
        ids = self.get_execution_ids(start, end)
        return [Execution(id, self.job_id, connection=self.connection) for id in ids]
