"""How much memory there is, and how to say it."""

from __future__ import annotations

import math
import os
from pathlib import Path

from proband.quantities import with_powers


def available_memory() -> float:
    """Return the bytes that a computation may take now: what the system, or its control group, has free."""
    free = _system_memory()
    limit = _number(Path("/sys/fs/cgroup/memory.max"))
    used = _number(Path("/sys/fs/cgroup/memory.current"))
    return free if limit is None or used is None else min(free, max(limit - used, 0.0))


def human_bytes(size: float) -> str:
    """Return a size for people.

    Examples
    --------
    >>> human_bytes(1.5e9)
    '1.5 GB'
    """
    for unit in ("B", "kB", "MB", "GB", "TB", "PB"):
        if size < 1000 or unit == "PB":
            return f"{size:.3g} {unit}"
        size /= 1000
    raise AssertionError


def human_number(number: int) -> str:
    """Return a whole number of any size for people.

    Examples
    --------
    >>> human_number(59049), human_number(3**700)
    ('59,049', 'about 10³³⁴')
    """
    return f"{number:,}" if number < 10**12 else with_powers(f"about 1e{round(math.log10(number))}")


def _system_memory() -> float:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024
    except OSError:
        pass
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) / 2


def _number(path: Path) -> float | None:
    try:
        return float(path.read_text())
    except (OSError, ValueError):
        return None
