"""Checks of the arrays handed to the sparse planner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from proband.vocabulary import FloatArray, IntArray


@dataclass(frozen=True)
class Arrays:
    """The checked input."""

    codes: IntArray
    weight: FloatArray
    stakes: FloatArray
    cost: FloatArray
    group_cost: FloatArray
    group: IntArray
    match: bool
    max_tests: int | None
    budget: float | None
    context: IntArray
    starts: int
    penalty: float


def _contexts(starts: Sequence[ArrayLike] | None, n: int) -> tuple[IntArray, int]:
    """Start set of each row, -1 for rows in none."""
    if starts is None:
        return np.zeros(n, dtype=np.int64), 1
    context = np.full(n, -1, dtype=np.int64)
    for k, rows in enumerate(starts):
        index = np.asarray(rows, dtype=np.int64)
        if index.size == 0 or (context[index] >= 0).any():
            raise ValueError(f"start set {k} is empty or shares rows with another; give disjoint, non-empty sets")
        context[index] = k
    return context, len(starts)


def check_arrays(
    codes: ArrayLike,
    weight: ArrayLike,
    stakes: ArrayLike,
    cost: ArrayLike,
    kind: str,
    group_cost: ArrayLike | None,
    group: ArrayLike | None,
    max_tests: int | None,
    budget: float | None,
    starts: Sequence[ArrayLike] | None,
    penalty: float = 0.0,
) -> Arrays:
    """Check shapes and signs; a budget with equal prices becomes a limit on the number of tests."""
    table = np.ascontiguousarray(codes, dtype=np.int64)
    mass, worth, price = (np.ascontiguousarray(x, dtype=np.float64) for x in (weight, stakes, cost))
    cheap = price if group_cost is None else np.ascontiguousarray(group_cost, dtype=np.float64)
    family = np.full(price.size, -1, dtype=np.int64) if group is None else np.asarray(group, dtype=np.int64)
    if kind not in ("sum", "max"):
        raise ValueError(f"kind is {kind!r}; use 'sum' or 'max'")
    if table.ndim != 2 or worth.ndim != 2 or table.shape[0] == 0:
        raise ValueError(f"codes {table.shape} and stakes {worth.shape} must be matrices with at least one row")
    rows, tests = table.shape
    if mass.shape != (rows,) or worth.shape[0] != rows or (kind == "max" and worth.shape[1] != 1):
        raise ValueError(f"weight {mass.shape} and stakes {worth.shape} do not fit {rows} rows")
    if price.shape != (tests,) or cheap.shape != (tests,) or family.shape != (tests,):
        raise ValueError(f"cost {price.shape}, group_cost {cheap.shape}, group {family.shape} do not fit {tests} tests")
    if not (mass > 0).all() or (table < 0).any() or not (price >= 0).all() or not (cheap >= 0).all():
        raise ValueError("weights must be positive, codes and costs at least 0")
    if not 0 <= penalty < np.inf:
        raise ValueError(f"penalty is {penalty}; a test node costs 0 or more, and a finite amount; give such a number")
    if kind == "max" and (worth < 0).any():
        raise ValueError("stakes of kind 'max' must be at least 0")
    cheap = np.where(family >= 0, cheap, price)
    if budget is not None and tests and np.ptp(price) == 0 and (cheap == price).all() and price[0] > 0:
        affordable = int(np.floor(budget / price[0] * (1 + 1e-9) + 1e-9))
        max_tests = affordable if max_tests is None else min(max_tests, affordable)
        budget = None
    context, count = _contexts(starts, rows)
    match, limits = kind == "max", (max_tests, budget)
    return Arrays(table, mass, worth, price, cheap, family, match, *limits, context, count, float(penalty))
