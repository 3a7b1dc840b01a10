"""Run Python functions in processes forked from this one, which share the memory of the modules that it imported."""

import atexit
import gc
import os
import pkgutil
import signal
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path

from referee.runtime.parent_death import name_process, set_parent_death_signal


def preload(references: Sequence[str]) -> None:
    """Import what "module:function" or "module" names.

    Keep all objects out of garbage collection, which would copy their memory pages into each process.
    """
    for reference in references:
        pkgutil.resolve_name(reference)
    gc.collect()
    gc.freeze()


class ForkedProcess:
    """Represent a process that calls a function of this program and exits with the status that it returns.

    It has what ``subprocess.Popen`` has as far as a supervisor uses it. This process must have one thread, because a
    lock that another thread holds would stay locked in the child.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        folder: Path,
        output: int,
        pass_fds: Sequence[int] = (),
    ) -> None:
        """Start the process in its own session. The kernel sends it SIGTERM if this process dies.

        ``command`` consists of "module:function" and the arguments that the function finds in ``sys.argv``. ``output``
        becomes its standard output and error.
        """
        self.returncode: int | None = None
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # no handler of ours runs there
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                set_parent_death_signal(parent, signal.SIGTERM)
                name_process(name)
                status = become_program(command, environment, folder, output, pass_fds)
            except BaseException:  # noqa: BLE001  # for example, the folder is gone; nobody else would print it
                traceback.print_exc()
            finally:
                os._exit(status)  # never return into the frames of the parent
        signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)

    def poll(self) -> int | None:
        """Return the exit status, minus the number of the signal if one ended the process, or None while it runs."""
        return self._wait(os.WNOHANG)

    def wait(self) -> int | None:
        """Wait for the exit, and return its status as ``poll`` does."""
        return self._wait(0)

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process is known to have exited."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def _wait(self, options: int) -> int | None:
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, options)
            except ChildProcessError:  # waited for elsewhere, so that its status is lost
                pid, status = self.pid, 0
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


def become_program(
    command: Sequence[str], environment: Mapping[str, str], folder: Path, output: int, pass_fds: Sequence[int] = ()
) -> int:
    """Call a function as the main program of this process, which was forked. Return its exit status."""
    _detach(output, pass_fds)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    return _call(command)


def _detach(output: int, pass_fds: Sequence[int]) -> None:
    """Give up what belongs to the parent: its session, signal handlers, functions to call at exit, and files."""
    os.setsid()
    atexit._clear()
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdout, sys.stderr = open(1, "w", buffering=1), open(2, "w", buffering=1)  # noqa: SIM115  # for good
    low = 3
    for fd in sorted(pass_fds):
        os.closerange(low, fd)
        os.set_inheritable(fd, True)
        low = fd + 1
    os.closerange(low, os.sysconf("SC_OPEN_MAX"))


def _call(command: Sequence[str]) -> int:
    """Call the function as the main program of this process. Return the status that an interpreter would exit with."""
    sys.argv = list(command)
    try:
        sys.exit(pkgutil.resolve_name(command[0])())
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            return error.code or 0
        sys.stderr.write(f"{error.code}\n")
        return 1
    except BaseException:  # noqa: BLE001  # the interpreter would print it, too
        traceback.print_exc()
        return 1
    finally:
        threading._shutdown()  # type: ignore[attr-defined]  # waits for the other threads
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
