"""The stacks of the search and of the beam: numba caches no recursion, and Python looks in between slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from proband.planners.sparse.bundle import Bundle
from proband.planners.sparse.instance import Instance
from proband.vocabulary import FloatArray, IntArray

__all__ = ["DONE", "FULL", "PAUSED", "Beam", "Stack", "new_beam", "new_stack", "start_beam"]

DONE, PAUSED, FULL = 0, 1, 2
"""How a slice ended: nothing is left to do; its share of work is done; the memo has no room."""


@dataclass(frozen=True, eq=False)
class Stack(Bundle):
    """Open states from a root down, and the limit up to which each is to be raised."""

    height: IntArray
    node: IntArray
    limit: FloatArray


@dataclass(frozen=True, eq=False)
class Beam(Bundle):
    """States from a root down, and room for the `children` of one.

    Of the state on each level: the tests to try (`tried` of them, -1 before they are listed), the `position` of the one
    under trial, its current `outcome` and the `total` loss so far.
    """

    height: IntArray
    node: IntArray
    tests: IntArray
    tried: IntArray
    position: IntArray
    outcome: IntArray
    total: FloatArray
    score: FloatArray
    width: IntArray
    children: IntArray


def new_stack(instance: Instance) -> Stack:
    """Allocate a stack; no path is longer than twice the tests."""
    most = 2 * instance.outcomes.size + 8
    return Stack(np.zeros(1, dtype=np.int64), np.zeros(most, dtype=np.int64), np.zeros(most))


def new_beam(instance: Instance, most: int = 128) -> Beam:
    """Allocate a beam of at most `most` tests per state."""
    levels = 2 * instance.outcomes.size + 4
    most = max(1, min(most, instance.outcomes.size))
    node, tried, position, outcome, width = (np.zeros(levels, dtype=np.int64) for _ in range(5))
    return Beam(
        height=np.zeros(1, dtype=np.int64),
        node=node,
        tests=np.zeros((levels, most), dtype=np.int64),
        tried=tried,
        position=position,
        outcome=outcome,
        total=np.zeros(levels),
        score=np.zeros(most),
        width=width,
        children=np.zeros(instance.level_size.size, dtype=np.int64),
    )


def start_beam(beam: Beam, root: int, widths: Sequence[int]) -> None:
    """Put a root on the stack; level k tries widths[k] tests, the levels below them one."""
    beam.height[0] = 1
    beam.node[0] = root
    beam.tried[0] = -1
    beam.width[:] = 1
    beam.width[: len(widths)] = widths[: beam.width.size]
    np.minimum(beam.width, beam.tests.shape[1], out=beam.width)
