"""Set what Linux keeps for a process: the signal that it gets when its parent dies (``PR_SET_PDEATHSIG``), its name.

On other systems, a child can outlive its parent, and the next start replaces it.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def set_parent_death_signal(parent: int, death_signal: signal.Signals) -> None:
    """Make the kernel send ``death_signal`` to this process when process ``parent`` dies. Send it now if that has died.

    The kernel watches the thread that forked, so long-lived children must be started from the main thread.
    """
    if _libc is None:
        return
    _libc.prctl(_PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), death_signal)


def name_process(name: str) -> None:
    """Show this process under a name in ``ps -e`` and ``top``, which show its first 15 bytes."""
    if _libc is not None:
        _libc.prctl(_PR_SET_NAME, name.encode(), 0, 0, 0)


def make_preexec(death_signal: signal.Signals) -> Callable[[], None]:
    """Return a ``preexec_fn`` for ``subprocess.Popen`` that sends the child ``death_signal`` when this process dies."""
    parent = os.getpid()
    return lambda: set_parent_death_signal(parent, death_signal)
