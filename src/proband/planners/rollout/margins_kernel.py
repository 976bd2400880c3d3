"""Sums of the rows of a node over the cells of every test, and what they say of each test."""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.compiling import CONTRACTING, FINITE, ZERO, inner
from proband.elementary_kernel import logarithm
from proband.planners.rollout.arrays import Grove, Rows, Work

NOTHING = 1e-12
"""Shares of a node's mass below it are what rounding left of nothing."""

NOBODY, ROUNDING = 0.5, 1e-6
"""Fewer subjects than these are none; by so much a sum of parts of subjects may be off."""


TINY = 1e-300
"""The logarithm of nothing is that of this, for it is multiplied by nothing."""


@inner
def add_up(rows: Rows, grove: Grove, work: Work, place: Any, sign: float, sums: Any) -> None:
    """Add the rows of a node to sums, times a sign."""
    for column in range(sums.shape[0]):
        picked = ZERO
        for q in range(grove.lo[place], grove.hi[place]):
            r = grove.order[q]
            for e in range(rows.first[r], rows.first[r + 1]):
                if rows.column[e] == column:
                    work.row[picked], work.amount[picked] = r, sign * rows.amount[e]
                    picked += 1
        if rows.shown.size > 0:
            _add_shown(sums[column], rows.shown, work, picked)
        else:
            _add_codes(sums[column], rows, work, picked)


@inner(fastmath=CONTRACTING)
def _add_shown(sums: Any, shown: Any, work: Work, picked: Any) -> None:
    """Add amounts of the picked rows to the sums of the cells that they show.

    Four rows at a time, so that a sum is read and written once for four; each is added in the order of the rows.
    What is shown is 0 or 1, hence a product is exact, and one instruction for product and sum rounds as two.
    """
    pick, amount, whole = work.row, work.amount, picked & ~3
    for k in range(0, whole, 4):
        one, two, three, four = shown[pick[k]], shown[pick[k + 1]], shown[pick[k + 2]], shown[pick[k + 3]]
        x, y, z, t = amount[k], amount[k + 1], amount[k + 2], amount[k + 3]
        for c in range(sums.size):
            sums[c] = (((sums[c] + x * one[c]) + y * two[c]) + z * three[c]) + t * four[c]
    for k in range(whole, picked):
        one, x = shown[pick[k]], amount[k]
        for c in range(sums.size):
            sums[c] += x * one[c]


@inner
def _add_codes(sums: Any, rows: Rows, work: Work, picked: Any) -> None:
    """The same where cells are many: for each test, to the one that each row shows."""
    for j in range(rows.price.size):
        codes, first = rows.codes[j], rows.offset[j]
        for k in range(picked):
            sums[first + codes[work.row[k]]] += work.amount[k]


@inner
def clear(sums: Any) -> None:
    """Set sums to 0."""
    for column in range(sums.shape[0]):
        for cell in range(sums.shape[1]):
            sums[column, cell] = 0.0


@inner
def subtract(sums: Any, part: Any) -> None:
    """Take the sums of a part off those of the whole."""
    for column in range(sums.shape[0]):
        for cell in range(sums.shape[1]):
            sums[column, cell] -= part[column, cell]


@inner
def price_of(rows: Rows, work: Work, test: Any) -> Any:
    """Price of a test on the way that is marked."""
    group = rows.group[test]
    return rows.group_price[test] if group >= 0 and work.open[group] > 0 else rows.price[test]


@inner(fastmath=FINITE)
def _weigh_up(rows: Rows, work: Work, sums: Any, least: float) -> None:
    """Write of each cell what its best decision brings, and how far it is in order.

    The latter is the sum of x log x over the columns of `ideal`, less that of their sum: minus its entropy, times its
    mass. One column of all cells at a time, which are taken in vector registers.
    """
    decisions, mass, order, best = rows.stakes.shape[1], work.cell_mass, work.cell_order, work.cell_best
    cells = sums.shape[1]
    for cell in range(cells):
        mass[cell], order[cell], best[cell] = 0.0, 0.0, -np.inf
    for a in range(decisions):
        column, worth = sums[a], sums[decisions + a if rows.apart else a]
        for cell in range(cells):
            x = column[cell] if column[cell] > least else 0.0
            mass[cell] += x
            order[cell] += x * logarithm(max(x, TINY))
            best[cell] = max(best[cell], worth[cell])
    for cell in range(cells):
        order[cell] -= mass[cell] * logarithm(max(mass[cell], TINY))


@inner
def _enough(rows: Rows, sums: Any, test: Any) -> Any:
    """Whether each outcome of a test was seen on as many subjects as are asked for, or on none."""
    last, least = rows.columns - 1, rows.enough - ROUNDING
    subjects, few = 0.0, False
    for cell in range(rows.offset[test], rows.offset[test + 1]):
        there = sums[last, cell]
        subjects += there
        few = few or (there >= NOBODY and there < least)
    return not few and subjects >= 2 * least


@inner
def _whole(rows: Rows, work: Work, sums: Any) -> Any:
    """Add up all cells of a test; returns the mass of `ideal`, its order, and the worth of the best decision."""
    mass = 0.0
    for a in range(work.total.shape[0]):
        work.total[a, 0] = 0.0
        for cell in range(rows.offset[1]):
            work.total[a, 0] += sums[a, cell]
        mass += work.total[a, 0] if a < rows.stakes.shape[1] else 0.0
    _weigh_up(rows, work, work.total, NOTHING * mass)
    return mass, work.cell_order[0], work.cell_best[0]


@inner
def survey(rows: Rows, grove: Grove, work: Work, place: Any, sums: Any) -> Any:
    """Score every test that may be run at a node; returns the one to grow by, or -1.

    That is the most telling one for its price. A test that leaves less to be earned than it costs is passed over if
    there is another: a dear and almost sure test (such as the label itself) is worth running where cheap ones have
    told what they can, and there it is found as `single`, the best test of those that a decision follows.
    """
    mass, order, now = _whole(rows, work, sums)
    _weigh_up(rows, work, sums, NOTHING * mass)
    best, most, last, most_last = np.int64(-1), 0.0, np.int64(-1), 0.0
    work.single[place], work.single_value[place] = -1, grove.stop[place]
    for j in range(rows.price.size):
        work.score[j] = 0.0
        price = price_of(rows, work, j)
        if work.used[j] > 0 or grove.spent[place] + price > rows.budget:
            continue
        if rows.enough > 0.0 and not _enough(rows, sums, j):
            continue
        gain, after, paid = -order, grove.stop[place] - now, price * grove.mass[place] + rows.penalty
        for cell in range(rows.offset[j], rows.offset[j + 1]):
            gain += work.cell_order[cell]
            after += work.cell_best[cell]
        if after - paid > work.single_value[place] + rows.tolerance:
            work.single[place], work.single_value[place] = j, after - paid
        left = grove.most[place] - after
        if gain <= NOTHING * mass or left <= rows.least * grove.mass[place] + rows.penalty:
            continue  # nothing can follow it that pays: as the single test it was counted already
        work.score[j] = gain / max(price, rows.free)
        if left > paid and work.score[j] > most:
            best, most = np.int64(j), work.score[j]
        elif work.score[j] > most_last:
            last, most_last = np.int64(j), work.score[j]
    return best if best >= 0 else last
