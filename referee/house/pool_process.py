"""Search for the processes of ``pool``: one question per line of standard input, one action per line of output.

It exits at the end of input. An error ends it too, and its traceback goes to standard error.
"""

import os
import signal
import sys

import orjson

from referee.house.search import search_action

NICENESS = 10  # below everything that matches wait for, such as the event loop that referees


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends the input
    os.nice(NICENESS)
    for line in sys.stdin.buffer:
        asked = orjson.loads(line)
        action = search_action(asked["game"], asked["question"], int(asked["seed"]))
        sys.stdout.buffer.write(orjson.dumps(action) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
