"""The backward induction of Algorithm 1 over the blocks of :mod:`proband.planners.layout`, compiled.

Everything is unnormalised: with mass(s) = P(x agrees with s) and V(s) = mass(s) · v(s),

    V(s) = max( max_j pool over x in s of p(x)·payoff_j(x),  max_i  -c_i(M)·mass(s) + Σ_b V(s with x_i = b) ).

No posterior is formed and nothing is divided, so states of probability zero are harmless. A tie keeps what came
first: deciding before testing, earlier tests before later ones.

The loops choose without branching (which action wins is unpredictable, and a mispredicted branch costs more than
the arithmetic), and have one form for long rows, which compilers vectorise, and one for short rows of two
outcomes, where the position of a child is the position of the parent with one bit inserted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.compiling import inner, kernel
from proband.vocabulary import FloatArray, IntArray

SHORT_ROW = 32
SMALL_BLOCK = 256
IN_CACHE = 1024


@inner(inline=True)
def choose(old: Any, new: Any, yes: Any) -> Any:
    """Return `new` if yes, else `old`, without a branch."""
    return old ^ ((old ^ new) & -np.int64(yes))


# Sum and maximum are two functions: with the choice between them inside, the loops take a third longer.
@inner
def add_up(child: FloatArray, own: FloatArray, n: int, k: int, inner: Any) -> None:
    """Sum the middle axis of a block (outer, k, inner) into (outer, inner)."""
    if k == 2 and (inner < SHORT_ROW or n < SMALL_BLOCK) and inner & (inner - 1) == 0:
        for s in range(n):
            c = s + (s & ~(inner - 1))
            own[s] = child[c] + child[c + inner]
        return
    outer = n // inner
    children = child.reshape(outer, k, inner)
    parents = own.reshape(outer, inner)
    for o in range(outer):
        for j in range(inner):
            parents[o, j] = children[o, 0, j]
        for b in range(1, k):
            for j in range(inner):
                parents[o, j] += children[o, b, j]


@inner
def take_largest(child: FloatArray, own: FloatArray, n: int, k: int, inner: Any) -> None:
    """Reduce the middle axis of a block (outer, k, inner) by maximum into (outer, inner)."""
    if k == 2 and (inner < SHORT_ROW or n < SMALL_BLOCK) and inner & (inner - 1) == 0:
        for s in range(n):
            c = s + (s & ~(inner - 1))
            own[s] = child[c + inner] if child[c + inner] > child[c] else child[c]
        return
    outer = n // inner
    children = child.reshape(outer, k, inner)
    parents = own.reshape(outer, inner)
    for o in range(outer):
        for j in range(inner):
            parents[o, j] = children[o, 0, j]
        for b in range(1, k):
            for j in range(inner):
                parents[o, j] = children[o, b, j] if children[o, b, j] > parents[o, j] else parents[o, j]


@inner
def try_test(
    child: FloatArray, own: FloatArray, mass: FloatArray, act: Any, n: int, k: int, inner: Any, cost: float, test: Any
) -> None:  # fmt: skip
    """Compare running one test with the best so far, over a whole block."""
    if k == 2 and inner == 1:
        for s in range(n):
            value = child[2 * s] + child[2 * s + 1] - cost * mass[s]
            best = own[s]
            own[s] = value if value > best else best
            act[s] = choose(act[s], test, value > best)
        return
    if k == 2 and (inner < SHORT_ROW or n < SMALL_BLOCK) and inner & (inner - 1) == 0:
        for s in range(n):
            c = s + (s & ~(inner - 1))
            value = child[c] + child[c + inner] - cost * mass[s]
            best = own[s]
            own[s] = value if value > best else best
            act[s] = choose(act[s], test, value > best)
        return
    _try_test_by_rows(child, own, mass, act, n, k, inner, cost, test)


@inner
def _try_test_by_rows(
    child: FloatArray, own: FloatArray, mass: FloatArray, act: Any, n: int, k: int, inner: Any, cost: float, test: Any
) -> None:  # fmt: skip
    outer = n // inner
    children = child.reshape(outer, k, inner)
    parents = own.reshape(outer, inner)
    masses = mass.reshape(outer, inner)
    actions = act.reshape(outer, inner)
    for o in range(outer):
        for j in range(inner):
            value = children[o, 0, j] - cost * masses[o, j]
            for b in range(1, k):
                value += children[o, b, j]
            best = parents[o, j]
            parents[o, j] = value if value > best else best
            actions[o, j] = choose(actions[o, j], test, value > best)


@inner
def decide_first(
    stake: FloatArray, mass: FloatArray, own: FloatArray, act: Any, n: int, code: Any, unseen: Any
) -> None:
    """Start with the first column; mark states of probability zero."""
    for s in range(n):
        own[s] = stake[s]
        act[s] = choose(unseen, code, mass[s] > 0)


@inner
def try_column(stake: FloatArray, own: FloatArray, act: Any, n: int, code: Any) -> None:
    """Compare deciding for one column with the best so far."""
    for s in range(n):
        value = stake[s]
        best = own[s]
        own[s] = value if value > best else best
        act[s] = choose(act[s], code, value > best)


@kernel
def decide(stakes: FloatArray, mass: FloatArray, own: FloatArray, act: Any, start: int, n: int, m: int) -> None:
    """Write the best column of n states and its value; m + number of columns marks probability zero."""
    columns = stakes.shape[0]
    decide_first(stakes[0, start : start + n], mass, own, act, n, np.int64(m), np.int64(m + columns))
    for j in range(1, columns):
        try_column(stakes[j, start : start + n], own, act, n, np.int64(m + j))


@kernel
def decide_by_label(
    stakes: FloatArray, table: FloatArray, mass: FloatArray, own: FloatArray, act: Any, start: int, n: int, m: int
) -> None:  # fmt: skip
    """Write the best of many decisions, whose stakes are those of labels (labels, states) times a table of utilities.

    The table has shape (labels, decisions).
    """
    labels, decisions = table.shape
    for low in range(0, n, IN_CACHE):
        high = min(low + IN_CACHE, n)
        for s in range(low, high):
            own[s] = -np.inf
        for j in range(decisions):
            for s in range(low, high):
                value = table[0, j] * stakes[0, start + s]
                for y in range(1, labels):
                    value += table[y, j] * stakes[y, start + s]
                best = own[s]
                own[s] = value if value > best else best
                act[s] = choose(act[s], np.int64(m + j), value > best)
        for s in range(low, high):
            act[s] = choose(np.int64(m + decisions), act[s], mass[s] > 0)


@kernel
def solve_sets(
    sets: IntArray, size: IntArray, offset: IntArray, k: IntArray, prices: FloatArray, peers: IntArray, maximum: bool,
    table: FloatArray, values: FloatArray, actions: Any, child_start: int, child_mass: FloatArray,
    child_stakes: FloatArray, own_start: int, own_mass: FloatArray, own_stakes: FloatArray,
) -> None:  # fmt: skip
    """Solve the blocks of some sets, each after the sets with one test more.

    The arrays up to `peers` are those of :class:`~proband.planners.layout.Layout`. Masses and stakes begin at the
    states `child_start` and `own_start`, so that a caller may keep them for two levels only. With a `table` of
    utilities (labels, decisions) the stakes are those of labels; without one (0, 0) those of decisions.
    """
    m = len(k)
    for done in sets:
        n, at = size[done], offset[done]
        here = at - own_start
        mass = own_mass[here : here + n]
        own = values[at : at + n]
        act = actions[at : at + n]
        inner = np.int64(1)
        for i in range(m):
            if done >> i & 1:
                inner *= k[i]
        first = True
        for i in range(m):
            if done >> i & 1:
                inner //= k[i]
                continue
            child = offset[done | 1 << i]
            length = n * k[i]
            if first:
                first = False
                c = child - child_start
                add_up(child_mass[c : c + length], mass, n, k[i], inner)
                for j in range(own_stakes.shape[0]):
                    if maximum:
                        take_largest(child_stakes[j, c : c + length], own_stakes[j, here : here + n], n, k[i], inner)
                    else:
                        add_up(child_stakes[j, c : c + length], own_stakes[j, here : here + n], n, k[i], inner)
                if table.shape[1] == 0:
                    decide(own_stakes, mass, own, act, here, n, m)
                else:
                    decide_by_label(own_stakes, table, mass, own, act, here, n, m)
            cost = prices[1, i] if done & peers[i] else prices[0, i]
            try_test(values[child : child + length], own, mass, act, n, k[i], inner, cost, np.int64(i))


@kernel
def walk(
    actions: Any, offset: IntArray, k: IntArray, prices: FloatArray, peers: IntArray, context: IntArray,
    outcomes: IntArray, begun: np.int64,
) -> tuple[IntArray, IntArray, FloatArray, IntArray]:  # fmt: skip
    """Take subjects to decision, from arrival or from where some tests were done.

    Parameters are the codes of :class:`~proband.planners.dense_plan.Solution`, arrays of the layout, the numbers of the
    subjects' contexts (n,), their outcomes (n, m), and the tests done before as bits. Returns, for each, the number of
    the last state, the tests done as bits, what those cost that were done here, and how many they are.
    """
    n, m = outcomes.shape
    last = np.empty(n, dtype=np.int64)
    sets = np.zeros(n, dtype=np.int64)
    costs = np.zeros(n)
    tests = np.zeros(n, dtype=np.int64)
    for r in range(n):
        done = begun
        while True:
            code = context[r]
            for i in range(m):
                if done >> i & 1:
                    code = code * k[i] + outcomes[r, i]
            last[r] = offset[done] + code
            test = np.int64(actions[last[r]])
            if test >= m:
                break
            costs[r] += prices[1, test] if done & peers[test] else prices[0, test]
            tests[r] += 1
            done |= np.int64(1) << test
        sets[r] = done
    return last, sets, costs, tests
