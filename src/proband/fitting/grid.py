"""The cells of a problem: everything that can be known of a subject in operation, listed.

A cell is what the tests known on arrival and those that can be run show together; cells are the complete states of
:mod:`proband.planners.layout`. Labels are what the reward's targets show together; a target that can be run is part of
the cell as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from proband.planners.dense import complete_codes
from proband.planners.layout import Layout, layout_of
from proband.problem import Problem
from proband.rewards import Table
from proband.vocabulary import FloatArray, IntArray, outcome_codes, outcome_rows


@dataclass(frozen=True, eq=False)
class Grid:
    """Cells and labels of a problem whose reward is a table.

    Examples
    --------
    >>> from proband.instances import bolts
    >>> grid = Grid(bolts().problem)
    >>> len(grid.cells), grid.n_labels
    (1728, 8)
    """

    problem: Problem

    @cached_property
    def layout(self) -> Layout:
        """How states are numbered."""
        return layout_of(self.problem)

    @cached_property
    def visible(self) -> IntArray:
        """Tests that can be known in operation, shape (visible,)."""
        return np.flatnonzero([test.available for test in self.problem.tests])

    @cached_property
    def targets(self) -> IntArray:
        """Tests that the reward is about."""
        assert isinstance(self.problem.reward, Table)
        return np.array([self.problem.test_index(name) for name in self.problem.reward.targets], dtype=np.int64)

    @cached_property
    def hidden(self) -> IntArray:
        """Targets that nobody can know in operation."""
        return np.array([i for i in self.targets if not self.problem.tests[i].available], dtype=np.int64)

    @cached_property
    def features(self) -> IntArray:
        """Visible tests that are no targets: what labels are told by."""
        return np.setdiff1d(self.visible, self.targets)

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return int(np.prod(self.problem.k[self.targets]))

    def labels(self, rows: FloatArray) -> IntArray:
        """Return the labels of complete rows (n, d), shape (n,)."""
        return outcome_codes(rows[:, self.targets], [self.problem.tests[i] for i in self.targets])

    @cached_property
    def label_rows(self) -> FloatArray:
        """What the targets show, for each label, shape (labels, targets)."""
        return outcome_rows(np.arange(self.n_labels), [self.problem.tests[i] for i in self.targets])

    @cached_property
    def label_payoff(self) -> FloatArray:
        """What each decision brings, for each label, shape (labels, decisions)."""
        rows = np.zeros((self.n_labels, self.problem.d))
        rows[:, self.targets] = self.label_rows
        return self.problem.payoff(rows)

    @cached_property
    def cells(self) -> FloatArray:
        """The rows of all cells, by their number, shape (cells, d); NaN for tests that cannot be known."""
        order = [*self.layout.context, *self.layout.tests]
        number = int(np.prod(self.problem.k[order]))
        rows = np.full((number, self.problem.d), np.nan)
        rows[:, order] = outcome_rows(np.arange(number), [self.problem.tests[i] for i in order])
        return rows

    def cell_of(self, rows: FloatArray) -> IntArray:
        """Return the cells of complete rows (n, d), shape (n,)."""
        return complete_codes(self.layout, np.nan_to_num(rows))

    @cached_property
    def agreeing(self) -> FloatArray:
        """1 where a label agrees with what a cell shows of the targets that can be run, else 0; (cells, labels)."""
        agrees = np.ones((len(self.cells), self.n_labels))
        for place, i in enumerate(self.targets):
            if self.problem.tests[i].available:
                agrees *= self.cells[:, [i]] == self.label_rows[:, place]
        return agrees
