from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from proband.planners.subset import enumerate_values

LOG_TWO_PI_E = np.log(2 * np.pi * np.e)


def _covariance(rng: np.random.Generator, d: int) -> np.ndarray:
    """Strongly correlated tests of about equal worth: nearby sites, few factors, or one common factor."""
    kind = rng.integers(3)
    if kind == 0:
        sites = rng.uniform(size=(d, 2))
        apart = np.sqrt(((sites[:, None] - sites) ** 2).sum(axis=-1))
        covariance = np.exp(-apart / rng.uniform(0.2, 2)) + 0.05 * np.eye(d)
    elif kind == 1:
        loadings = rng.normal(size=(d, max(2, d // 3)))
        covariance = loadings @ loadings.T + 0.3 * np.eye(d)
    else:
        covariance = np.full((d, d), 0.6) + np.diag(rng.uniform(0.3, 0.5, d))
    deviation = np.sqrt(covariance.diagonal())
    return covariance / deviation[:, None] / deviation


def _hard_case(rng: np.random.Generator, d: int, *, grouped: bool) -> tuple[np.ndarray, dict[str, Any]]:
    """A covariance, and prices between what tests bring at most and at least, so that most are in doubt."""
    covariance = _covariance(rng, d)
    bare, last = 0.0, -np.log(np.linalg.inv(covariance).diagonal()).min() / 2
    share, scale = rng.uniform(0.2, 0.8), rng.uniform(0.5, 2)
    covariance = covariance * np.exp(-2 * (share * last + (1 - share) * bare) + 2) / (2 * np.pi * np.e)
    prices = np.maximum(1 + rng.choice([0.0, 0.05, 0.2]) * rng.normal(size=d), 0) * scale
    options: dict[str, Any] = {"scale": scale, "costs": prices}
    if grouped:
        options |= {"groups": rng.integers(-1, 4, d), "group_costs": prices}
        options["costs"] = prices + scale * rng.choice([0.1, 0.4]) * rng.uniform(0, 1, d)
    return covariance, options


def _best_by_enumeration(
    covariance: np.ndarray,
    options: dict[str, Any],
    *,
    size: int | None = None,
    forced_in: tuple[int, ...] = (),
    forced_out: tuple[int, ...] = (),
) -> float:
    """The largest reward of all sets allowed."""
    values = enumerate_values(covariance, **options)
    sets = np.arange(len(values))
    allowed = np.ones(len(values), dtype=bool)
    for i in forced_in:
        allowed &= sets >> i & 1 == 1
    for i in forced_out:
        allowed &= sets >> i & 1 == 0
    if size is not None:
        allowed &= np.bitwise_count(sets) == size
    return float(values[allowed].max())


def _plain_reward(
    covariance: np.ndarray,
    chosen: tuple[int, ...] | list[int],
    *,
    costs: np.ndarray,
    scale: float = 1.0,
    groups: np.ndarray | None = None,
    group_costs: np.ndarray | None = None,
) -> float:
    """f of a set from its definition: entropy by a determinant, the cheapest order of tests by trying each first."""
    chosen = list(chosen)
    entropy = len(chosen) / 2 * LOG_TWO_PI_E + np.linalg.slogdet(covariance[np.ix_(chosen, chosen)])[1] / 2
    groups = np.full(len(costs), -1) if groups is None else groups
    cost = sum(costs[i] for i in chosen if groups[i] < 0)
    for g in set(groups[chosen].tolist()) - {-1}:
        members = [i for i in chosen if groups[i] == g]
        cost += min(costs[i] + sum(group_costs[j] for j in members if j != i) for i in members)
    return float(scale * entropy - cost)


@pytest.fixture
def hard_case() -> Callable[..., tuple[np.ndarray, dict[str, Any]]]:
    return _hard_case


@pytest.fixture
def best_by_enumeration() -> Callable[..., float]:
    return _best_by_enumeration


@pytest.fixture
def plain_reward() -> Callable[..., float]:
    return _plain_reward
