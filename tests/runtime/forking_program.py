"""Fork processes as a supervisor does, and print how each ended, as JSON: ``python forking_program.py FOLDER``."""

import atexit
import json
import os
import signal
import sys
import time
from pathlib import Path

from referee.runtime import forked_process
from referee.runtime.forked_process import ForkedProcess

HERE = "tests.runtime.forking_program"


def describe() -> int:
    """Print what the process finds, and return 7."""
    fds = [int(name) for name in os.listdir("/proc/self/fd")]
    found = {
        "argv": sys.argv,
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "input": sys.stdin.fileno() == 0 and os.read(0, 10) == b"",
        "fds": [fd for fd in fds if fd > 2 and Path(f"/proc/self/fd/{fd}").exists()],
        "session": os.getsid(0) == os.getpid(),
        "name": Path("/proc/self/comm").read_text().strip(),
        "handlers": [signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, signal.getsignal(signal.SIGHUP)],
        "wakeup": signal.set_wakeup_fd(-1),
    }
    atexit.register(sys.stdout.write, "exit of the child\n")
    print(json.dumps(found))
    return 7


def complain() -> None:
    sys.exit("this is why")


def fail() -> None:
    raise ValueError("broken")


def succeed() -> None:
    pass


def sleep() -> None:
    print("sleeps", flush=True)
    time.sleep(600)


def main() -> None:
    folder = Path(sys.argv[1])
    forked_process.preload([f"{HERE}:describe"])
    atexit.register(sys.stdout.write, "exit of the parent\n")
    signal.signal(signal.SIGTERM, lambda *_: None)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    passed = os.open(os.devnull, os.O_RDONLY)
    os.open(os.devnull, os.O_RDONLY)
    signal.set_wakeup_fd(os.pipe2(os.O_NONBLOCK)[1])

    def start(name: str, where: Path = folder) -> ForkedProcess:
        output = os.open(folder / name, os.O_WRONLY | os.O_CREAT)
        return ForkedProcess(
            f"child-{name}",
            [f"{HERE}:{name}", "--first", "second"],
            environment={"ONLY": "this"},
            folder=where,
            output=output,
            pass_fds=(passed,),
        )

    ended = {name: start(name).wait() for name in ("describe", "complain", "fail", "succeed", "nothing")}
    start("astray", folder / "gone").wait()
    sleeper = start("sleep")
    running = sleeper.poll()
    sleeper.send_signal(signal.SIGTERM)
    killed = sleeper.wait()
    sleeper.send_signal(signal.SIGTERM)  # to nobody
    orphan = start("sleep")
    print(json.dumps({"ended": ended, "running": running, "killed": killed, "passed": passed, "orphan": orphan.pid}))


if __name__ == "__main__":
    main()
