"""What one would write instead, in NumPy: brute force, greedy with exchanges, and branch and bound by eigenvalues."""

import heapq
import itertools
import time

import numpy as np

from benchmarks.subset.cases import LOG_TWO_PI_E


def worth(covariance, costs, chosen):
    """Entropy of a set minus its costs."""
    chosen = list(chosen)
    if not chosen:
        return 0.0
    determinant = np.linalg.slogdet(covariance[np.ix_(chosen, chosen)])[1]
    return (len(chosen) * LOG_TWO_PI_E + determinant) / 2 - costs[chosen].sum()


def brute_force(covariance, costs):
    """The rewards of all sets, those of one size in one call of slogdet."""
    d = len(costs)
    values = np.zeros(2**d)
    for size in range(1, d + 1):
        sets = np.array(list(itertools.combinations(range(d), size)))
        for some in np.array_split(sets, max(1, len(sets) * size * size // 10**7)):
            blocks = covariance[some[:, :, None], some[:, None, :]]
            entropy = (size * LOG_TWO_PI_E + np.linalg.slogdet(blocks)[1]) / 2
            values[(1 << some).sum(axis=1)] = entropy - costs[some].sum(axis=1)
    return values


def greedy_and_swaps(covariance, costs, size=None):
    """Add the best test while that helps (or up to the size), then exchange, add and remove until nothing helps."""
    d = len(costs)
    chosen, value = [], 0.0
    while len(chosen) < d and (size is None or len(chosen) < size):
        best, i = max((worth(covariance, costs, [*chosen, i]), i) for i in range(d) if i not in chosen)
        if size is None and best <= value:
            break
        chosen, value = [*chosen, i], best
    while True:
        moves = [[*(j for j in chosen if j != out), i] for out in chosen for i in range(d) if i not in chosen]
        if size is None:
            moves += [[*chosen, i] for i in range(d) if i not in chosen]
            moves += [[j for j in chosen if j != out] for out in chosen]
        best, move = max(((worth(covariance, costs, move), move) for move in moves), default=(-np.inf, None))
        if best <= value + 1e-12:
            return sorted(chosen), value
        chosen, value = move, best


def spectral(given, needed):
    """Σ log of the eigenvalues above 1, or of the `needed` largest."""
    if len(given) == 0:
        return 0.0
    logs = np.log(np.linalg.eigvalsh(given))[::-1]
    return np.maximum(logs, 0.0).sum() if needed is None else logs[:needed].sum()


def branch_and_bound(covariance, costs, size=None, limit=60.0):
    """Best first with the spectral bound, splitting on the test with the largest variance given what is in.

    With D = exp(log(2πe)/2 − costs), twice the reward of a set is log det (D·C·D)[S,S]. Returns the value, the bound,
    nodes and seconds.
    """
    began = time.perf_counter()
    scale = np.exp(LOG_TWO_PI_E / 2 - costs)
    _, value = greedy_and_swaps(covariance, costs, size)
    best, nodes, ticket = 2 * value, 0, itertools.count()
    matrix = covariance * scale[:, None] * scale
    heap = [(-spectral(matrix, size), next(ticket), matrix, 0.0, size)]
    while heap and -heap[0][0] > best + 1e-9 and time.perf_counter() - began < limit:
        _, _, given, sure, needed = heapq.heappop(heap)
        nodes += 1
        if needed is None or needed == 0:
            best = max(best, sure)
        elif needed == len(given):
            best = max(best, sure + np.linalg.slogdet(given)[1])
            continue
        if needed == 0 or len(given) == 0:
            continue
        i = int(np.argmax(given.diagonal()))
        rest = np.delete(np.arange(len(given)), i)
        without = given[np.ix_(rest, rest)]
        child = without - np.outer(given[rest, i], given[i, rest]) / given[i, i]
        left = None if needed is None else needed - 1
        taken = sure + np.log(given[i, i])
        for node in (
            (taken + spectral(child, left), child, taken, left),
            (sure + spectral(without, needed), without, sure, needed),
        ):
            if node[0] > best + 1e-9 and (node[3] is None or 0 <= node[3] <= len(node[1])):
                heapq.heappush(heap, (-node[0], next(ticket), *node[1:]))
    bound = max(best, -heap[0][0]) if heap else best
    return best / 2, bound / 2, nodes, time.perf_counter() - began
