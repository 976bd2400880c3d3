"""A line with thirty tests, some prepared together, one known on arrival; the truth is bought or revealed late."""

from __future__ import annotations

import numpy as np

from proband import Problem, Test
from proband.rewards import Table
from proband.tables import write_table
from proband.vocabulary import FloatArray

LAW = "thirty.toml --data thirty-records.csv"


def line(*, late: bool = False) -> Problem:
    """Return the problem."""
    tests = [Test("shift", outcomes=("day", "night"), on_arrival=True)]
    tests += [Test(f"probe {i}", 0.02) for i in range(20)]
    tests += [Test(f"bath {i}", 0.05, group="bath", group_cost=0.02) for i in range(8)]
    tests.append(Test("burn-in", 0.0 if late else 0.25, available=not late))
    return Problem(tests, ["pass", "fail"], Table(["burn-in"], [[1, 0], [0, 1]]))


def subjects(problem: Problem, n: int, seed: int) -> FloatArray:
    """Return subjects of the line, two fifths of them bad."""
    rng = np.random.default_rng(seed)
    bad = rng.random(n) < 0.4
    rows = (rng.random((n, problem.d)) < np.where(bad, 0.75, 0.2)[:, None]).astype(float)
    rows[:, -1] = bad
    return rows


TOLD = line().describe(subjects(line(), 1, seed=2)[0])
"""What is told of a subject."""


def write() -> None:
    """Write the problem file, and a table of past subjects."""
    problem = line()
    problem.save("thirty.toml")
    write_table("thirty-records.csv", problem.tests, subjects(problem, 120, seed=1))
