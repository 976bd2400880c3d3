"""Loops over observations and the rows of a growing support that agree with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.compiling import ZERO, inner, kernel, popcount, trailing_zeros

Array = Any


@kernel
def mark_outcomes(rows: Array, first: Array, marks: Array) -> None:
    """Mark which rows (K, d) show each outcome, a bit for each row: outcome b of test i has ``marks[first[i] + b]``."""
    for r in range(rows.shape[0]):
        bit = np.uint64(1) << np.uint64(r & 63)
        for i in range(rows.shape[1]):
            marks[first[i] + rows[r, i], r >> 6] |= bit


@kernel
def count_agreeing(known: Array, first: Array, marks: Array, shown: Array, sizes: Array) -> None:
    """Count the rows that agree with each observation (u, d), whose missing entries are negative.

    `shown` (d,) is room for the outcomes of an observation that are known: of a hundred there may be nine.
    """
    for o in range(known.shape[0]):
        n = _outcomes(known, first, o, shown)
        sizes[o] = ZERO
        for word in range(marks.shape[1]):
            sizes[o] += np.int64(popcount(_agreeing(marks, shown, n, word)))


@kernel
def list_agreeing(known: Array, first: Array, marks: Array, shown: Array, begin: Array, members: Array) -> None:
    """List the rows that agree with each observation, from place `begin` (u,) on."""
    for o in range(known.shape[0]):
        n = _outcomes(known, first, o, shown)
        place = begin[o]
        for word in range(marks.shape[1]):
            left = _agreeing(marks, shown, n, word)
            while left != 0:
                members[place] = 64 * word + np.int64(trailing_zeros(left))
                left &= left - np.uint64(1)
                place += 1


@inner
def _outcomes(known: Array, first: Array, o: int, shown: Array) -> Any:
    """Gather the outcomes of an observation that are known; return how many."""
    n = ZERO
    for i in range(known.shape[1]):
        if known[o, i] >= 0:
            shown[n] = first[i] + known[o, i]
            n += 1
    return n


@inner
def _agreeing(marks: Array, shown: Array, n: Any, word: int) -> Any:
    """Return which of the rows of a word show n outcomes; the last of all marks is that of every row."""
    left = marks[marks.shape[0] - 1, word]
    i = ZERO
    while i < n and left != 0:
        left &= marks[shown[i], word]
        i += 1
    return left


@kernel
def spread(
    base: Array, first: Array, members: Array, rows: Array, counts: Array, labelled: Array, labels: int,
    weights: Array, more: Array, unlabelled: Array, steps: int,
) -> None:  # fmt: skip
    """Make so many steps of EM: `weights` (rows · labels,) become `base` plus what the observations give to rows.

    Observation o was seen counts[o] times and agrees with members[first[o]:first[o + 1]], which stand in the `rows`
    of features there. One without a label says
    nothing of labels: it moves the rows (`unlabelled`), and leaves the labels of a row to those who know theirs. The
    fixed point is that of plain EM, which would creep there, since most observations have no label.
    """
    for _ in range(steps):
        for r in range(weights.size):
            more[r] = base[r]
        for x in range(unlabelled.size):
            unlabelled[x] = 0.0
        for o in range(counts.size):
            mass = 0.0
            for k in range(first[o], first[o + 1]):
                mass += weights[members[k]]
            if mass > 0.0 and counts[o] > 0.0:
                if labelled[o]:
                    _give(more, members, weights, members, first[o], first[o + 1], counts[o] / mass)
                else:
                    _give(unlabelled, rows, weights, members, first[o], first[o + 1], counts[o] / mass)
        for x in range(unlabelled.size):
            _settle(weights, more, unlabelled[x], x * labels, (x + 1) * labels)


@inner
def _give(to: Array, places: Array, weights: Array, members: Array, start: Any, stop: Any, share: float) -> None:
    """Give a share of the weight of each member to its place: itself, or all labels of a row together."""
    for k in range(start, stop):
        to[places[k]] += share * weights[members[k]]


@inner
def _settle(weights: Array, more: Array, unlabelled: float, start: int, stop: int) -> None:
    """Weigh a row: those without a label are shared out as those with one are, or as before if there are none."""
    known, before = 0.0, 0.0
    for r in range(start, stop):
        known += more[r]
        before += weights[r]
    for r in range(start, stop):
        if known > 0.0:
            weights[r] = more[r] * (1.0 + unlabelled / known)
        elif before > 0.0:
            weights[r] *= unlabelled / before
