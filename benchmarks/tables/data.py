"""Tables with test costs in the form of the pystreed repository: reading, scoring, and translating into problems."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from proband import Problem, Records, Test
from proband.rewards import Table

NAMES = ("heart", "car", "diabetes")
LEVELS = ("low", "middle", "high")
SPLITS = tuple(range(1, 11))
TUNED = (1, 2, 3)
"""Splits that were looked at while the recipe was made; the others were not."""


@dataclass(frozen=True)
class Priced:
    """A test: name, cost, cost once another test of its group was done, group ("x" for none), its binary columns."""

    name: str
    cost: float
    group_cost: float
    group: str
    first: int
    last: int


@dataclass(frozen=True)
class Prices:
    """The costs of errors (true class × decision), and of tests."""

    errors: np.ndarray
    tests: tuple[Priced, ...]

    @classmethod
    def read(cls, path):
        """Read NAME-LEVEL-costs.csv: the matrix, a line of headings, a line a test."""
        lines = [line.split() for line in Path(path).read_text().splitlines() if line.strip()]
        head = next(number for number, line in enumerate(lines) if line[0] == "Attribute-name")
        tests = [
            Priced(name, float(cost), float(later), group, int(first), int(last))
            for name, cost, later, group, first, last in lines[head + 1 :]
        ]
        return cls(np.array(lines[:head], dtype=float), tuple(tests))

    @cached_property
    def everything(self):
        """What all tests cost together, in their order, group discounts applied."""
        opened, total = set(), 0.0
        for test in self.tests:
            total += test.group_cost if test.group in opened else test.cost
            opened |= {test.group} - {"x"}
        return total

    def score(self, costs, labels):
        """Return the score of subjects for whom tests and errors cost so much: lower is better.

        The mean, over what testing everything would cost plus the dearest error for all that are not of the commonest
        class. Computed as pystreed does.
        """
        rare = 1 - np.bincount(labels).max() / len(labels)
        return float(np.mean(costs) / (self.everything + rare * self.errors.max()))


@dataclass(frozen=True)
class Split:
    """Training and test rows: labels and binary columns (n, 1 + columns)."""

    train: np.ndarray
    test: np.ndarray
    prices: Prices

    @classmethod
    def read(cls, folder, name, level, number):
        rows = (
            np.loadtxt(Path(folder) / name / f"{name}-{part}-{number}.csv", dtype=np.int64)
            for part in ("train", "test")
        )
        return cls(*rows, Prices.read(Path(folder) / name / f"{name}-{level}-costs.csv"))

    @cached_property
    def k(self):
        """How many outcomes each test has: a binary column has two, several one each, and one if none is set."""
        both = np.vstack([self.train, self.test])
        made = [test.last - test.first + 1 for test in self.prices.tests]
        none = [(both[:, 1 + t.first : 2 + t.last].sum(axis=1) == 0).any() for t in self.prices.tests]
        return [2 if k == 1 else k + int(extra) for k, extra in zip(made, none, strict=True)]

    def outcomes(self, rows):
        """Return outcome numbers (n, tests) of binary rows."""
        made = np.empty((len(rows), len(self.prices.tests)), dtype=np.int64)
        for i, test in enumerate(self.prices.tests):
            columns = rows[:, 1 + test.first : 2 + test.last]
            several = np.where(columns.any(axis=1), columns.argmax(axis=1), columns.shape[1])
            made[:, i] = columns[:, 0] if columns.shape[1] == 1 else several
        return made

    @cached_property
    def problem(self):
        """The problem: the class is known of past subjects only, and an error earns minus its cost."""
        tests = [
            Test(t.name, t.cost, [str(b) for b in range(k)], **self._group(t))
            for t, k in zip(self.prices.tests, self.k, strict=True)
        ]
        classes = [f"class {label}" for label in range(len(self.prices.errors))]
        truth = Test("class", 0.0, classes, available=False)
        return Problem([*tests, truth], classes, Table(["class"], -self.prices.errors))

    def records(self, rows):
        """Return rows as records: the outcomes of the tests, and the class."""
        return Records(np.column_stack([self.outcomes(rows), rows[:, 0]]).astype(float))

    def score_policy(self, policy):
        """Return the score of a policy on the test rows."""
        rows = self.records(self.test)
        whole = np.repeat(rows.outcomes, rows.counts, axis=0)
        ended = policy.run(whole)
        costs = ended.costs - self.problem.realised(whole, ended.actions)
        return self.prices.score(costs, self.test[:, 0])

    def _group(self, test):
        return {} if test.group == "x" else {"group": test.group, "group_cost": test.group_cost}
