"""Define the metrics that processes count themselves. Those that are read from the database are in ``database``.

Labels have few values, whatever strangers do: no name, id or address is ever one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from referee.matches.states import MatchKind


@dataclass(frozen=True, slots=True)
class CountedMetric:
    """Describe a counter, or a histogram if there are ``buckets`` (upper limits in seconds).

    Series with the labels of ``from_zero`` are there before their first event, since Prometheus sees no increase in a
    series that begins with 1.
    """

    name: str
    help: str
    labels: tuple[str, ...] = ()
    buckets: Sequence[float] = ()
    from_zero: Sequence[tuple[str, ...]] = ()


def _seconds(*milliseconds: float) -> tuple[float, ...]:
    return tuple(limit / 1000 for limit in milliseconds)


DECISIONS: Final = CountedMetric("referee_decisions", "Answers to questions, by who sits in the seat.", ("player",))
# Our own share is a fraction of a millisecond on an idle host; a bot may think for a minute.
OWN_TIME: Final = _seconds(0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096)
BOT_TIME: Final = _seconds(1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000)
TIME_BEFORE: Final = CountedMetric(
    "referee_decision_before_seconds",
    "Time of the service around the call of a bot: confirming the claim, waiting for a free request, encoding, lag.",
    buckets=OWN_TIME,
)
TIME_OF_BOT: Final = CountedMetric(
    "referee_decision_bot_seconds", "Time of a bot, as its thinking time is counted.", buckets=BOT_TIME
)
TIME_AFTER: Final = CountedMetric(
    "referee_decision_after_seconds",
    "Time in which an answer, with all that followed from it, is recorded. Those that end a match are not measured.",
    buckets=OWN_TIME,
)
FAULTS: Final = CountedMetric("referee_faults", "Faults of bots, by code.", ("code",))
MATCHES_ENDED: Final = CountedMetric(
    "referee_matches_ended",
    "Matches that runners let go, by kind and outcome: finished, lost to another runner, handed over, failed.",
    ("kind", "outcome"),
    from_zero=[(kind.value, "failed") for kind in MatchKind],
)
LEASES_EXPIRED: Final = CountedMetric(
    "referee_leases_expired", "Matches claimed again after the lease of another runner had expired."
)
RUNNER_CPU: Final = CountedMetric("referee_runner_cpu_seconds", "Processor time of work-horses.")
TRANSACTIONS: Final = CountedMetric(
    "referee_transaction_seconds",
    "Duration of the transactions of runners, with the wait for the lock; each contains the work of many matches.",
    ("access",),
    OWN_TIME,
)
TRANSACTION_JOBS: Final = CountedMetric(
    "referee_transaction_jobs", "Pieces of work in the transactions of runners.", ("access",)
)
REQUESTS: Final = CountedMetric(
    "referee_http_requests", "Requests to the API and the pages.", ("area", "method", "status")
)
REQUEST_TIME: Final = CountedMetric(
    "referee_http_request_seconds",
    "Time until a response begins.",
    ("kind",),
    _seconds(1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000),
)
EXTRA_FAILURES: Final = CountedMetric(
    "referee_extra_failures", "Failures of extras that were left out, by extra and point.", ("extra", "point")
)

COUNTED: Final = (
    *(DECISIONS, TIME_BEFORE, TIME_OF_BOT, TIME_AFTER, FAULTS, MATCHES_ENDED, LEASES_EXPIRED, RUNNER_CPU),
    *(TRANSACTIONS, TRANSACTION_JOBS, REQUESTS, REQUEST_TIME, EXTRA_FAILURES),
)
PROCESS_GAUGES: Final = {  # states that processes report, summed over all of them
    "referee_streams": "Open event streams, in all API processes.",
    "referee_runner_matches": "Matches being played, in all work-horses.",
    "referee_open_files": "Open file descriptors of API processes and work-horses.",
}
