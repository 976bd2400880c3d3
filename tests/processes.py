"""Work in a forked child, with what comes of it."""

from __future__ import annotations

import os
import pwd
import warnings
from collections.abc import Callable


def fork() -> int:
    """Fork, although there may be threads: those of the test runner hold nothing that a child needs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def in_child(task: Callable[[], str], *, as_nobody: bool = False) -> str:
    """Return what a task gives in a forked child, or the name and text of the error it raises.

    With `as_nobody`, a child of root gives up its rights first: nothing is read-only for root.
    """
    reading, writing = os.pipe()
    child = fork()
    if child:
        os.close(writing)
        with os.fdopen(reading) as pipe:
            result = pipe.read()
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0, f"the child ended with {status}: {result}"
        return result
    try:
        if as_nobody and os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.setgroups([])
            os.setgid(nobody.pw_gid)
            os.setuid(nobody.pw_uid)
        result = task()
    except Exception as error:
        result = f"{type(error).__name__}: {error}"
    except BaseException:
        os._exit(1)
    os.write(writing, result.encode())
    os._exit(0)
