"""What the process has imported from which ``forks`` forks others."""

from referee.runtime import forked_process, supervisor

forked_process.preload([*supervisor.PRELOADED, "tests.end_to_end.forks", "tools.chaos.entry"])
