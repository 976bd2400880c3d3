"""On what a benchmark ran: the machine in words, without its name, and the versions."""

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("proband", "numpy", "scipy", "numba")


def describe():
    """Return the machine, its load before the run, the versions and the date."""
    return {
        "machine": f"one of {os.cpu_count()} cores, {processor()}, {platform.system()} {platform.machine()}",
        "load": round(os.getloadavg()[0], 1),
        "versions": f"Python {platform.python_version()}, " + ", ".join(f"{name} {version(name)}" for name in PACKAGES),
        "date": datetime.now(tz=UTC).date().isoformat(),
    }


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
