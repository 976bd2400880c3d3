"""The induction for one score: the losses of all sets of tests, largest sets first.

Sets of one size depend on those with one test more only, and are solved side by side by all cores.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial

import numpy as np

from proband.errors import TooLargeError
from proband.planners.gaussian.line.basis_kernel import N
from proband.planners.gaussian.line.conditioning_kernel import condition_many
from proband.planners.gaussian.line.induction_kernel import solve_sets
from proband.planners.gaussian.line.instance import Instance
from proband.planners.gaussian.line.tables import (
    Arrays,
    Edges,
    Functions,
    Level,
    Panels,
    Pieces,
    Scratch,
    Settings,
    Workspace,
)
from proband.planners.memory import human_bytes, human_number
from proband.vocabulary import IntArray

BYTES_A_PANEL = 8 * N + 8 + 8 + 2
BYTES_A_SET = 8 + 4 + 8 + 8
PANELS_A_TURN = 6
"""About what a set takes around one turn of the best decision."""

MOST_SETS = 2**26
LARGEST_SHARE = 256
"""Sets that a core takes at a time, at most."""


PANELS_A_SET = 16
"""There is room for so many, on the average; where it does not do, a share is solved in parts."""


class Induction:
    """Solves level after level and keeps the panels."""

    def __init__(self, instance: Instance, settings: Settings, sizes: int, memory: float, deadline: float) -> None:
        self.instance, self.settings, self.memory, self.deadline = instance, settings, memory, deadline
        sets = np.arange(2 ** len(instance.peers), dtype=np.int64)
        self.first = np.zeros(len(sets), dtype=np.int64)
        self.length = np.zeros(len(sets), dtype=np.int32)
        self.error = np.zeros(len(sets))
        self.sets = [sets[np.bitwise_count(sets) == size] for size in range(sizes + 1)]
        self.levels: list[Level] = []
        self.workspaces = free_workspaces(len(instance.peers), len(instance.intercepts), len(instance.turns))
        self.complete = True

    def solve(self) -> Iterator[tuple[int, int]]:
        """Solve all levels; yields how many sets are done, and how many there are."""
        total, solved, cores = sum(map(len, self.sets)), 0, os.cpu_count() or 1
        below = self._level((np.zeros(0), np.zeros(0), np.zeros((0, N)), np.zeros(0, dtype=np.int16)))
        threads = ThreadPoolExecutor(cores)
        try:
            for sets in self.sets[::-1]:
                shares = _shares(sets, cores)
                solve = partial(self._solve, below, not self.levels)
                found: list[Arrays] = []
                results = map(solve, shares) if len(shares) == 1 else threads.map(solve, shares)
                for share, panels in zip(shares, results, strict=True):
                    found += panels
                    solved += len(share)
                    yield solved, total
                below = self._keep(sets, found)
                self._check_memory(solved, total)
        finally:
            threads.shutdown(cancel_futures=True)  # also where an interrupt, or the caller, ends it early

    def _solve(self, below: Level, final: bool, sets: IntArray) -> list[Arrays]:
        late = time.perf_counter() > self.deadline
        if late and not final:
            self.complete = False
        instance, work = self.instance, self.workspaces.pop() if self.workspaces else new_workspace(self.instance)
        found = []
        while len(sets):
            deviations, steps = condition_many(instance.factors, sets, instance.noise)
            solved, panels = solve_sets(
                instance, below, self.settings, *work, sets, deviations, steps, final, late
            )  # fmt: skip
            found.append(work.kept.copied(panels))
            sets = sets[solved:]
        self.workspaces.append(work)
        return found

    def _keep(self, sets: IntArray, found: list[Arrays]) -> Level:
        counts = self.length[sets]
        self.first[sets] = np.cumsum(counts) - counts
        low, high, values, actions = found[0]
        if len(found) > 1:
            low, high, values, actions = (np.concatenate(parts) for parts in zip(*found, strict=True))
        self.levels.append(self._level((low, high, values, actions)))
        return self.levels[-1]

    def _level(self, panels: Arrays) -> Level:
        return Level(self.first, self.length, self.error, *panels)

    def _check_memory(self, solved: int, total: int) -> None:
        used = BYTES_A_PANEL * sum(len(level.low) for level in self.levels)
        growth = total / solved if 10 * solved > total else 1.0
        expected = BYTES_A_SET * len(self.first) + used * growth
        if expected > self.memory:
            raise _too_large(expected, total, len(self.instance.peers), self.memory)


@lru_cache(maxsize=8)
def free_workspaces(m: int, n: int, turns: int) -> list[Workspace]:
    """Return the workspaces that no thread uses, for m tests, n decisions and turns: for a small plan, half of it."""
    return []


def new_workspace(instance: Instance) -> Workspace:
    """Return what a thread needs to solve sets of an instance."""
    m, n, turns = len(instance.peers), len(instance.intercepts), len(instance.turns)
    most = 512 + 64 * turns
    return Workspace(
        Edges.room(m), Functions.room(n + m), Pieces.room(n + m, most), Panels.room(most),
        Panels.room(PANELS_A_SET * LARGEST_SHARE + most), Scratch.room(turns, most), np.empty(n),
    )  # fmt: skip


def _shares(sets: IntArray, cores: int) -> list[IntArray]:
    """Cut the sets of a level into what a core takes at a time."""
    size = min(LARGEST_SHARE, max(16, len(sets) // (4 * cores)))
    return [sets[start : start + size] for start in range(0, len(sets), size)]


def check_size(instance: Instance, sizes: int, memory: float) -> None:
    """Raise unless the panels will fit, as far as that can be told before."""
    m, turns = len(instance.peers), len(instance.turns)
    sets = sum(math.comb(m, size) for size in range(sizes + 1))
    expected = float(BYTES_A_SET * 2**m + sets * BYTES_A_PANEL * PANELS_A_TURN * turns)
    if expected > memory or 2**m > MOST_SETS:
        raise _too_large(expected, sets, m, memory)


def _too_large(expected: float, sets: int, m: int, memory: float) -> TooLargeError:
    return TooLargeError(
        f"the Gaussian planner would need about {human_bytes(expected)} for {human_number(sets)} sets of {m} tests "
        f"that can be run; the limit is {human_bytes(memory)}; leave out tests, or limit their number with max_tests"
    )
