"""What labels are, given the other tests: models, each too simple or too free to be true, none best everywhere.

* naive Bayes: tests are independent given the label;
* a tree-augmented one: each test may depend on the label and on one other test, where BIC says that this pays;
* ridge multinomial logistic regression;
* boosted trees (:mod:`proband.estimators.listed.boosting`), of one question each and of several.

How much each counts is settled in :mod:`proband.fitting.mixing`.
Rows are complete and weighted. The law of the tests themselves is half that of the rows, half latent classes
(:mod:`proband.estimators.listed.latent`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from proband.distributions import totals
from proband.estimators.listed.boosting import Boosting, boost
from proband.estimators.listed.labels import design, fit_labels, label_chances
from proband.vocabulary import FloatArray, IntArray

Chances = Callable[[IntArray], FloatArray]
"""From rows of features (n, features) to the probability of each label, shape (n, labels)."""


@dataclass(frozen=True)
class Taught:
    """Complete rows of features (n, features), their labels and weights (n,), and how many outcomes there are.

    `subject` (n,) numbers the subjects of whom rows are a part.
    """

    features: IntArray
    labels: IntArray
    weights: FloatArray
    k: IntArray
    n_labels: int
    subject: IntArray

    def only(self, rows: IntArray) -> Taught:
        """Return some of the rows."""
        own = (self.features[rows], self.labels[rows], self.weights[rows])
        return Taught(*own, self.k, self.n_labels, self.subject[rows])

    def counts(self, *columns: int) -> FloatArray:
        """Return the weight of each label with each outcome of some features, shape (labels, k, ...)."""
        shape = (self.n_labels, *(int(self.k[i]) for i in columns))
        code = np.ravel_multi_index((self.labels, *(self.features[:, i] for i in columns)), shape)
        return totals(code, self.weights, int(np.prod(shape))).reshape(shape)


Model = Callable[[Taught], Chances]


def naive(taught: Taught) -> Chances:
    """Return naive Bayes given the label, with one pseudo-subject on each test in each label."""
    prior, tables = _prior(taught), [np.log(_naive_table(taught, i)).T for i in range(len(taught.k))]

    def chances(rows: IntArray) -> FloatArray:
        scores = np.tile(prior, (len(rows), 1))
        for i, table in enumerate(tables):
            scores += table[rows[:, i]]
        return _normalised(scores)

    return chances


def augmented(taught: Taught) -> Chances:
    """Return naive Bayes in which a test may also depend on one other test."""
    prior, parents = _prior(taught), tree_of(taught)
    tables = [_table_given(taught, i, parent) for i, parent in enumerate(parents)]

    def chances(rows: IntArray) -> FloatArray:
        scores = np.tile(prior, (len(rows), 1))
        for i, (parent, table) in enumerate(zip(parents, tables, strict=True)):
            scores += table[rows[:, i]] if parent < 0 else table[rows[:, parent], rows[:, i]]
        return _normalised(scores)

    return chances


def logistic(taught: Taught) -> Chances:
    """Return ridge multinomial logistic regression on the outcomes."""
    rows, which = np.unique(taught.features, axis=0, return_inverse=True)
    told = np.zeros((len(rows), taught.n_labels))
    np.add.at(told, (which.reshape(-1), taught.labels), taught.weights)
    found = fit_labels(design(rows, taught.k), told)
    return lambda rows: label_chances(design(rows, taught.k), found)


def stumps(taught: Taught) -> Chances:
    """Return boosted trees with one question each: tests act one by one, in any way."""
    return _boosted(taught, STUMPS)


def trees(taught: Taught) -> Chances:
    """Return boosted trees with up to five questions: tests act together."""
    return _boosted(taught, TREES)


def _boosted(taught: Taught, settings: Boosting) -> Chances:
    return boost(
        taught.features, taught.labels, taught.k, taught.n_labels, weights=taught.weights, settings=settings
    ).chances


STUMPS, TREES = (Boosting(leaves=leaves, rate=0.3, patience=8) for leaves in (2, 6))

MODELS: Sequence[Model] = (naive, augmented, logistic, stumps, trees)
"""The models that are mixed."""

QUICK: Sequence[Model] = (naive, augmented, logistic)
"""Those that are fitted in no time."""

BELIEFS: Sequence[Model] = (
    naive,
    augmented,
    logistic,
    partial(_boosted, settings=replace(STUMPS, models=1)),
    partial(_boosted, settings=replace(TREES, models=1)),
)
"""What stands for each where it is only to be weighed."""


def shares_of(taught: Taught) -> FloatArray:
    """Return the shares of the labels, shape (labels,)."""
    return np.asarray(np.exp(_prior(taught)))


def tree_of(taught: Taught) -> list[int]:
    """Return, for each feature, another one on which it depends given the label, or -1: a forest, pruned by BIC."""
    n, total = len(taught.k), taught.weights.sum()
    gains = np.full((n, n), -np.inf)
    for i in range(n):
        for j in range(i):
            free = taught.n_labels * (taught.k[i] - 1) * (taught.k[j] - 1)
            gains[i, j] = gains[j, i] = _information(taught.counts(i, j)) - 0.5 * np.log(max(total, 2.0)) * free
    parents, joined = [-1] * n, np.zeros(n, dtype=np.bool_)
    while not joined.all():
        reach = np.where(joined[:, None] & ~joined, gains, -np.inf)
        parent, child = np.unravel_index(int(np.argmax(reach)), reach.shape)
        if reach[parent, child] > 0:
            parents[child] = int(parent)
        else:
            child = np.flatnonzero(~joined)[0]
        joined[child] = True
    return parents


def _information(counts: FloatArray) -> float:
    """Return n times the information of two features about each other, given the label: counts (labels, a, b)."""
    own = counts.sum(axis=(1, 2), keepdims=True)
    expected = counts.sum(axis=2, keepdims=True) * counts.sum(axis=1, keepdims=True) / np.maximum(own, 1e-300)
    return float((counts * np.log(np.where(counts > 0, counts / np.maximum(expected, 1e-300), 1.0))).sum())


def _prior(taught: Taught) -> FloatArray:
    shares = taught.counts() + 0.5
    return np.asarray(np.log(shares / shares.sum()))


def _naive_table(taught: Taught, i: int) -> FloatArray:
    counts = taught.counts(i) + 1.0 / taught.k[i]
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _table_given(taught: Taught, i: int, parent: int) -> FloatArray:
    """Return log P(x_i | label) as (k, labels), or log P(x_i | parent, label) as (parent's k, k, labels)."""
    alone = _naive_table(taught, i)
    if parent < 0:
        return np.asarray(np.log(alone).T)
    counts = taught.counts(parent, i) + 2.0 * alone[:, None, :]
    return np.asarray(np.log(counts / counts.sum(axis=2, keepdims=True)).transpose(1, 2, 0))


def _normalised(scores: FloatArray) -> FloatArray:
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(scores / scores.sum(axis=1, keepdims=True))
