"""What writing needs to know of the machine: its disk, and how busy others keep it."""

import os
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks import machine


def describe(folder):
    """Return what benchmarks tell of the machine, and the time of a sync."""
    about = machine.describe("optuna", "sqlalchemy")
    return about | {"sync": sync_time(folder), "versions": f"SQLite {sqlite3.sqlite_version}, {about['versions']}"}


def commit(folder):
    """Return the commit of the version in a folder; None if there is no folder."""
    if folder is None:
        return None
    command = ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout.strip() or "unknown"


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
