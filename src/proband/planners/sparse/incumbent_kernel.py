r"""Good policies early: grow by entropy gain per cost, prune by cost, try a few tests at each state.

The beam fills upper bounds of states in the memo; the search and later, wider beams start from them. A test's
gain is the fall of the entropy of the classes, where the mass of class y in a set is read off its losses as
:math:`\sum_{y'} loss(y') / (a - 1) - loss(y)` (exact for reward 1 for the right label); for the match reward it is the
entropy of the split itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.compiling import inner, kernel
from proband.planners.sparse.instance import UNLIMITED, Instance, Number
from proband.planners.sparse.margins_kernel import price_of, survey, units_of
from proband.planners.sparse.memo import NODES, WORK, Memo
from proband.planners.sparse.memo_kernel import find_child, make_child, nothing_left, stand_at
from proband.planners.sparse.scratch import DONE, FULL, PAUSED, Beam, Scratch
from proband.planners.sparse.work_kernel import STEP, charge, survey_work


@kernel
def list_children(instance: Instance, memo: Memo, beam: Beam, node: int, test: int) -> None:
    """Fill `beam.children` with the node after each outcome of a test: -1 if it is not known, -2 if no row has it."""
    for b in range(instance.outcomes[test]):
        cell = instance.cell_rows[instance.level_offset[b] + test]
        empty = nothing_left(memo.bits[node], cell)
        beam.children[b] = -2 if empty else find_child(instance, memo, node, test, b)


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


@inner
def _insert(beam: Beam, level: int, test: int, score: float) -> None:
    """Put a test among the best ones of this level, if its score is."""
    place = beam.tried[level]
    while place > 0 and beam.score[place - 1] < score:
        place -= 1
    if place >= beam.width[level]:
        return
    if beam.tried[level] < beam.width[level]:
        beam.tried[level] += 1
    for k in range(beam.tried[level] - 1, place, -1):
        beam.score[k] = beam.score[k - 1]
        beam.tests[level, k] = beam.tests[level, k - 1]
    beam.score[place] = score
    beam.tests[level, place] = test


@inner(inline=True)
def _candidates(instance: Instance, memo: Memo, scratch: Scratch, beam: Beam, level: int) -> None:
    """Fill the tests to try at the state on this level, best first."""
    node = beam.node[level]
    beam.tried[level], beam.position[level], beam.outcome[level] = 0, 0, -1
    memo.beam[node] = max(memo.beam[node], beam.width[level])
    if memo.depth[node] == 0 or memo.lower[node] >= memo.upper[node] - instance.tolerance:
        return
    mask, budget = memo.mask[node], memo.budget[node]
    stand_at(memo, scratch, node)
    chosen = survey(instance, scratch, mask, budget)
    charge(memo, survey_work(instance, scratch))
    before = _impurity(instance, scratch.total, np.int64(0))
    for a in range(chosen):
        test = scratch.active[a]
        price = price_of(instance, test, mask)
        if price * memo.mass[node] + instance.penalty >= memo.upper[node]:
            continue
        if budget < UNLIMITED and units_of(instance, test, mask) > budget:
            continue
        gain = before
        for b in range(instance.outcomes[test]):
            gain -= _impurity(instance, scratch.margin, instance.level_offset[b] + test)
        _insert(beam, level, test, gain / (price + instance.penalty / memo.mass[node] + 1e-9))  # free tests first


@inner(inline=True)
def _next_child(instance: Instance, memo: Memo, beam: Beam, level: int, test: int) -> Any:
    """Advance to the next outcome of the test that some row has; returns its node, or -1 when there is none."""
    node = beam.node[level]
    while beam.outcome[level] + 1 < instance.outcomes[test]:
        beam.outcome[level] += 1
        b = beam.outcome[level]
        if not nothing_left(memo.bits[node], instance.cell_rows[instance.level_offset[b] + test]):
            return make_child(instance, memo, node, test, b)
    return np.int64(-1)


@inner(inline=True)
def _try_test(instance: Instance, memo: Memo, beam: Beam, level: int) -> Any:
    """Go on with the test under trial: its next child, or -1 once it is done (or too dear) and the next one is due."""
    node, test = beam.node[level], beam.tests[level, beam.position[level]]
    if beam.outcome[level] < 0:
        beam.total[level] = price_of(instance, test, memo.mask[node]) * memo.mass[node] + instance.penalty
    child = np.int64(-1)
    if beam.total[level] < memo.upper[node]:
        child = _next_child(instance, memo, beam, level, test)
    if child < 0:
        if beam.total[level] < memo.upper[node] - 1e-3 * instance.tolerance:
            memo.upper[node] = beam.total[level]
            memo.best[node] = test
        beam.position[level] += 1
        beam.outcome[level] = -1
    return child


@kernel
def beam_slice(instance: Instance, memo: Memo, scratch: Scratch, beam: Beam, until: int) -> Any:
    """Run the beam until it is DONE, the work done reaches `until` (PAUSED) or room is short (FULL)."""
    while beam.height[0] > 0:
        level = beam.height[0] - 1
        if memo.size[WORK] >= until:
            return PAUSED
        if memo.key.size - memo.size[NODES] < instance.cells.shape[1]:
            return FULL
        if beam.tried[level] < 0:
            _candidates(instance, memo, scratch, beam, level)
        if beam.position[level] >= beam.tried[level]:
            beam.height[0] -= 1
            if level > 0:
                beam.total[level - 1] += memo.upper[beam.node[level]]
            continue
        charge(memo, STEP)
        child = _try_test(instance, memo, beam, level)
        if child < 0:
            continue
        # Nothing is gained below a state that a beam as wide went through, or that no test can pay for, or is solved.
        least = instance.least * memo.mass[child] + instance.penalty
        done = memo.beam[child] >= beam.width[level + 1] or memo.stop[child] <= least
        if done or memo.lower[child] >= memo.upper[child] - instance.tolerance:
            beam.total[level] += memo.upper[child]
            continue
        beam.height[0] += 1
        beam.node[level + 1] = child
        beam.tried[level + 1] = -1
    return DONE
