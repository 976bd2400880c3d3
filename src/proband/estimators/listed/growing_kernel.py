"""Loops over observations and the rows of a growing support that agree with them."""

from __future__ import annotations

from typing import Any

from proband.compiling import ZERO, kernel

Array = Any


@kernel
def count_agreeing(known: Array, rows: Array, sizes: Array) -> None:
    """Count the rows (K, d) that agree with each observation (u, d), whose missing entries are negative."""
    for o in range(known.shape[0]):
        sizes[o] = ZERO
        for r in range(rows.shape[0]):
            i = ZERO
            while i < rows.shape[1] and (known[o, i] < 0 or known[o, i] == rows[r, i]):
                i += 1
            if i == rows.shape[1]:
                sizes[o] += 1


@kernel
def list_agreeing(known: Array, rows: Array, first: Array, members: Array) -> None:
    """List the rows that agree with each observation, from place `first` (u,) on."""
    for o in range(known.shape[0]):
        place = first[o]
        for r in range(rows.shape[0]):
            i = ZERO
            while i < rows.shape[1] and (known[o, i] < 0 or known[o, i] == rows[r, i]):
                i += 1
            if i == rows.shape[1]:
                members[place] = r
                place += 1


@kernel
def spread(base: Array, first: Array, members: Array, counts: Array, weights: Array, more: Array, steps: int) -> None:
    """Make so many steps of EM: `weights` (K,) become `base` plus what the observations give to rows that agree.

    Observation o was seen counts[o] times and agrees with the rows members[first[o]:first[o + 1]].
    """
    for _ in range(steps):
        for r in range(weights.size):
            more[r] = base[r]
        for o in range(counts.size):
            mass = 0.0
            for k in range(first[o], first[o + 1]):
                mass += weights[members[k]]
            if mass > 0.0:
                share = counts[o] / mass
                for k in range(first[o], first[o + 1]):
                    more[members[k]] += share * weights[members[k]]
        for r in range(weights.size):
            weights[r] = more[r]
