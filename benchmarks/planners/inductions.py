"""Backward induction for binary tests as a competent user would write it: in NumPy, twice, and as an MDP for peers.

A law is given as p, shape (2^d,), and a payoff, shape (2^d, |Y|), in the order of the rows 0...00, 0...01, 0...10.
With a third digit 2 for "not run", states are numbers of d digits to the base 3, first test first; the children of a
state have smaller numbers, and the last state knows nothing. Values are those of :mod:`proband.planners.dense_kernel`.
"""

import gc
from itertools import pairwise

import numpy as np
from scipy import sparse


def arrays_of(problem, law):
    """Return d, p, payoff and the price of a test for an instance with binary tests at one price."""
    order = np.argsort(law.support @ 2.0 ** np.arange(problem.d - 1, -1, -1))
    return problem.d, law.probabilities[order], problem.payoff(law.support[order]), problem.tests[0].cost


def totals(d, p, payoff):
    """Return the mass of every state and its best value of deciding now, each of shape (3^d,)."""
    mass, stakes = p.reshape((2,) * d), (p * payoff.T).reshape((-1,) + (2,) * d)
    for i in range(d):
        mass = np.concatenate([mass, mass.sum(axis=i, keepdims=True)], axis=i)
        stakes = np.concatenate([stakes, stakes.sum(axis=i + 1, keepdims=True)], axis=i + 1)
    return mass.ravel(), stakes.max(axis=0).ravel()


def tests_to_do(d):
    """Return the tests that each state has not run, as bits, shape (3^d,)."""
    to_do = np.zeros(1, dtype=np.int32)
    for i in range(d):
        to_do = np.add.outer(to_do, np.array([0, 0, 1 << i], dtype=np.int32)).ravel()
    return to_do


def by_levels(d, p, payoff, cost):
    """Solve all states with the same number of tests at once; return the value and all actions."""
    mass, values = totals(d, p, payoff)
    actions = np.full(3**d, d, dtype=np.int8)
    to_do = tests_to_do(d)
    level_of = np.bitwise_count(to_do)
    for level in range(1, d + 1):
        states = np.flatnonzero(level_of == level)
        remaining = to_do[states]
        for i in range(d):
            here, step = states[(remaining & (1 << i)) > 0], 3 ** (d - 1 - i)
            trial = values[here - step] + values[here - 2 * step] - cost * mass[here]
            better = trial > values[here]
            here = here[better]
            values[here], actions[here] = trial[better], i
    return values[-1], actions


def by_sets(d, p, payoff, cost):
    """Solve all states with the same tests done at once: contiguous arrays, but 2^d of them."""
    everything = 2**d - 1
    mass, stakes = {everything: p}, {everything: p * payoff.T}
    values, actions = {everything: stakes[everything].max(axis=0)}, {everything: np.full(2**d, d, dtype=np.int8)}
    for done in sorted(range(everything), key=int.bit_count, reverse=True):
        to_do = [i for i in range(d) if not done >> i & 1]
        best = None
        for i in to_do:
            child, inner = done | 1 << i, 1 << (done & ((1 << i) - 1)).bit_count()
            if best is None:
                mass[done] = mass[child].reshape(-1, 2, inner).sum(axis=1).ravel()
                stakes[done] = stakes[child].reshape(len(payoff.T), -1, 2, inner).sum(axis=2).reshape(len(payoff.T), -1)
                best, chosen = stakes[done].max(axis=0), np.full(len(mass[done]), d, dtype=np.int8)
                price = cost * mass[done]
            after = values[child].reshape(-1, 2, inner)
            trial = (after[:, 0] + after[:, 1]).ravel() - price
            chosen[trial > best] = i
            np.maximum(best, trial, out=best)
        values[done], actions[done] = best, chosen
    return values[0][0], actions


def decision_process(d, p, payoff, cost):
    """Return R, Q, states and actions of all state-action pairs, in the order of states and actions.

    A test leads to two states, the one action "decide" (number d) to an absorbing state, the last one.
    """
    mass, decided = totals(d, p, payoff)
    to_do = np.append(tests_to_do(d) | 1 << d, 1 << d).astype(np.int32)
    states, actions = (index.astype(np.int32) for index in np.nonzero(to_do[:, None] >> np.arange(d + 1) & 1))
    tests = actions < d
    start = np.concatenate([[0], np.cumsum(1 + tests)]).astype(np.int32)
    places, chances = np.full(start[-1], 3**d, dtype=np.int32), np.ones(start[-1])
    parents, first = states[tests], start[:-1][tests]
    steps = (3 ** np.arange(d - 1, -1, -1)).astype(np.int32)[actions[tests]]
    for outcome, after in enumerate((parents - 2 * steps, parents - steps)):
        places[first + outcome], chances[first + outcome] = after, mass[after] / mass[parents]
    rewards = np.full(len(states), -cost)
    rewards[~tests] = np.append(decided / mass, 0.0)
    Q = sparse.csr_matrix((chances, places, start), shape=(len(states), 3**d + 1))
    return rewards, Q, states, actions


def as_lists(rewards, Q, states):
    """Return the rewards, transition probabilities and columns of a decision process as nested lists by state."""
    gc.disable()  # it would walk through millions of small lists again and again
    chances, places, start, reward = Q.data.tolist(), Q.indices.tolist(), Q.indptr.tolist(), rewards.tolist()
    bounds = np.searchsorted(states, np.arange(Q.shape[1] + 1)).tolist()
    pairs = [range(a, b) for a, b in pairwise(bounds)]
    lists = (
        [reward[here.start : here.stop] for here in pairs],
        [[chances[start[j] : start[j + 1]] for j in here] for here in pairs],
        [[places[start[j] : start[j + 1]] for j in here] for here in pairs],
    )
    gc.enable()
    return lists
