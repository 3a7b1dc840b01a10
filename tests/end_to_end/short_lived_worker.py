"""A worker like any other, but with runners that are old after two seconds."""

from workers import runner, worker


def main() -> int:
    runner.LIFETIME_S = 2.0  # in this process and its work-horses alone
    return worker.main()
