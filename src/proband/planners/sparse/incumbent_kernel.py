r"""Good policies early: grow by entropy gain per cost, prune by cost, try a few tests at each state.

The beam fills upper bounds of states in the memo; the search and later, wider beams start from them. A test's
gain is the fall of the entropy of the classes, where the mass of class y in a set is read off its losses as
:math:`\sum_{y'} loss(y') / (a - 1) - loss(y)` (exact for reward 1 for the right label); for the match reward it is the
entropy of the split itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proband.compiling import inner, kernel
from proband.planners.sparse.bundle import Bundle
from proband.planners.sparse.instance import UNLIMITED, Instance, Number
from proband.planners.sparse.margins_kernel import margins, price_of, select_tests, units_of
from proband.planners.sparse.memo_kernel import NODES, Memo, find_child, make_child, nothing_left
from proband.planners.sparse.scratch import Scratch

__all__ = ["Beam", "beam_slice", "incumbent_nodes", "new_beam", "settle_upper", "start_beam"]

DONE, PAUSED, FULL = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Beam(Bundle):
    """Explicit stack of the beam: one row per level."""

    height: NDArray[np.int64]
    node: NDArray[np.int64]
    tests: NDArray[np.int64]
    tried: NDArray[np.int64]
    position: NDArray[np.int64]
    outcome: NDArray[np.int64]
    total: NDArray[np.float64]
    score: NDArray[np.float64]
    width: NDArray[np.int64]
    found: NDArray[np.int64]


def new_beam(instance: Instance, most: int = 128) -> Beam:
    """Allocate a beam of at most `most` tests per state."""
    levels = 2 * instance.outcomes.size + 4
    most = max(1, min(most, instance.outcomes.size))
    integers = [np.zeros(levels, dtype=np.int64) for _ in range(5)]
    return Beam(
        height=np.zeros(1, dtype=np.int64),
        node=integers[0],
        tests=np.zeros((levels, most), dtype=np.int64),
        tried=integers[1],
        position=integers[2],
        outcome=integers[3],
        total=np.zeros(levels),
        score=np.zeros(most),
        width=integers[4],
        found=np.zeros(2 * instance.bits + 64, dtype=np.int64),
    )


def start_beam(beam: Beam, root: int, widths: Sequence[int]) -> None:
    """Put a root on the stack; level k tries widths[k] tests, the levels below them one."""
    beam.height[0] = 1
    beam.node[0] = root
    beam.tried[0] = -1
    beam.width[:] = 1
    beam.width[: len(widths)] = widths[: beam.width.size]
    np.minimum(beam.width, beam.tests.shape[1], out=beam.width)


@kernel
def incumbent_nodes(instance: Instance, memo: Memo, beam: Beam, root: int) -> Any:
    """Fill `found` with the states of the incumbent policy below a root; returns their number."""
    found = beam.found
    found[0] = root
    count, place = 1, 0
    while place < count:
        node = found[place]
        place += 1
        test = np.int64(memo.best[node])
        if test < 0:
            continue
        for b in range(instance.outcomes[test]):
            child = find_child(instance, memo, node, test, b)
            if child >= 0 and count < found.size and memo.mass[child] > 0.0:
                found[count] = child
                count += 1
    return count


@kernel
def settle_upper(instance: Instance, memo: Memo, beam: Beam, count: int) -> None:
    """Carry better upper bounds of the incumbent's states up to the root."""
    for place in range(count - 1, -1, -1):
        node = beam.found[place]
        test = np.int64(memo.best[node])
        if test < 0:
            continue
        total = price_of(instance, test, memo.mask[node]) * memo.mass[node]
        for b in range(instance.outcomes[test]):
            child = find_child(instance, memo, node, test, b)
            if child >= 0:
                total += memo.upper[child]
            elif not nothing_left(memo.bits[node], instance.cell_rows[instance.level_offset[b] + test]):
                total = np.inf
        memo.upper[node] = min(memo.upper[node], total)


@inner
def _impurity(instance: Instance, values: Any, c: Number) -> Any:
    """Entropy of the classes of the value vector in column c, times their mass."""
    if instance.match:
        return values[0, c] * np.log(values[0, c]) if values[0, c] > 0.0 else 0.0
    decisions = values.shape[0] - 1
    if decisions < 2:
        return 0.0
    whole = 0.0
    for v in range(1, decisions + 1):
        whole += values[v, c]
    share = whole / (decisions - 1)
    mass, entropy = 0.0, 0.0
    for v in range(1, decisions + 1):
        x = share - values[v, c]
        if x > 0.0:
            mass += x
            entropy -= x * np.log(x)
    return entropy + mass * np.log(mass) if mass > 0.0 else 0.0


@inner(inline=True)
def _candidates(instance: Instance, memo: Memo, scratch: Scratch, beam: Beam, level: int) -> None:
    """Fill the tests to try at the state on this level, best first."""
    node = beam.node[level]
    beam.tried[level] = 0
    beam.position[level] = 0
    beam.outcome[level] = -1
    memo.beam[node] = max(memo.beam[node], beam.width[level])
    if memo.depth[node] == 0 or memo.lower[node] >= memo.upper[node] - instance.tolerance:
        return
    bits, mask, budget = memo.bits[node], memo.mask[node], memo.budget[node]
    margins(instance, scratch, bits)
    chosen = select_tests(instance, scratch, bits, mask, budget)
    before = _impurity(instance, scratch.total, np.int64(0))
    for a in range(chosen):
        test = scratch.active[a]
        price = price_of(instance, test, mask)
        if price * memo.mass[node] >= memo.upper[node]:
            continue
        if budget < UNLIMITED and units_of(instance, test, mask) > budget:
            continue
        gain = before
        for b in range(instance.outcomes[test]):
            gain -= _impurity(instance, scratch.margin, instance.level_offset[b] + test)
        score = gain / (price + 1e-9)
        place = beam.tried[level]
        while place > 0 and beam.score[place - 1] < score:
            place -= 1
        if place >= beam.width[level]:
            continue
        if beam.tried[level] < beam.width[level]:
            beam.tried[level] += 1
        for k in range(beam.tried[level] - 1, place, -1):
            beam.score[k] = beam.score[k - 1]
            beam.tests[level, k] = beam.tests[level, k - 1]
        beam.score[place] = score
        beam.tests[level, place] = test


@inner
def _next_child(instance: Instance, memo: Memo, beam: Beam, level: int) -> Any:
    """Advance to the next outcome of the current test; returns its node, or -1 when there is none."""
    node = beam.node[level]
    test = beam.tests[level, beam.position[level]]
    while beam.outcome[level] + 1 < instance.outcomes[test]:
        beam.outcome[level] += 1
        b = beam.outcome[level]
        if not nothing_left(memo.bits[node], instance.cell_rows[instance.level_offset[b] + test]):
            return make_child(instance, memo, node, test, b)
    return -1


@kernel
def beam_slice(instance: Instance, memo: Memo, scratch: Scratch, beam: Beam, steps: int) -> Any:
    """Run the beam until it is DONE, `steps` states were visited (PAUSED) or room is short (FULL)."""
    least = np.inf
    for j in range(instance.outcomes.size):
        least = min(least, min(instance.price[j], instance.group_price[j]))
    while beam.height[0] > 0:
        level = beam.height[0] - 1
        node = beam.node[level]
        if steps < 0:
            return PAUSED
        if memo.key.size - memo.size[NODES] < instance.cells.shape[1]:
            return FULL
        if beam.tried[level] < 0:
            steps -= 1
            _candidates(instance, memo, scratch, beam, level)
        if beam.position[level] >= beam.tried[level]:
            beam.height[0] -= 1
            if level > 0:
                beam.total[level - 1] += memo.upper[node]
            continue
        test = beam.tests[level, beam.position[level]]
        if beam.outcome[level] < 0:
            beam.total[level] = price_of(instance, test, memo.mask[node]) * memo.mass[node]
        child = -1
        if beam.total[level] < memo.upper[node]:
            child = _next_child(instance, memo, beam, level)
        if child < 0:
            if beam.total[level] < memo.upper[node] - 1e-3 * instance.tolerance:
                memo.upper[node] = beam.total[level]
                memo.best[node] = test
            beam.position[level] += 1
            beam.outcome[level] = -1
            continue
        done = memo.beam[child] >= beam.width[level + 1] or memo.stop[child] <= least * memo.mass[child]
        if done or memo.lower[child] >= memo.upper[child] - instance.tolerance:
            beam.total[level] += memo.upper[child]
            continue
        beam.height[0] += 1
        beam.node[level + 1] = child
        beam.tried[level + 1] = -1
    return DONE
