"""Every command of docs/operations.md is run, in its order, with a PostgreSQL server that it makes itself."""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.postgres import _binaries, _user
from tests.test_documents import blocks

from proband.cli import main

DOCUMENT = (Path(__file__).parents[1] / "docs" / "operations.md").read_text(encoding="utf-8")
COMMANDS = [line for block in blocks(DOCUMENT, "console") for line in block.splitlines()]
SERVERS = ("initdb", "pg_ctl", "psql", "createdb", "pg_dump", "pg_restore")
SECRETS = ("first", "second", "third")


class Shell:
    """Runs the commands in a folder: those of PostgreSQL as a user that it runs as, and over a socket in the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.user = folder, _user()
        self.path = f"{_binaries(folder)}:{os.environ['PATH']}"
        self._share()

    def run(self, line: str) -> None:
        """Run a command, and raise if it fails."""
        program, *arguments = shlex.split(self._here(line))
        if program == "proband":
            with pytest.raises(SystemExit) as stop:
                main(arguments)
            assert not stop.value.code, line
        elif program == "sqlite3":
            file, statement = arguments
            with sqlite3.connect(file) as database:
                database.execute(statement)
            database.close()
        else:
            other = {"user": self.user} if self.user is not None and program in SERVERS else {}
            ended = subprocess.run(
                ["bash", "-ec", self._here(line)], cwd=self.folder, capture_output=True, text=True, timeout=120,
                env={**os.environ, "PATH": self.path}, check=False, **other,
            )  # fmt: skip
            assert not ended.returncode, (line, ended.stderr)
        self._share()

    def _here(self, line: str) -> str:
        line = line.replace("localhost:5432", quote(str(self.folder), safe=""))
        line = line.replace("listen_addresses=localhost", f"listen_addresses='' -k {self.folder}")
        return line.replace("--host=localhost", f"--host={self.folder}")

    def _share(self) -> None:
        """Let the user of the server read the passwords; root may read them all the same."""
        if self.user is not None:
            for path in (self.folder, self.folder / "postgres.password", self.folder / ".pgpass"):
                if path.exists():
                    os.chown(path, self.user, -1)


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))  # the path of a socket is short
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder))
    for name in ("PGPASSWORD", "PGPASSFILE", "PROBAND_STORE"):
        monkeypatch.delenv(name, raising=False)
    made = Shell(folder)
    try:
        yield made
    finally:
        if (folder / "pgdata" / "postmaster.pid").exists():
            made.run("pg_ctl --pgdata=pgdata --mode=immediate stop")
        shutil.rmtree(folder)


def test_every_command_of_operations_runs(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    assert {line.split()[0] for line in COMMANDS} >= {"proband", "sqlite3", *SERVERS}
    for line in COMMANDS:
        shell.run(line)
    told = capsys.readouterr()
    assert not [secret for secret in SECRETS if secret in told.out + told.err]
    assert (shell.folder / ".pgpass").stat().st_mode & 0o777 == 0o600
    exports = [Path(path).read_text().splitlines() for path in ("backup/bolts.jsonl", "auditors.jsonl")]
    assert exports[1][1:5] == exports[0][1:]  # the same log, which went on in its new place
    assert len(exports[1]) == len(exports[0]) + 1


def test_the_commands_can_be_read_in_the_documentation_of_the_command_line() -> None:
    reference = (Path(__file__).parents[1] / "docs" / "command-line.md").read_text(encoding="utf-8")
    for line in COMMANDS:
        if line.startswith("proband study "):
            assert f"### `{' '.join(line.split()[:3])}`" in reference
