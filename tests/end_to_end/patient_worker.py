"""A worker like any other, but with leases of an hour: no test waits for one to expire."""

from referee.matches.deals import deal_groups
from referee.matches.queue import claims
from workers import worker

HOUR_S = 3600.0


def main() -> int:
    for leases in (claims.LEASES, deal_groups.LEASES):
        leases._lease_s = HOUR_S  # in this process and its work-horses alone
    return worker.main()
