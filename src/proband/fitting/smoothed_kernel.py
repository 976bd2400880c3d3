"""Backward induction in which every state has pseudo-subjects of its own, compiled.

With n(s) subjects in a state, q(s) the model's mass there, and m pseudo-subjects, what follows in the state is believed
to be

    P(b | s, i) = (n(s, b) + m q(s, b) / q(s)) / (n(s) + m),      E[f(x, y) | s] likewise,

so that many subjects speak for themselves, and few are completed by the model, in every state alike. The value of a
state is normalised (no posterior is coherent across states, so nothing can be summed up):

    v(s) = max( max_y E[f(x, y) | s],  max_i −c_i − λ (k_i − 1) / (n(s) + 1) + Σ_b P(b | s, i) v(s with x_i = b) ).

λ charges each test for the leaves that it adds: a leaf with few subjects is chosen by chance. Several candidates, with
prices and λ of their own, are solved at once, since masses are theirs in common.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.compiling import inner, kernel
from proband.planners.dense_kernel import add_up
from proband.vocabulary import FloatArray, IntArray


@inner
def decide_all(
    masses: FloatArray, values: FloatArray, actions: Any, here: Any, at: Any, n: Any, m: int, pseudo: float
) -> float:
    """Write the best decision of n states for every candidate; return what deciding in this block is worth."""
    columns = (masses.shape[0] - 2) // 2
    total = 0.0
    for s in range(here, here + n):
        subjects, model = masses[0, s], masses[1, s]
        ratio = pseudo / model if model > 0 else 0.0
        best, chosen = -np.inf, 0
        for y in range(columns):
            value = masses[2 + y, s] + ratio * masses[2 + columns + y, s]
            if value > best:
                best, chosen = value, y
        best /= subjects + pseudo
        total += (subjects + pseudo * model) * best
        for c in range(values.shape[1]):
            values[s, c] = best
            actions[c, at + s - here] = m + chosen
    return total


@inner
def enough(child: FloatArray, subjects: float, start: Any, k: int, step: Any, least: float) -> bool:
    """Return whether each outcome of a test was seen on so many subjects, or on none."""
    allowed = subjects >= 2 * least
    for b in range(k):
        there = child[0, start + b * step]
        allowed = allowed and (there >= least or there < 0.5)
    return allowed


@inner
def try_test(
    child: FloatArray, below: FloatArray, masses: FloatArray, values: FloatArray, actions: Any, first: Any, here: Any,
    at: Any, n: Any, k: Any, step: Any, pseudo: float, least: float, fees: FloatArray, penalties: FloatArray, test: int,
    sums: FloatArray,
) -> None:  # fmt: skip
    """Compare running one test with the best so far, in a block of n states, for every candidate."""
    for place in range(n):
        s = here + place
        start = first + place // step * k * step + place % step
        subjects, model = masses[0, s], masses[1, s]
        if least > 0 and not enough(child, subjects, start, k, step, least):
            continue
        ratio = pseudo / model if model > 0 else 0.0
        for c in range(sums.shape[0]):
            sums[c] = -fees[c] - penalties[c] * (k - 1) / (subjects + 1.0)
        for b in range(k):
            after = start + b * step
            weight = (child[0, after] + ratio * child[1, after]) / (subjects + pseudo)
            for c in range(sums.shape[0]):
                sums[c] += weight * below[after, c]
        for c in range(sums.shape[0]):
            if sums[c] > values[s, c]:
                values[s, c] = sums[c]
                actions[c, at + place] = test


@inner
def collect(child: FloatArray, own: FloatArray, first: Any, here: Any, n: Any, k: Any, step: Any) -> None:
    """Add up the masses of a block over the outcomes of one more test."""
    for row in range(own.shape[0]):
        add_up(child[row, first : first + n * k], own[row, here : here + n], n, k, step)


@kernel
def solve_sets(  # noqa: C901 - one loop over sets, and none of its parts is worth a name
    sets: IntArray, size: IntArray, offset: IntArray, k: IntArray, prices: FloatArray, peers: IntArray,
    pseudo: float, least: float, most: int, spent: FloatArray, budget: float, scale: FloatArray, penalties: FloatArray,
    actions: Any, fixed: FloatArray, child_start: int, child_masses: FloatArray, child_values: FloatArray,
    own_start: int, own_masses: FloatArray, own_values: FloatArray,
) -> None:  # fmt: skip
    """Solve the blocks of some sets of tests, each after the sets with one test more.

    Parameters
    ----------
    size, offset, k, prices, peers
        Of a :class:`~proband.planners.layout.Layout`.
    pseudo, least, most, spent, budget
        Pseudo-subjects; subjects that each outcome must have, or none; most tests; the most that each set can have
        cost, and the budget.
    scale, penalties : shape (candidates,)
        What prices are multiplied with, and λ.
    actions : shape (candidates, states)
    fixed : shape (sets,)
        What deciding is worth once exactly these tests were run, not normalised.
    child_masses, own_masses : shape (2 + 2 columns, states of a level)
        Subjects, model, what each decision would bring to these subjects, and under the model.
    """
    m = len(k)
    sums, fees = np.empty(len(scale)), np.empty(len(scale))
    for done in sets:
        n, at = size[done], offset[done]
        here = at - own_start
        step, tests, collected = np.int64(1), 0, False
        for i in range(m):
            if done >> i & 1:
                step *= k[i]
                tests += 1
        width = step
        for i in range(m):
            if done >> i & 1:
                step //= k[i]
            elif not collected:
                collected = True
                first = offset[done | np.int64(1) << i] - child_start
                collect(child_masses, own_masses, first, here, n, k[i], step)
        fixed[done] = decide_all(own_masses, own_values, actions, here, at, n, m, pseudo)
        for i in range(m):
            if done >> i & 1:
                width //= k[i]
                continue
            more = done | np.int64(1) << i
            if tests >= most or spent[more] > budget:
                continue
            for c in range(len(scale)):
                fees[c] = scale[c] * (prices[1, i] if done & peers[i] else prices[0, i])
            try_test(
                child_masses, child_values, own_masses, own_values, actions, offset[more] - child_start, here, at, n,
                k[i], width, pseudo, least, fees, penalties, i, sums,
            )  # fmt: skip
