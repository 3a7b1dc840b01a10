"""A worker like any other, but with runners that are old after two seconds.

``python -m tests.end_to_end.short_lived_worker`` runs it.
"""

import sys

from workers import runner, worker


def main() -> int:
    runner.LIFETIME_S = 2.0  # in this process and its work-horses alone
    return worker.main()


if __name__ == "__main__":
    sys.exit(main())
