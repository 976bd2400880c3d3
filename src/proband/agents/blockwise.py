"""What every agent that learns in blocks does: one policy for a block of subjects, then learn from it, all at once.

What is told of the subjects of a block is collected until the block is over and put into an order of its own before
anything is added up: the same subjects lead to the same agent, bit for bit, in whatever order and pieces they are told.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from proband.agents.agent import FOREVER
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Policy, Records


class Blockwise(ABC):
    """An agent that plays one policy in each block of subjects.

    Parameters
    ----------
    problem : Problem
    first : int
        Length of the first block.

    Attributes
    ----------
    t : int
        Subjects told so far.
    left : int
        How many subjects are left of the block; :data:`~proband.agents.FOREVER` in one that never ends.
    """

    def __init__(self, problem: Problem, first: int = FOREVER) -> None:
        self.problem = problem
        self.t = 0
        self.left = first
        self._block: list[Records] = []

    @property
    def commitment(self) -> int:
        """The rest of the block."""
        return self.left

    def learn(self, records: Records) -> None:
        """Collect what was seen; when the block is over, learn from it."""
        self.t += records.n
        if self.left >= FOREVER or not records.n:
            return
        self._block.append(records)
        self.left -= records.n
        if self.left <= 0:
            block, self._block = self._block, []
            self.absorb(block)

    @abstractmethod
    def policy(self) -> Policy:
        """Return the policy of the block."""

    @abstractmethod
    def absorb(self, block: list[Records]) -> None:
        """Learn from a finished block, and begin the next one: its policy, and its length in :attr:`left`."""


def in_order(block: list[Records]) -> tuple[FloatArray, IntArray]:
    """Return the rows of a block in an order of their own, equal ones counted together, and their counts."""
    if len(block) == 1 and len(block[0]) == 1:
        return block[0].outcomes, block[0].counts
    rows = np.vstack([records.outcomes for records in block])
    counts = np.concatenate([records.counts for records in block])
    rows, counts = rows[counts > 0], counts[counts > 0]
    order = _order(rows)
    rows, counts = rows[order], counts[order]
    new = np.ones(len(rows), dtype=np.bool_)
    new[1:] = ((rows[1:] != rows[:-1]) & ~(np.isnan(rows[1:]) & np.isnan(rows[:-1]))).any(axis=1)
    return rows[new], np.add.reduceat(counts, np.flatnonzero(new)) if len(rows) else counts


def _order(rows: FloatArray) -> IntArray:
    """Return an order of the rows that does not depend on how they came; by one test where its values differ."""
    known = np.flatnonzero(~np.isnan(rows).any(axis=0))
    if len(known):
        order = np.argsort(rows[:, known[0]], kind="stable")
        if (np.diff(rows[order, known[0]]) > 0).all():
            return order
    return np.lexsort(rows.T[::-1])
