"""Spambase: AUROC after so many features, chosen once for everybody and chosen subject by subject.

Both start from the pair of features that boosting tells spam by best, the better one of the two first, and take one
feature after another, by cross-validation on the training rows. The static way takes the same for all, by the AUROC.
The other way parts subjects, after two and after four features, by what is believed of them by then, and takes the next
feature of each part by the log loss there. Which way is gone at a budget is settled on the validation rows. The
forecasts are then made anew, from training and validation rows: means of boosting and a random forest, five of each,
every one without a fifth of the rows.
"""

import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

BUDGETS = (1, 2, 3, 5, 10)
PUBLISHED = {
    "GDFS": (82.74, 88.83, 92.62, 95.76, 96.92),
    "static, as measured before": (84.09, 92.64, 94.79, 97.23, 98.71),
}
FOLDS, SEED, RESAMPLES = 5, 0, 1000
PARTED = {2: 3, 4: 2}
"""After so many features each part of the subjects is parted in so many."""


def read(path):
    """Return features, labels, and the numbers of the test, validation and training rows, by the published split."""
    table = np.genfromtxt(path, delimiter=",", skip_header=1)
    order = np.random.default_rng(SEED).permutation(len(table))
    fifth = len(table) // 5
    return table[:, :-1], table[:, -1].astype(int), (order[:fifth], order[fifth : 2 * fifth], order[2 * fifth :])


def beliefs(path, final, chosen):
    """Return what is believed from some features of rows that teach (each by models without it), and of those judged.

    In the end training and validation rows teach, and test rows are judged; before, validation rows are.
    """
    features, labels, (test, judged, teach) = read(path)
    if final:
        judged, teach = test, np.concatenate([judged, teach])
    fold = np.random.default_rng([SEED, 1]).permutation(np.arange(len(teach)) % FOLDS)
    columns, held_out, told = list(chosen), np.zeros(len(teach)), np.zeros(len(judged))
    for f in range(FOLDS):
        learn, aside = teach[fold != f], teach[fold == f]
        makers = models(final)
        for model in makers:
            model.fit(features[np.ix_(learn, columns)], labels[learn])
            held_out[fold == f] += model.predict_proba(features[np.ix_(aside, columns)])[:, 1] / len(makers)
            told += model.predict_proba(features[np.ix_(judged, columns)])[:, 1] / (FOLDS * len(makers))
    return held_out, told


def models(final):
    """Return the models that tell which features to take, or the pair that forecasts in the end.

    The pair was settled by the cross-validated AUROC of static sets on training and validation rows.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

    if not final:
        return [HistGradientBoostingClassifier(max_iter=80, max_leaf_nodes=8, learning_rate=0.1, random_state=SEED)]
    return [
        HistGradientBoostingClassifier(max_iter=200, max_leaf_nodes=6, learning_rate=0.05, random_state=SEED),
        RandomForestClassifier(200, min_samples_leaf=2, max_features=2, random_state=SEED),
    ]


class Beliefs:
    """Beliefs by sets of features, each computed once, on all cores."""

    def __init__(self, path, pool, *, final):
        self.path, self.pool, self.final, self.kept = path, pool, final, {}

    def want(self, sets):
        sets = list(dict.fromkeys(tuple(sorted(chosen)) for chosen in sets))
        new = [chosen for chosen in sets if chosen not in self.kept]
        self.kept.update(
            zip(new, self.pool.map(partial(beliefs, self.path, self.final), new, chunksize=2), strict=True)
        )
        return [self.kept[chosen] for chosen in sets]

    def __getitem__(self, chosen):
        return self.want([chosen])[0]


def play(path, budgets=BUDGETS, jobs=None):
    """Return AUROC at each budget, on validation and test rows, of both ways and of the one that is gone."""
    features, labels, (test, judged, teach) = read(path)
    width, most, found = features.shape[1], max(budgets), {"budgets": list(budgets)}
    with ProcessPoolExecutor(jobs or os.cpu_count(), initializer=one_thread) as pool:
        known = Beliefs(path, pool, final=False)
        order = first_two(known, width, labels[teach])
        told, ways = {}, {"static": static_way(known, order, width, labels[teach], most)}
        ways["by subject"] = parted_way(known, order, width, labels[teach], most)
        final = Beliefs(path, pool, final=True)
        for name, steps in ways.items():
            final.want([chosen for step in steps for chosen, _ in leaves(step)])
            found[f"{name}, validation"] = [auroc(labels[judged], followed(known, steps[b - 1])) for b in budgets]
            told[name] = [followed(final, steps[b - 1]) for b in budgets]
            found[f"{name}, test"] = [auroc(labels[test], each) for each in told[name]]
    better = [a > b for a, b in zip(found["by subject, validation"], found["static, validation"], strict=True)]
    both = zip(better, found["by subject, test"], found["static, test"], strict=True)
    chosen = [own if here else plain for here, own, plain in both]
    taken = [told["by subject" if here else "static"][b] for b, here in enumerate(better)]
    return found | {
        "order": leaves(ways["static"][-1])[0][0], "by subject": better, "chosen, test": chosen,
        "errors": [errors(labels[test], own, plain) for own, plain in zip(taken, told["static"], strict=True)],
    }  # fmt: skip


def one_thread():
    """Let this process compute in one thread: there is one process for each core."""
    import sklearn.ensemble  # noqa: F401  # what is loaded later is not limited
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def errors(labels, own, other):
    """Return the standard errors of an AUROC, and of the difference to another one on the same rows: a bootstrap."""
    rng, found = np.random.default_rng([SEED, 2]), []
    for _ in range(RESAMPLES):
        rows = rng.integers(len(labels), size=len(labels))
        one = auroc(labels[rows], own[rows])
        found.append((one, one - auroc(labels[rows], other[rows])))
    return np.std(found, axis=0, ddof=1).tolist()


def auroc(labels, beliefs):
    """Return the area under the ROC curve in per cent."""
    from sklearn.metrics import roc_auc_score

    return 100 * float(roc_auc_score(labels, beliefs))


def first_two(known, width, labels):
    """Return the best pair, of those with one of the six best single features, the better one of the two first."""
    single = [auroc(labels, held_out) for held_out, _ in known.want([(i,) for i in range(width)])]
    best = np.argsort(single)[::-1][:6]
    pairs = list({tuple(sorted((int(i), j))) for i in best for j in range(width) if i != j})
    told = [auroc(labels, held_out) for held_out, _ in known.want(pairs)]
    return sorted(pairs[int(np.argmax(told))], key=lambda i: -single[i])


def static_way(known, order, width, labels, most):
    """Return the features after each step, the same for all."""
    chosen = list(order)
    while len(chosen) < most:
        others = [i for i in range(width) if i not in chosen]
        told = [auroc(labels, held_out) for held_out, _ in known.want([(*chosen, i) for i in others])]
        chosen.append(others[int(np.argmax(told))])
    return [Leaf([int(i) for i in chosen[: step + 1]]) for step in range(most)]


def parted_way(known, order, width, labels, most):
    """Return a tree after each step, whose leaves have features of their own."""
    here = np.ones(len(labels), dtype=bool)
    steps = [Leaf(order[:1]), Leaf(order[:2])]
    while len(steps) < most:
        steps.append(grown(known, steps[-1], here, width, labels))
    return steps[:most]


@dataclass(frozen=True)
class Leaf:
    """Features that are known."""

    chosen: list


@dataclass(frozen=True)
class Parting:
    """Subjects parted by what is believed from some features."""

    chosen: list
    edges: np.ndarray
    parts: list


def grown(known, tree, here, width, labels):
    """Return a tree with one feature more in each leaf, and some leaves parted; `here` are the rows that come to it."""
    held_out = known[tree.chosen][0]
    if isinstance(tree, Parting):
        bins = np.searchsorted(tree.edges, held_out)
        parts = [grown(known, part, here & (bins == b), width, labels) for b, part in enumerate(tree.parts)]
        return Parting(tree.chosen, tree.edges, parts)
    several = PARTED.get(len(tree.chosen), 1)
    edges = np.quantile(held_out[here], np.arange(1, several) / several)
    bins = np.searchsorted(edges, held_out)
    others = [i for i in range(width) if i not in tree.chosen]
    tried = known.want([(*tree.chosen, i) for i in others])
    parts = []
    for b in range(several):
        own = here & (bins == b)
        losses = [loss(labels[own], each[own]) for each, _ in tried]
        parts.append(Leaf([*tree.chosen, others[int(np.argmin(losses))]]))
    return Parting(tree.chosen, edges, parts) if several > 1 else parts[0]


def leaves(tree):
    """Return every set of features that is looked at on the way."""
    below = [leaf for part in tree.parts for leaf in leaves(part)] if isinstance(tree, Parting) else []
    return [(list(tree.chosen), tree), *below]


def followed(known, tree):
    """Return what is believed of the rows that are judged, each by its leaf."""
    told = known[tree.chosen][1].copy()
    if isinstance(tree, Parting):
        bins = np.searchsorted(tree.edges, told)
        for b, part in enumerate(tree.parts):
            told[bins == b] = followed(known, part)[bins == b]
    return told


def loss(labels, beliefs):
    return float(-np.log(np.clip(np.where(labels, beliefs, 1 - beliefs), 1e-9, 1)).mean())
