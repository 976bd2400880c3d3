"""Growing and reading the small trees of :mod:`proband.estimators.listed.boosting`, compiled.

A tree is an array of nodes: the feature that a node asks (-1 at a leaf), the outcomes that go left as bits, the left
child (the right one stands behind it), and what a leaf adds. With g and h the sums of the first and second derivatives
of the loss in a node, the loss falls by ½·g²/(h + ridge) there at best, so that a split is worth

    g_left²/(h_left + ridge) + g_right²/(h_right + ridge) − g²/(h + ridge).

Among all ways to part the outcomes of a feature in two, one that parts them in the order of g/h is best.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.compiling import ZERO, inner, kernel

Array = Any

NOTHING = 1e-9
"""Gains and weights up to this are rounding."""


@inner
def best_parting(g: Array, h: Array, weight: Array, first: Array, least: float, ridge: float, spare: Array) -> Any:
    """Return gain, feature and outcomes going left of the best split of a node with sums g, h and weights (levels,).

    The levels of feature i are `first[i]` to `first[i + 1]`; each side must weigh `least`. `spare` is room to sort in.
    """
    best, feature, parted = 0.0, np.int64(-1), np.uint64(0)
    for i in range(len(first) - 1):
        total_g, total_h, total, present = 0.0, 0.0, 0.0, ZERO
        for level in range(first[i], first[i + 1]):
            if weight[level] <= 0:
                continue
            place = present
            while place > 0 and g[level] * h[spare[place - 1]] < g[spare[place - 1]] * h[level]:
                spare[place] = spare[place - 1]
                place -= 1
            spare[place] = level
            present += 1
            total_g += g[level]
            total_h += h[level]
            total += weight[level]
        left_g, left_h, left, bits = 0.0, 0.0, 0.0, np.uint64(0)
        whole = total_g * total_g / (total_h + ridge)
        for place in range(present - 1):
            level = spare[place]
            left_g += g[level]
            left_h += h[level]
            left += weight[level]
            bits |= np.uint64(1) << np.uint64(level - first[i])
            if left < least or total - left < least:
                continue
            right_g, right_h = total_g - left_g, total_h - left_h
            gain = left_g * left_g / (left_h + ridge) + right_g * right_g / (right_h + ridge) - whole
            if gain > best:
                best, feature, parted = gain, np.int64(i), bits
    return best, feature, parted


@inner
def add_levels(node: Any, node_of: Array, levels: Array, g: Array, h: Array, weight: Array, sums: Array) -> None:
    """Add up g, h and weights of the rows of a node, for each level: sums has shape (3, levels)."""
    sums[:] = 0.0
    for r in range(len(node_of)):
        if node_of[r] == node:
            for i in range(levels.shape[1]):
                level = levels[r, i]
                sums[0, level] += g[r]
                sums[1, level] += h[r]
                sums[2, level] += weight[r]


@inner
def take_away(whole: Array, part: Array, rest: Array) -> None:
    """Write the sums of the other child; a weight that is next to nothing is nothing."""
    for level in range(whole.shape[1]):
        for s in range(3):
            rest[s, level] = whole[s, level] - part[s, level]
        if rest[2, level] < NOTHING:
            rest[2, level] = 0.0


@inner
def move_rows(node: Any, to: Any, levels: Array, feature: Any, start: Any, parted: Any, node_of: Array) -> None:
    """Send the rows of a node to its children `to` and `to` + 1."""
    for r in range(len(node_of)):
        if node_of[r] == node:
            left = parted >> np.uint64(levels[r, feature] - start) & np.uint64(1)
            node_of[r] = to + 1 - np.int64(left)


@inner
def close(n_nodes: Any, last: Any, sums: Array, asks: Array, ridge: float, rate: float, adds: Array) -> None:
    """Write what leaves add; the levels before `last` are those of one feature, whose sums are the node's."""
    for node in range(n_nodes):
        if asks[node] < 0:
            g, h = 0.0, 0.0
            for level in range(last):
                g += sums[node, 0, level]
                h += sums[node, 1, level]
            adds[node] = rate * g / (h + ridge)


@kernel
def grow(
    levels: Array, first: Array, g: Array, h: Array, weight: Array, settings: Array, asks: Array, parts: Array,
    child: Array, adds: Array, node_of: Array, scores: Array,
) -> None:  # fmt: skip
    """Grow a tree, best split first, into the arrays of its nodes, and add it to the scores (n,).

    Rows are given by the levels of their outcomes (n, features); rows of weight 0 do not teach, and are scored all the
    same. `settings` are the least weight of a leaf, the ridge and the rate.
    """
    least, ridge, rate = settings
    n_nodes, room = np.int64(1), len(asks)
    sums, spare = np.zeros((room, 3, first[-1])), np.zeros(first[-1], dtype=np.int64)
    gains, features, parted = np.zeros(room), np.full(room, -1), np.zeros(room, dtype=np.uint64)
    node_of[:] = 0
    asks[:] = -1
    add_levels(np.int64(0), node_of, levels, g, h, weight, sums[0])
    gains[0], features[0], parted[0] = best_parting(sums[0, 0], sums[0, 1], sums[0, 2], first, least, ridge, spare)
    while n_nodes + 2 <= room:
        node = np.int64(np.argmax(gains[:n_nodes]))
        if gains[node] <= NOTHING:
            break
        asks[node], parts[node], child[node] = features[node], parted[node], n_nodes
        move_rows(node, n_nodes, levels, asks[node], first[asks[node]], parts[node], node_of)
        gains[node] = 0.0
        add_levels(n_nodes, node_of, levels, g, h, weight, sums[n_nodes])
        take_away(sums[node], sums[n_nodes], sums[n_nodes + 1])
        for c in range(n_nodes, n_nodes + 2):
            gains[c], features[c], parted[c] = best_parting(
                sums[c, 0], sums[c, 1], sums[c, 2], first, least, ridge, spare
            )
        n_nodes += 2
    close(n_nodes, first[1], sums, asks, ridge, rate, adds)
    for r in range(len(node_of)):
        scores[r] += adds[node_of[r]]


@kernel
def read(levels: Array, first: Array, asks: Array, parts: Array, child: Array, adds: Array, scores: Array) -> None:
    """Add what trees (trees, nodes) say of rows to the scores (n,)."""
    for r in range(levels.shape[0]):
        total = 0.0
        for t in range(asks.shape[0]):
            node = ZERO
            while asks[t, node] >= 0:
                i = asks[t, node]
                left = parts[t, node] >> np.uint64(levels[r, i] - first[i]) & np.uint64(1)
                node = child[t, node] + 1 - np.int64(left)
            total += adds[t, node]
        scores[r] += total
