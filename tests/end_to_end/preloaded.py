"""Import, in the process from which ``forks`` forks others, what they need."""

from referee.runtime import forked_process, supervisor

forked_process.preload([*supervisor.PRELOADED, "tests.end_to_end.forks", "tools.chaos.entry"])
