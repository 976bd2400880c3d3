"""Who claims something: known to be gone only when he is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from proband.studies.learning.claimants import claimant, is_gone


@pytest.fixture
def other() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Another process, and who it says that it is."""
    said = "from proband.studies.learning.claimants import claimant; print(claimant(), flush=True); input()"
    command = [sys.executable, "-c", said]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
        process.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="no other system tells")
def test_a_process_is_gone_when_it_was_killed_and_not_before(other: tuple[subprocess.Popen[str], str]) -> None:
    process, who = other
    assert who
    assert who != claimant()
    assert not is_gone(who)
    os.kill(process.pid, signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert is_gone(who), "nobody has waited for it yet"
    process.wait()
    assert is_gone(who)


def test_of_others_nothing_is_known() -> None:
    place, number, started = claimant().split("/") if claimant() else ("here", "1", "2")
    for who in ("", "-", "nonsense", f"elsewhere/{number}/{started}", f"{place}/-1/{started}", f"{place}/x/{started}"):
        assert not is_gone(who)
    assert not is_gone(f"{place}/{number}/{started}")
    assert is_gone(f"{place}/{number}/{started}0") == bool(claimant()), "its number, and a later start"
