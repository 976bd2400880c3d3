"""On what a benchmark ran: the machine in words, without its name, and the versions."""

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("proband", "numpy", "scipy", "numba")


def describe(*more):
    """Return the machine, its load before the run, the versions (of further packages too) and the date."""
    versions = ", ".join(f"{name} {version(name)}" for name in (*PACKAGES, *more))
    return {
        "machine": f"{os.cpu_count()} cores, {processor()}, {memory()}, {platform.system()} {platform.machine()}",
        "load": round(os.getloadavg()[0], 1),
        "versions": f"Python {platform.python_version()}, {versions}",
        "date": datetime.now(tz=UTC).date().isoformat(),
    }


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())


def memory():
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB of memory"
