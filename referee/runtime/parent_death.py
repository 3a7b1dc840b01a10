"""Tying a process to its parent: when the parent is gone, however it went, the child is told by a signal.

Linux only; elsewhere nothing is tied, and what outlives its parent is taken over at the next start.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def tie(parent: int, word: signal.Signals) -> None:
    """Asks the kernel to send ``word`` to this process at its parent's death; sends it if that is past.

    The kernel watches the thread that forked, so children that shall live are started by a main thread.
    """
    if _libc is None:
        return
    _libc.prctl(_PR_SET_PDEATHSIG, int(word), 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), word)


def make_preexec(word: signal.Signals) -> Callable[[], None]:
    """``tie`` to the present process, in the form ``subprocess.Popen(preexec_fn=...)`` wants."""
    parent = os.getpid()
    return lambda: tie(parent, word)
