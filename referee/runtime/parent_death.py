"""Signal a child process when its parent dies, by whatever cause (``PR_SET_PDEATHSIG``).

Linux only. On other systems a child can outlive its parent; the next start then replaces it.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def set_parent_death_signal(parent: int, death_signal: signal.Signals) -> None:
    """Have the kernel send ``death_signal`` to this process when its parent dies, or send it now if it is dead already.

    The kernel watches the thread that forked, so long-lived children have to be started from the main thread.
    """
    if _libc is None:
        return
    _libc.prctl(_PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), death_signal)


def make_preexec(death_signal: signal.Signals) -> Callable[[], None]:
    """Return a ``preexec_fn`` for ``subprocess.Popen`` that ties the child to this process."""
    parent = os.getpid()
    return lambda: set_parent_death_signal(parent, death_signal)
