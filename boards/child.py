# SPDX-License-Identifier: MIT
"""child: how the programs of a run are started: they end when the runner does, however it ends, and
not by a Ctrl-C, which is the runner's to deal with."""
import ctypes
import signal

PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None)


def end_with_parent():
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


# For subprocess.Popen(). The parent is the thread that starts it: it must not end before.
OPTIONS = {"start_new_session": True, "preexec_fn": end_with_parent}
