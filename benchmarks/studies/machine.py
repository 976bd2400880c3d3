"""On what a benchmark ran: the machine in words, without its name, its disk, and the versions."""

import os
import platform
import sqlite3
import tempfile
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import proband

PACKAGES = ("numpy", "numba", "optuna", "sqlalchemy")


def describe(folder):
    """Return the machine, its load before the run, the time of a sync, the versions and the date."""
    return {
        "machine": f"{os.cpu_count()} cores, {processor()}, {memory()}, {platform.system()} {platform.machine()}",
        "load": round(os.getloadavg()[0], 1),
        "sync": sync_time(folder),
        "versions": f"proband {proband.__version__}, Python {platform.python_version()}, "
        f"SQLite {sqlite3.sqlite_version}, " + ", ".join(f"{name} {version(name)}" for name in PACKAGES),
        "date": datetime.now(tz=UTC).date().isoformat(),
    }


def sync_time(folder, runs=60):
    """Return the median time of writing a page and syncing it to the disk, in seconds."""
    times = []
    with tempfile.NamedTemporaryFile(dir=folder) as file:  # one with a name, as a database has
        for n in range(runs):
            began = time.perf_counter()
            os.pwrite(file.fileno(), b"x" * 4096, 4096 * n)
            os.fsync(file.fileno())
            times.append(time.perf_counter() - began)
    return sorted(times)[runs // 2]


class Bystanders:
    """What other programs take of the processors between two moments; on Linux."""

    def __init__(self):
        self.began, self.busy, self.own = time.perf_counter(), busy_time(), own_time()

    def share(self):
        """Return their share of all cores, in [0, 1]; NaN where it cannot be told."""
        wall = time.perf_counter() - self.began
        others = busy_time() - self.busy - (own_time() - self.own)
        return max(0.0, others / (wall * os.cpu_count()))


def busy_time():
    """Return for how many seconds processors were busy since the machine started, all of them together."""
    try:
        numbers = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return float("nan")
    user, nice, system, _, _, interrupt, soft, *_ = map(int, numbers)
    return (user + nice + system + interrupt + soft) / os.sysconf("SC_CLK_TCK")


def own_time():
    """Return for how many seconds this program and those that it has waited for were on a processor."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())


def memory():
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB of memory"
