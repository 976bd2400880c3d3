"""Files that lie: whatever is damaged, a reader answers with one of our errors, or reads what is there.

The short version, in ``make test``, reads 200 damaged files of each kind; the long one (``make test-fuzz``) 10,000. No
error may come that is not ours, no process may crash or hang, and none may take more memory than is stated.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fuzz.kinds import KINDS, case
from tests.fuzz.running import Cases, Report

SEED = 20240607


def read_damaged(name: str, cases: int) -> Report:
    case(name, SEED, 0)  # the real files are made here, once for all children
    kind = KINDS[name]
    report = Cases(lambda number: case(name, SEED, number), kind.read, kind.ending).run(range(cases))
    sys.stdout.write(f"\n{name}: {report}\n")
    return report


def told(name: str, report: Report) -> str:
    """Return the failures, and how to run one again."""
    lines = [f"python -m tests.fuzz {name} {SEED} {number}  # {why[-300:]}" for number, why in report.failures.items()]
    return "\n".join([f"{len(lines)} of {report.cases} cases failed; run one again with", *lines[:20]])


@pytest.mark.parametrize("name", KINDS)
def test_two_hundred_damaged_files(name: str) -> None:
    report = read_damaged(name, 200)
    assert not report.failures, told(name, report)


@pytest.mark.fuzz
@pytest.mark.parametrize("name", KINDS)
def test_ten_thousand_damaged_files(name: str) -> None:
    report = read_damaged(name, 10_000)
    assert not report.failures, told(name, report)


def _crash(path: Path) -> bool:
    os.kill(os.getpid(), signal.SIGSEGV)
    return True


def _hang(path: Path) -> bool:
    time.sleep(3600)
    return True


def _allocate(path: Path) -> bool:
    return bool(bytearray(2**31))


def _raise(path: Path) -> bool:
    raise KeyError("field")


@pytest.mark.parametrize(
    ("wrong", "why"),
    [(_crash, "SIGSEGV"), (_hang, "more than"), (_allocate, "MemoryError"), (_raise, "KeyError")],
)
def test_a_failure_is_seen_and_blamed_on_its_case(wrong: Callable[[Path], bool], why: str) -> None:
    cases = Cases(
        lambda number: bytes([number]),
        lambda path: wrong(path) if path.read_bytes() in b"\1\4" else True,
        patience=1.0 if wrong is _hang else 60.0,
    )
    report = cases.run(range(6))
    assert {1, 4} <= set(report.failures)
    assert wrong is _hang or set(report.failures) == {1, 4}  # on busy cores a second passes in other cases, too
    assert all(why in text for text in report.failures.values())
    assert report.cases == 6
    assert report.accepted == 6 - len(report.failures)


@pytest.mark.parametrize("name", KINDS)
def test_real_files_are_taken_for_right(name: str, tmp_path: Path) -> None:
    for number, seed in enumerate(KINDS[name].seeds()):
        path = tmp_path / f"seed{KINDS[name].ending}"
        path.write_bytes(seed)
        assert KINDS[name].read(path), number


@pytest.mark.parametrize("name", KINDS)
def test_cases_can_be_made_again(name: str) -> None:
    for number in range(3):
        assert case(name, SEED, number) == case(name, SEED, number)
