"""The methods: each from a split to a score on its test rows; nothing is chosen on these."""

import numpy as np

import proband
from proband import Discrete

DEEPEST = 5
FOLDS = 5
MOST_FEATURES = 8


def fit(split, *, seed=0):
    """The recipe of the library, with its defaults."""
    found = proband.fit(split.problem, split.records(split.train), validate=False, seed=seed)
    return split.score_policy(found.plan)


def raw(split, *, seed=0):
    """The exact plan for the training rows as they are."""
    best = proband.plan(split.problem, Discrete.from_records(split.records(split.train)), method="dense")
    return split.score_policy(best)


def pystreed_three(split, *, seed=0):
    """The exact tree of depth 3."""
    return pystreed_of_depth(split, 3)


def pystreed_tuned(split, *, seed=0):
    """The exact tree of the depth, 0 to 5, that costs least in 5-fold cross-validation on the training rows."""
    fold = np.random.default_rng([seed, 5]).permutation(len(split.train)) % FOLDS
    costs = np.zeros(DEEPEST + 1)
    for f in range(FOLDS):
        learn, judge = split.train[fold != f], split.train[fold == f]
        for depth in range(DEEPEST + 1):
            costs[depth] += _tree_cost(split, depth, learn, judge) * len(judge)
    return pystreed_of_depth(split, int(costs.argmin()))


def pystreed_of_depth(split, depth):
    """The exact tree of a depth."""
    if depth == 0:
        return split.prices.score(_constant(split, split.train)[split.test[:, 0]], split.test[:, 0])
    return float(_tree(split, depth, split.train).score(split.test[:, 1:], split.test[:, 0]))


def static(split, *, seed=0):
    """The best fixed set of tests for gradient boosting, by forward selection on the cost in cross-validation."""
    from sklearn.model_selection import StratifiedKFold

    labels, rows = split.train[:, 0], split.outcomes(split.train)
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(rows, labels))
    chosen, best = [], _judged(split, rows, labels, [], folds, seed)
    while len(chosen) < MOST_FEATURES:
        others = [i for i in range(rows.shape[1]) if i not in chosen]
        tried = {i: _judged(split, rows, labels, [*chosen, i], folds, seed) for i in others}
        if not tried or min(tried.values()) >= best:
            break
        chosen.append(min(tried, key=tried.get))
        best = min(tried.values())
    decided = _decided(split, rows, labels, split.outcomes(split.test), chosen, seed)
    truth = split.test[:, 0]
    return split.prices.score(_price(split, chosen) + split.prices.errors[truth, decided], truth)


METHODS = {
    "proband.fit": fit,
    "raw exact plan": raw,
    "pystreed, depth by cross-validation": pystreed_tuned,
    "pystreed, depth 3": pystreed_three,
    "static selection + boosting": static,
}


def _tree(split, depth, rows):
    from pystreed import STreeDCostSensitiveClassifier
    from pystreed.data import CostSpecifier, FeatureCostSpecifier

    prices = [FeatureCostSpecifier(t.cost, t.group_cost, t.group, t.first, t.last) for t in split.prices.tests]
    model = STreeDCostSensitiveClassifier(max_depth=depth)
    model.fit(rows[:, 1:], rows[:, 0], CostSpecifier(split.prices.errors.tolist(), prices))
    return model


def _constant(split, rows):
    """What each true class costs under the best decision without a test."""
    shares = np.bincount(rows[:, 0], minlength=len(split.prices.errors))
    return split.prices.errors[:, (shares @ split.prices.errors).argmin()]


def _tree_cost(split, depth, learn, judge):
    """The mean cost of a subject; pystreed's score without its division."""
    if depth == 0:
        return float(_constant(split, learn)[judge[:, 0]].mean())
    unit = split.prices.score(np.ones(1), judge[:, 0])
    return float(_tree(split, depth, learn).score(judge[:, 1:], judge[:, 0])) / unit


def _price(split, chosen):
    """What a fixed set costs in the cheapest order."""
    return float(split.problem.prices.of(list(chosen))) if chosen else 0.0


def _judged(split, rows, labels, chosen, folds, seed):
    cost = 0.0
    for learn, judge in folds:
        decided = _decided(split, rows[learn], labels[learn], rows[judge], chosen, seed)
        cost += split.prices.errors[labels[judge], decided].sum()
    return cost / len(rows) + _price(split, chosen)


def _decided(split, rows, labels, others, chosen, seed):
    """Return the decisions with the least expected cost by boosting on some tests."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    errors = split.prices.errors
    shares = np.bincount(labels, minlength=len(errors)) / len(labels)
    if not chosen:
        return np.full(len(others), (shares @ errors).argmin())
    model = HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=8, categorical_features=range(len(chosen)))
    model.set_params(random_state=seed, early_stopping=False)
    model.fit(rows[:, chosen], labels)
    chances = np.zeros((len(others), len(errors)))
    chances[:, model.classes_] = model.predict_proba(others[:, chosen])
    return (chances @ errors).argmin(axis=1)
