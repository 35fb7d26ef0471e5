"""The last step before a server runs: give up rights, tie its life to the parent, become it.

Run by path as a program of its own. Doing this after the fork in the parent instead
(``preexec_fn``) can deadlock a process with threads, and the rights have to be given up before
the kernel is asked for the death signal, which a change of user takes away again.

Arguments: parent's process id, user id and group id (-1: stay), death signal, program, arguments.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """Turn this process into the server, or leave when the parent is already gone."""
    parent, user, group, farewell = (int(text) for text in arguments[:4])
    # The interpreter ignores these two, and what is ignored stays so in the next program.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    os.umask(0o077)
    if user >= 0:
        os.setgroups([])
        os.setgid(group)
        os.setuid(user)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, farewell, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("the process that asked for this server is gone")
    os.execv(arguments[4], arguments[4:])  # noqa: S606 - a fixed program; a shell is not wanted


if __name__ == "__main__":
    main(sys.argv[1:])
