"""Distribute the tests over several processes: a file goes to one of them as a whole, and so do some folders.

The files that mostly wait, for processes and leases above all, form a lane of their own: one process, or as many as
there are more than processors, takes them one after the other while the others have work for the processor. A process
whose lane is empty takes from the other, so nobody is idle before the end.
"""

import os
from fnmatch import fnmatch
from typing import Any

from xdist.scheduler.loadscope import LoadScopeScheduling

WAITING = (
    *("tests/end_to_end/", "tests/workers/", "tests/botclient/", "tests/conformance/"),
    *("tests/api/test_many_clients.py", "tests/cli/test_problems.py", "tests/local/test_bot_files.py"),
)
BROWSER = ("tests/browser/test_[a-s]", "tests/browser/test_[t-z]")  # a Chromium, a service and a record for each
FIRST = (*BROWSER, "tests/test_types.py")  # the longest, so that no process is left with one of them at the end
SERVICE = "tests/cli/service/"  # one service for all of them


def unit_of(test_id: str) -> str:
    """Return the unit of a test: its file, or that of all tests that share the browser or a service."""
    shared = (pattern for pattern in (*BROWSER, SERVICE) if fnmatch(test_id, pattern + "*"))
    return next(shared, test_id.partition("::")[0])


class Lanes(LoadScopeScheduling):  # type: ignore[misc]  # xdist ships no types
    """The first processes take the units that wait, the others the rest, each in their order."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)

    def _assign_work_unit(self, node: Any) -> None:
        waits = len(self.nodes) > 1 and node in self.nodes[: max(1, len(self.nodes) - (os.cpu_count() or 1))]
        units = sorted(self.workqueue, key=lambda unit: unit not in FIRST)
        own = (unit for unit in units if unit.startswith(WAITING) == waits)
        self.workqueue.move_to_end(next(own, units[0]), last=False)
        super()._assign_work_unit(node)
