"""Rows run down trees: where they end, what they paid, and which tests they met."""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.compiling import kernel
from proband.vocabulary import FloatArray, IntArray


@kernel
def run_down(
    codes: Any, start: IntArray, test: IntArray, children: IntArray, price: FloatArray, group_price: FloatArray,
    group: IntArray, weight: FloatArray, leaf: IntArray, paid: FloatArray, usage: FloatArray,
) -> None:  # fmt: skip
    """Fill in the `leaf` and what was `paid` of each row, and the mass that runs each test; -1 starts nowhere."""
    opened = np.full(price.size, -1)  # of each group: the last row that ran one of its tests
    for r in range(codes.shape[0]):
        place, cost = start[r], 0.0
        while place >= 0 and test[place] >= 0:
            j = test[place]
            g = group[j]
            cost += group_price[j] if g >= 0 and opened[g] == r else price[j]
            if g >= 0:
                opened[g] = r
            usage[j] += weight[r]
            b = codes[r, j]
            after = children[place, b] if b < children.shape[1] else np.int64(-1)
            if after < 0:  # an outcome that is not known to the tree: it decides as before
                break
            place = after
        leaf[r], paid[r] = place, cost


@kernel
def write_cells(codes: Any, offset: IntArray, by_test: Any, shown: Any) -> None:
    """Write the outcomes of rows (n, m) test by test (m, n), and mark the cells that each shows, if there are any."""
    for r in range(codes.shape[0]):
        for j in range(codes.shape[1]):
            by_test[j, r] = codes[r, j]
            if shown.size > 0:
                shown[r, offset[j] + codes[r, j]] = 1
