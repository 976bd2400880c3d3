"""Instances of the sparse planner, and the plain recursion that it must agree with."""

from __future__ import annotations

import numpy as np


def synth(seed=0, n=1000, d=20):
    """Correlated binary tests (five factors) and a noisy linear label."""
    rng = np.random.default_rng(seed)
    loadings = rng.normal(size=(d, 5))
    Z = rng.normal(size=(n, 5)) @ loadings.T / 2 + rng.normal(size=(n, d))
    score = Z @ rng.normal(size=d) / np.sqrt(d)
    return (Z > 0).astype(int), (score + rng.normal(size=n) * 0.5 * score.std() > 0).astype(int)


def instance(C, y, cost):
    """Arrays of `solve_support` for reward 1 for the right label and one price."""
    n = len(y)
    return C, np.full(n, 1 / n), np.eye(y.max() + 1)[y] / n, np.full(C.shape[1], cost)


def reference_value(
    codes,
    weight,
    stakes,
    cost,
    *,
    kind="sum",
    group_cost=None,
    group=None,
    max_tests=None,
    budget=None,
    starts=None,
    penalty=0.0,
):
    """Optimal value, less the penalty of nodes, by trying every test at every state (rows, tests done)."""
    n, m = codes.shape
    group_cost = cost if group_cost is None else group_cost
    group = np.full(m, -1) if group is None else group
    memo = {}

    def value(rows, done, spent):
        key = (rows, done, round(spent, 9))
        if key in memo:
            return memo[key]
        index = list(rows)
        total = stakes[index]
        best = float(total.max()) if kind == "max" else float(total.sum(axis=0).max())
        if max_tests is None or len(done) < max_tests:
            for j in range(m):
                if j in done:
                    continue
                opened = group[j] >= 0 and any(group[k] == group[j] for k in done)
                price = group_cost[j] if opened else cost[j]
                if budget is not None and spent + price > budget + 1e-9 * max(budget, 1.0):
                    continue
                parts = {}
                for r in index:
                    parts.setdefault(codes[r, j], []).append(r)
                after = done | {j}
                paid = spent + price if budget is not None else 0.0
                total_after = sum(value(tuple(p), after, paid) for p in parts.values())
                best = max(best, total_after - price * float(weight[index].sum()) - penalty)
        memo[key] = best
        return best

    sets = [range(n)] if starts is None else starts
    return sum(value(tuple(int(r) for r in rows), frozenset(), 0.0) for rows in sets)


def policy_value(
    plan,
    codes,
    weight,
    stakes,
    cost,
    *,
    kind="sum",
    group_cost=None,
    group=None,
    max_tests=None,
    budget=None,
    starts=None,
    penalty=0.0,
):
    """Run a plan on every row on its own, checking each rule on the way; the value, less the penalty of nodes."""
    n, m = codes.shape
    group_cost = cost if group_cost is None else group_cost
    group = np.full(m, -1) if group is None else group
    sets = [range(n)] if starts is None else starts
    assert plan.nodes.sum() == (plan.node_test >= 0).sum()
    total = -penalty * int((plan.node_test >= 0).sum())
    for root, rows in zip(plan.roots, sets, strict=True):
        for r in rows:
            node, done, spent = int(root), [], 0.0
            while plan.node_test[node] >= 0:
                j = int(plan.node_test[node])
                assert j not in done
                opened = group[j] >= 0 and any(group[k] == group[j] for k in done)
                spent += group_cost[j] if opened else cost[j]
                done.append(j)
                node = int(plan.children[node, codes[r, j]])
                assert node >= 0
            assert max_tests is None or len(done) <= max_tests
            assert budget is None or spent <= budget + 1e-8 * max(budget, 1.0)
            column = int(plan.node_column[node])
            total -= weight[r] * spent
            total += stakes[r, column] if kind == "sum" else (stakes[r, 0] if column == r else 0.0)
    return total


def random_case(rng):
    """A small random instance using any mix of the features."""
    m, n = int(rng.integers(1, 6)), int(rng.integers(1, 15))
    outcomes = rng.integers(2, 5 if rng.random() < 0.5 else 3, size=m)
    codes = np.stack([rng.integers(0, k, size=n) for k in outcomes], axis=1)
    if rng.random() < 0.3 and m > 1:
        codes[:, 1] = codes[:, 0]
    if rng.random() < 0.15:
        codes[:, rng.integers(m)] = 0
    style = rng.integers(3)
    weight = np.full(n, 1.0 / n) if style == 0 else rng.uniform(0.05, 1.0, size=n)
    if style == 2:
        weight = rng.integers(1, 4, size=n) / n
    kind = "max" if rng.random() < 0.25 else "sum"
    if kind == "max":
        stakes = weight[:, None].copy()
    elif style == 0 or rng.random() < 0.4:
        a = int(rng.integers(2, 4))
        stakes = weight[:, None] * np.eye(a)[rng.integers(0, a, size=n)]
    else:
        stakes = weight[:, None] * rng.normal(size=(n, int(rng.integers(1, 5))))
    scale = float(rng.choice([0.01, 0.03, 0.1, 0.3]))
    cost = np.full(m, scale) if rng.random() < 0.4 else rng.uniform(0, 2 * scale, size=m)
    cost[rng.random(m) < 0.15] = 0.0
    options = {"kind": kind}
    if rng.random() < 0.5:
        options["group"] = rng.integers(-1, 3, size=m)
        if rng.random() < 0.5:
            options["group_cost"] = cost * rng.uniform(0, 1, size=m)
        else:
            options["group_cost"] = cost * 1.0
            cost = cost + rng.uniform(0, 2 * scale)
        if rng.random() < 0.1:
            options["group_cost"] = cost * rng.uniform(0, 1.5, size=m)
    if rng.random() < 0.3:
        options["max_tests"] = int(rng.integers(0, m + 1))
    if rng.random() < 0.3:
        options["budget"] = float(rng.choice([rng.uniform(0, 2 * cost.sum() + 0.01), cost.max(), 3 * scale, 0.0]))
    if rng.random() < 0.3:
        label = rng.integers(0, 3, size=n)
        options["starts"] = [np.flatnonzero(label == k) for k in range(3) if (label == k).any()]
    return (codes, weight, stakes, cost), options
