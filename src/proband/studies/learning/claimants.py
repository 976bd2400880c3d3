"""Who claims something, so that others on the same machine can tell whether he is still there.

A process that was killed gives nothing up. Others can only wait whether it shows a sign of life again, unless they see
the same processes as it did: on one boot of one machine, in one namespace of processes (a container has its own). A
number of a process comes again; with the moment of its start it does not.
"""

from __future__ import annotations

import functools
import os
from contextlib import suppress
from pathlib import Path

DEAD = frozenset("ZX")
"""States of a process that does nothing any more."""


def claimant() -> str:
    """Return who this process is; nothing where the system does not tell.

    Examples
    --------
    >>> is_gone(claimant()), is_gone("")
    (False, False)
    """
    place, started = _place(), _state(os.getpid())[1:]
    return f"{place}/{os.getpid()}/{started}" if place and started else ""


def is_gone(who: str) -> bool:
    """Return whether a process is known to have ended."""
    place, _, rest = who.partition("/")
    number, _, started = rest.partition("/")
    if not place or place != _place() or not (number.isascii() and number.isdecimal()) or len(number) > 9:
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:  # it is there, and somebody else's
        return False
    state = _state(int(number))
    return bool(state) and (state[0] in DEAD or state[1:] != started)


@functools.cache
def _place() -> str:
    """Return which processes this one sees."""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}-{os.readlink('/proc/self/ns/pid').strip('pid:[]')}"
    return ""


def _state(number: int) -> str:
    """Return the state of a process, a letter, and when it started, in ticks since the boot; nothing if unknown."""
    with suppress(OSError, IndexError):
        told = Path(f"/proc/{number}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return told[0] + told[19]
    return ""
