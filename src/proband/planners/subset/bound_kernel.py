"""Upper bounds of a node, and what they lose when a test is settled.

A node has I in, the free tests E, M and W = M⁻¹ of :mod:`proband.planners.subset.node_kernel`. Hadamard's inequality
for M, and for W since log det M[T,T] = log det M + log det W[E−T,E−T], bounds F of a set I ⊆ S ⊆ I ∪ E twice:

    F(S) ≤ inside + Σ_{i∈S−I} x_i,    x_i = log M[i,i] + offset_i,   the gain of i given what is in,
    F(S) ≤ whole  + Σ_{i∈E−S} y_i,    y_i = log W[i,i] − offset_i,   minus the gain of i given everything else.

**Mixing.** For a weight α in [0, 1] the mean of the two is separable, so with slack_i = α·x_i − (1−α)·y_i

    max F ≤ b(α) = α·inside + (1−α)·(whole + Σ y_i) + Σ max(slack_i, 0).

b is convex in α, and often far below the better of the two (α = 1 and α = 0); the idea of mixing bounds is from Chen,
Fampa, Lambert and Lee, "Mixing convex-optimization bounds for maximum-entropy sampling" (2021). With |S| = s a price λ
on the number of tests is added: slack_i − λ, and λ·(s − |I|) outside. For a given α the best λ lies between the
(s − |I|)-th largest slack and the next; any λ is valid.

**Groups.** An open group (one with a test in) pays at least its least extra among tests in or free. A closed one with
least extra e pays at least Σ_{i∈S} share_i for any shares ≥ 0 that add up to e at most; the best shares take e away
from Σ max(slack_i, 0) of the group, or all of it where it is less than e.

**Settling a test.** Taking i in multiplies M[j,j] by 1 − r with r = M[i,j]²/(M[i,i]·M[j,j]), and
−log(1 − r) ≥ r + r²/2, so that at the same α and λ the bound drops at least by

    drop_in_i = max(−slack_i, 0) + Σ_{j≠i} min(α·(r + r²/2), max(slack_j, 0)),

and drop_out_i mirrors it with W. Moreover F(S) = F(S + i) − (gain of i) for S without i, where the gain is at least
−y_i, that given everything else: so drop_out_i may be replaced by drop_in_i − y_i − λ, and in the same way drop_in_i by
drop_out_i − x_i + λ. The same holds from an envelope e ≥ F(S) − μ·(|S| − s) over sets of all sizes, which a search
without a size has proved at the price μ: F(S) ≤ e + y_i + μ for S without i, and F(S) ≤ e + x_i − μ for S with i.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from proband.compiling import SUMMING, inner
from proband.planners.subset.node_kernel import INSIDE, LEFT, TAKEN, WEIGHT, WHOLE, Levels
from proband.planners.subset.objective import IN, OUT, Objective, States
from proband.vocabulary import FloatArray, IntArray

TAKEN_HERE, POSSIBLE, LEAST_TAKEN, LEAST, MOST = 0, 1, 2, 3, 4
"""Rows of `openings`: tests of a group in, and in or free; least extra of the first, least and most of both."""


class NodeScratch(NamedTuple):
    """Room for the figures of one node: rows of length d, and one column for each group."""

    gain: FloatArray
    loss: FloatArray
    slack: FloatArray
    order: FloatArray
    drop_in: FloatArray
    drop_out: FloatArray
    room: FloatArray
    share: FloatArray
    openings: FloatArray
    mark: States


def new_scratch(d: int, groups: int) -> NodeScratch:
    """Return room for nodes of d tests."""
    gain, loss, slack, order, drop_in, drop_out, room, share = (np.empty(d) for _ in range(8))
    openings, mark = np.empty((5, groups + 1)), np.empty(d, dtype=np.int8)
    return NodeScratch(gain, loss, slack, order, drop_in, drop_out, room, share, openings, mark)


@inner
def count_groups(objective: Objective, state: States, openings: FloatArray) -> tuple[float, float]:
    """Fill in what is known of each group; returns what open groups pay at least, and what they pay as things stand."""
    for g in range(objective.groups):
        openings[TAKEN_HERE, g], openings[POSSIBLE, g], openings[MOST, g] = 0.0, 0.0, 0.0
        openings[LEAST_TAKEN, g], openings[LEAST, g] = np.inf, np.inf
    for i in range(len(state)):
        g = objective.group[i]
        if g < 0 or state[i] == OUT:
            continue
        openings[POSSIBLE, g] += 1
        openings[LEAST, g] = min(openings[LEAST, g], objective.extra[i])
        openings[MOST, g] = max(openings[MOST, g], objective.extra[i])
        if state[i] == IN:
            openings[TAKEN_HERE, g] += 1
            openings[LEAST_TAKEN, g] = min(openings[LEAST_TAKEN, g], objective.extra[i])
    at_least, so_far = 0.0, 0.0
    for g in range(objective.groups):
        if openings[TAKEN_HERE, g] > 0:
            at_least += openings[LEAST, g]
            so_far += openings[LEAST_TAKEN, g]
    return at_least, so_far


@inner
def measure(objective: Objective, levels: Levels, top: int, scratch: NodeScratch) -> tuple[float, float]:
    """Fill in gains and losses of the free tests, and the figures of groups; returns what open groups pay, as above."""
    for i in range(levels.counts[top, LEFT]):
        offset = objective.offset[levels.tests[top, i]]
        scratch.gain[i] = math.log(levels.given[top, i, i]) + offset
        scratch.loss[i] = math.log(levels.inverse[top, i, i]) - offset
    if objective.groups == 0:
        return 0.0, 0.0
    return count_groups(objective, levels.state[top], scratch.openings)


@inner
def opening_range(objective: Objective, openings: FloatArray, test: int) -> tuple[float, float]:
    """Return the least and the most that adding a test to a set can add to what its group pays for opening.

    Added to a set that opens the group at price e it changes that by min(extra − e, 0), else by its extra.
    """
    g = objective.group[test]
    if g < 0:
        return 0.0, 0.0
    extra = objective.extra[test]
    if openings[TAKEN_HERE, g] > 0:
        return min(extra - openings[LEAST_TAKEN, g], 0.0), 0.0
    if openings[POSSIBLE, g] == 1:
        return extra, extra
    return min(extra - openings[MOST, g], 0.0), extra


@inner(inline=True)
def split_around(order: FloatArray, low: int, high: int, pivot: float) -> tuple[int, int]:
    """Reorder order[low ... high]: not below the pivot first, not above it last; returns where the parts end."""
    i, j = low, high
    while i <= j:
        while order[i] > pivot:
            i += 1
        while order[j] < pivot:
            j -= 1
        if i <= j:
            order[i], order[j] = order[j], order[i]
            i += 1
            j -= 1
    return i, j


@inner
def middle(slack: FloatArray, order: FloatArray, k: int, count: int) -> float:
    """Return a number between the count-th largest of k slacks and the next, 0 < count < k, by quickselect."""
    for i in range(k):
        order[i] = slack[i]
    low, high = 0, k - 1
    while low < high:
        i, j = split_around(order, low, high, order[(low + high) // 2])
        if count - 1 <= j:
            high = j
        elif count - 1 >= i:
            low = i
        else:
            break
    least: float = order[0]
    most: float = order[count]
    for i in range(count):
        least = min(least, order[i])
    for i in range(count, k):
        most = max(most, order[i])
    return 0.5 * (least + most)


@inner
def share_openings(objective: Objective, tests: IntArray, k: int, scratch: NodeScratch) -> None:
    """Charge closed groups: take their opening price away from the positive slacks of their tests, while these last."""
    total = scratch.order
    for g in range(objective.groups):
        total[g] = 0.0
    for i in range(k):
        g = objective.group[tests[i]]
        if g >= 0:
            total[g] += max(scratch.slack[i], 0.0)
    for i in range(k):
        g = objective.group[tests[i]]
        if g >= 0 and scratch.openings[TAKEN_HERE, g] == 0 and scratch.slack[i] > 0:
            scratch.slack[i] *= max(1.0 - scratch.openings[LEAST, g] / total[g], 0.0)


@inner
def evaluate(
    objective: Objective, levels: Levels, top: int, scratch: NodeScratch, weight: float
) -> tuple[float, float, float]:
    """Return b(α), its slope and λ without what open groups pay, and leave the slacks in the scratch."""
    k = levels.counts[top, LEFT]
    inside, whole = levels.figures[top, INSIDE], levels.figures[top, WHOLE]
    gain, loss, slack = scratch.gain, scratch.loss, scratch.slack
    losses = 0.0
    for i in range(k):
        losses += loss[i]
        slack[i] = weight * gain[i] - (1.0 - weight) * loss[i]
    value = weight * inside + (1.0 - weight) * (whole + losses)
    slope = inside - whole - losses
    price = 0.0
    if objective.size >= 0:
        price = middle(slack, scratch.order, k, objective.size - levels.counts[top, TAKEN])
        value += price * (objective.size - levels.counts[top, TAKEN])
        for i in range(k):
            slack[i] -= price
    if objective.groups > 0:
        share_openings(objective, levels.tests[top], k, scratch)
    for i in range(k):
        if slack[i] > 0:
            value += slack[i]
            slope += gain[i] + loss[i]
    return value, slope, price


@inner
def tighten(objective: Objective, levels: Levels, top: int, scratch: NodeScratch, enough: float) -> tuple[float, float]:
    """Minimise b over α by cutting planes, until it falls to `enough`; returns b and λ, and leaves α in the figures.

    The slacks left in the scratch are those of the α found.
    """
    low, high, low_value, high_value, low_slope, high_slope = -1.0, 2.0, 0.0, 0.0, 0.0, 0.0
    weight, step, best, found, last = levels.figures[top, WEIGHT], 0.05, np.inf, 0.5, -1.0
    price = 0.0
    for _ in range(12):
        last = weight
        value, slope, price = evaluate(objective, levels, top, scratch, weight)
        if value < best:
            best, found = value, weight
        if best <= enough:
            break
        if slope > 0:
            high, high_value, high_slope = weight, value, slope
        else:
            low, low_value, low_slope = weight, value, slope
        if low < 0.0 or high > 1.0:  # the minimum is not yet between two points: step on, faster each time
            if weight in (0.0, 1.0):
                break
            weight = max(weight - step, 0.0) if low < 0.0 else min(weight + step, 1.0)
            step *= 3.0
            continue
        if high_slope - low_slope <= 0:
            break
        # Where the tangents at the two points cross, b is not below their value: the minimum cannot be lower than that.
        weight = (low_value - high_value + high_slope * high - low_slope * low) / (high_slope - low_slope)
        if best - (low_value + low_slope * (weight - low)) < 0.01 * (best - enough) or not low < weight < high:
            break
    if last != found:
        best, _, price = evaluate(objective, levels, top, scratch, found)
    levels.figures[top, WEIGHT] = found
    return best, price


@inner(fastmath=SUMMING)
def drops_of_row(row: FloatArray, k: int, scale: float, weight: float, share: FloatArray, room: FloatArray) -> float:
    """Return Σ_j min(weight·(r + r²/2), room_j) for r = row_j²·scale·share_j."""
    total = 0.0
    for j in range(k):
        r = row[j] * row[j] * scale * share[j]
        total += min(weight * (r + 0.5 * r * r), room[j])
    return total


@inner
def drops_on_one_side(
    matrix: FloatArray, k: int, weight: float, sign: float, scratch: NodeScratch, drops: FloatArray
) -> None:
    """Fill in drop_in (M, α, sign 1) or drop_out (W, 1 − α, sign −1) of every free test."""
    room, share = scratch.room, scratch.share
    for j in range(k):
        room[j] = max(sign * scratch.slack[j], 0.0)
        share[j] = 1.0 / matrix[j, j]
    for i in range(k):
        own, room[i] = room[i], 0.0  # i itself is settled: its own slack is counted apart
        drops[i] = drops_of_row(matrix[i], k, share[i], weight, share, room) + max(-sign * scratch.slack[i], 0.0)
        room[i] = own


@inner
def measure_drops(
    objective: Objective, levels: Levels, top: int, scratch: NodeScratch, bound: float, price: float
) -> None:
    """Fill in by how much the bound drops at least when a free test is taken in, and when it is left out."""
    k, weight = levels.counts[top, LEFT], levels.figures[top, WEIGHT]
    drops_on_one_side(levels.given[top], k, weight, 1.0, scratch, scratch.drop_in)
    drops_on_one_side(levels.inverse[top], k, 1.0 - weight, -1.0, scratch, scratch.drop_out)
    above = bound - objective.envelope
    for i in range(k):
        least, most = opening_range(objective, scratch.openings, levels.tests[top, i])
        drop_in, drop_out = scratch.drop_in[i], scratch.drop_out[i]
        bare, last = scratch.gain[i] - least, -scratch.loss[i] - most
        scratch.drop_in[i] = max(drop_in, drop_out - bare + price, above - bare + objective.price)
        scratch.drop_out[i] = max(drop_out, drop_in + last - price, above + last - objective.price)
