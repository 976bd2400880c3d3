from __future__ import annotations

from pathlib import Path

import pytest

from proband.planners import memory
from proband.planners.memory import available_memory, human_bytes


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (1.5e9, "1.5 GB"), (2.5e15, "2.5 PB"), (7e18, "7e+03 PB")],
)
def test_sizes_for_people(size: float, words: str) -> None:
    assert human_bytes(size) == words


def test_there_is_memory() -> None:
    assert 1e6 < available_memory() < 1e16


def test_a_control_group_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = {"/sys/fs/cgroup/memory.max": 5e6, "/sys/fs/cgroup/memory.current": 4e6}
    monkeypatch.setattr(memory, "_number", lambda path: numbers[str(path)])
    assert available_memory() == 1e6
    numbers["/sys/fs/cgroup/memory.current"] = 6e6
    assert available_memory() == 0


def test_without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(self: Path, *args: object, **options: object) -> str:
        raise FileNotFoundError(str(self))

    monkeypatch.setattr(Path, "read_text", missing)
    assert available_memory() > 1e6
