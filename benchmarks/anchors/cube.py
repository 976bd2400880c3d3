"""CUBE and CUBE-NM: accuracy after so many features, with the model known and learned from 600 rows.

A class y and, where a bundle of features is bought together, a kind c of subject that shows in the bundle; given both,
features are independent and Gaussian. Learned, the kinds are the clusters of the bundle (Gaussian mixtures, their
number by BIC; none if held-out classes are no likelier with them), and the means of a feature are drawn towards its
median as far as all cells together say that most of them do not differ (a spike and a slab, by EM). Features are taken
one at a time by the expected entropy of y that is left, the last one of a budget by how often the likeliest class is
right. Looking ahead, the first one may be any that is best when two more follow, which is found by simulating subjects
of the model (a bundle that says nothing of y by itself is bought where it helps later), and the last two of a budget
are planned together: the second of them for each outcome of the first one.
"""

from dataclasses import dataclass

import numpy as np

from proband.instances.published import CLASSES, CONTEXT_SIGMA, CONTEXTS, NOISE, SIGMA, SIGNALS, codes, cube, cube_nm

BUDGETS = (3, 5, 7, 10, 14)
ROWS, TEST = 600, 4000
SEEDS = tuple(range(5))
KNOWN = {
    "CUBE-NM": {
        "exact but myopic": (0.230, 0.483, 0.682, 0.815, 0.851),
        "context first": (0.466, 0.690, 0.798, 0.850, 0.852),
    },
    "CUBE": {"greedy in entropy": (0.628, 0.764, None, 0.872, None)},
}  # fmt: skip
"""Accuracies at the budgets with the model known, from 1,500 subjects: standard error about 0.01."""
SAME = {
    "CUBE-NM": {"exact but myopic": (None,), "context first": (0,)},
    "CUBE": {"greedy in entropy": (3, 4, 5, 6)},
}
"""The ways of these figures, gone again: by expected entropy to the end, after a first test if there is one.

In CUBE four features tell the same of the class by themselves, and nobody knows with which one the figures began: at
each budget the best is taken.
"""
AHEAD, SIMULATED, POINTS, FINE_POINTS = 3, 1500, 16, 48
PAIR_POINTS, MOST_PAIRED = 10, 6
"""Outcomes of a test, and tests, that are looked at where the last two are planned together."""
FOLDS, MOST_KINDS = 5, 8


@dataclass(frozen=True)
class Model:
    """Cells (c, y): log shares (cells,), the class of each, means (cells, features) and deviations (features,)."""

    log_shares: np.ndarray
    classes: np.ndarray
    means: np.ndarray
    sigma: np.ndarray
    groups: np.ndarray

    @property
    def tests(self):
        return int(self.groups.max()) + 1

    def told(self, test, rows):
        """Return the log likelihood of each cell by what one test shows, shape (n, cells)."""
        columns = np.flatnonzero(self.groups == test)
        gap = (rows[:, None, columns] - self.means[None, :, columns]) / self.sigma[columns]
        return -0.5 * (gap**2).sum(axis=2)

    def of_classes(self, belief):
        """Return the chances of the classes from log beliefs of cells, shape (n, classes)."""
        chances = np.exp(belief - belief.max(axis=1, keepdims=True))
        by_class = chances @ np.eye(CLASSES)[self.classes]
        return by_class / by_class.sum(axis=1, keepdims=True)

    def draw(self, rng, n):
        """Draw subjects of the model: features, and classes."""
        cell = rng.choice(len(self.classes), p=np.exp(self.log_shares), size=n)
        return self.means[cell] + rng.normal(size=(n, len(self.sigma))) * self.sigma, self.classes[cell]


def known(name):
    """Return the model by definition."""
    y, code = np.arange(CLASSES), codes()
    if name == "CUBE":
        means = np.full((CLASSES, 2 * SIGNALS), 0.5)
        means[y[:, None], y[:, None] + np.arange(3)] = code
        sigma = np.full(2 * SIGNALS, NOISE)
        return Model(np.full(CLASSES, -np.log(CLASSES)), y, means, sigma, np.arange(2 * SIGNALS))
    context, classes = np.repeat(np.arange(CONTEXTS), CLASSES), np.tile(y, CONTEXTS)
    means = np.full((len(classes), CONTEXTS + CONTEXTS * SIGNALS), 0.5)
    means[:, :CONTEXTS] = np.eye(CONTEXTS)[context]
    places = (CONTEXTS + SIGNALS * context + classes)[:, None] + np.arange(3)
    means[np.arange(len(classes))[:, None], places] = code[classes]
    sigma = np.concatenate([np.full(CONTEXTS, CONTEXT_SIGMA), np.full(CONTEXTS * SIGNALS, SIGMA)])
    groups = np.concatenate([np.zeros(CONTEXTS, dtype=int), np.arange(CONTEXTS * SIGNALS) + 1])
    return Model(np.full(len(classes), -np.log(len(classes))), classes, means, sigma, groups)


def learned(features, labels, groups, *, seed=0):
    """Return the model from rows: with the kinds of a bundle, if held-out classes are likelier with them."""
    bundles = [g for g in range(groups.max() + 1) if (groups == g).sum() > 1]
    kinds = [np.zeros(len(labels), dtype=int), *(clusters(features[:, groups == g], seed) for g in bundles)]
    fold = np.random.default_rng(seed).permutation(np.arange(len(labels)) % FOLDS)
    losses = []
    for kind in kinds:
        loss = 0.0
        for f in range(FOLDS):
            here, learn = fold == f, fold != f
            model = fitted(features[learn], labels[learn], kind[learn], groups)
            belief = model.log_shares + sum(model.told(test, features[here]) for test in range(model.tests))
            loss -= np.log(model.of_classes(belief)[np.arange(here.sum()), labels[here]]).sum()
        losses.append(loss)
    return fitted(features, labels, kinds[int(np.argmin(losses))], groups)


def clusters(values, seed):
    """Return the cluster of each row, their number by BIC."""
    from sklearn.mixture import GaussianMixture

    fits = [
        GaussianMixture(k, covariance_type="spherical", n_init=10, random_state=seed).fit(values)
        for k in range(1, MOST_KINDS + 1)
    ]
    return min(fits, key=lambda fit: fit.bic(values)).predict(values)


def fitted(features, labels, kind, groups):
    """Return a model from rows whose kind is known: every kind has every class."""
    kinds = int(kind.max()) + 1
    cell = kind * CLASSES + labels
    counts = np.bincount(cell, minlength=kinds * CLASSES)
    sums = np.zeros((len(counts), features.shape[1]))
    np.add.at(sums, cell, features)
    raw = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], np.nan)
    freedom = len(labels) - (counts > 0).sum()
    sigma = np.sqrt(((features - raw[cell]) ** 2).sum(axis=0) / max(freedom, 1))
    centre = np.nanmedian(raw, axis=0)
    error = sigma / np.sqrt(np.maximum(counts, 1))[:, None]
    means = centre + np.where(np.isnan(raw), 0.0, shrunk(np.nan_to_num(raw - centre), error, counts[:, None] > 0))
    bundled = np.bincount(groups)[groups] > 1  # what shows the kind is not to be drawn together
    by_kind = np.stack([features[kind == c].mean(axis=0) for c in range(kinds)])
    means[:, bundled] = np.repeat(by_kind, CLASSES, axis=0)[:, bundled]
    sigma[bundled] = (features - by_kind[kind])[:, bundled].std(axis=0)
    shares = (counts + 1) / (counts + 1).sum()
    return Model(np.log(shares), np.tile(np.arange(CLASSES), kinds), means, sigma, groups)


def shrunk(gap, error, seen, steps=200):
    """Return the expected deviations of means from the centre: most are none (a spike), the others have a spread."""
    gap, error = np.broadcast_arrays(gap, error)
    share, spread = 0.1, max(float((gap**2 - error**2)[np.broadcast_to(seen, gap.shape)].mean()), 1e-4) * 10
    for _ in range(steps):
        slab = share * np.exp(-0.5 * gap**2 / (spread + error**2)) / np.sqrt(spread + error**2)
        spike = (1 - share) * np.exp(-0.5 * gap**2 / error**2) / error
        odds = slab / np.maximum(slab + spike, 1e-300) * seen
        share = float(odds.sum() / np.broadcast_to(seen, gap.shape).sum())
        spread = max(float((odds * (gap**2 - error**2)).sum() / max(odds.sum(), 1e-9)), 1e-6)
    return odds * spread / (spread + error**2) * gap


class Looking:
    """What each test would show under a model: weights (cells, outcomes · classes) by which cells are pooled."""

    def __init__(self, model, points=POINTS):
        self.model, self.points = model, points
        self.weights = [self._of(test) for test in range(model.tests)]

    def _of(self, test):
        model, onto = self.model, np.eye(CLASSES)[self.model.classes]
        columns = np.flatnonzero(model.groups == test)
        if len(columns) > 1:  # a bundle shows its level, as good as certainly
            _, level = np.unique(np.round(model.means[:, columns], 6), axis=0, return_inverse=True)
            shows = np.eye(int(level.max()) + 1)[level.reshape(-1)]
        else:  # a feature falls somewhere on a grid
            means, sigma = model.means[:, columns[0]], model.sigma[columns[0]]
            places = np.linspace(means.min() - 3 * sigma, means.max() + 3 * sigma, self.points)
            shows = np.exp(-0.5 * ((places - means[:, None]) / sigma) ** 2)
            shows /= shows.sum(axis=1, keepdims=True)
        return (shows[:, :, None] * onto[:, None, :]).reshape(len(onto), -1)

    def best(self, belief, taken, worth):
        """Return the test, of those not taken, after which a posterior is worth most, shape (n,)."""
        return self._scores(_chances(belief), ~taken, worth).argmax(axis=1)

    def best_before_last(self, belief, taken):
        """Return the test after which, with the best last one for each outcome, the likeliest class is right most."""
        chances = _chances(belief)
        alone = self._scores(chances, ~taken, certain)
        among = np.zeros(taken.shape, dtype=bool)
        np.put_along_axis(among, np.argsort(-alone, axis=1)[:, :MOST_PAIRED], True, axis=1)
        among &= ~taken
        found = np.full(taken.shape, -np.inf)
        for test in np.flatnonzero(among.any(axis=0)):
            here = np.flatnonzero(among[:, test])
            shows = self.weights[test].reshape(len(self.model.classes), -1, CLASSES).sum(axis=2)
            after = (chances[here, None, :] * shows.T).reshape(-1, len(shows))  # a row for each outcome
            last = np.repeat(among[here], shows.shape[1], axis=0)
            last[:, test] = False
            stopped = right((after @ np.eye(CLASSES)[self.model.classes])[:, None, :])
            best = np.maximum(self._scores(after, last, right).max(axis=1), stopped)
            found[here, test] = best.reshape(len(here), -1).sum(axis=1)
        return found.argmax(axis=1)

    def _scores(self, chances, among, worth):
        """Return what joint chances (n, cells) are worth after each of some tests, shape (n, tests)."""
        found = np.full(among.shape, -np.inf)
        for test in np.flatnonzero(among.any(axis=0)):
            here, weights = np.flatnonzero(among[:, test]), self.weights[test]
            pooled = (chances[here] @ weights).reshape(len(here), weights.shape[1] // CLASSES, CLASSES)
            found[here, test] = worth(pooled)
        return found


def _chances(belief):
    chances = np.exp(belief - belief.max(axis=1, keepdims=True))
    return chances / chances.sum(axis=1, keepdims=True)


def certain(pooled):
    """Return minus the expected entropy of the class, from joint chances (n, outcomes, classes)."""
    mass = np.maximum(pooled.sum(axis=2, keepdims=True), 1e-300)
    return (pooled * np.log(np.maximum(pooled, 1e-300) / mass)).sum(axis=(1, 2))


def right(pooled):
    """Return how probable it is that the likeliest class is right."""
    return pooled.max(axis=2).sum(axis=1)


def follow(looking, rows, budgets, first=None, last_for=right, pairs=None):
    """Return the chances of the classes at each budget, shape (budgets, n, classes).

    Tests are taken for certainty, after a first one if that is given; the last one of a budget for being right, or the
    last two together, by what `pairs` sees.
    """
    model, belief = looking.model, np.tile(looking.model.log_shares, (len(rows), 1))
    taken, shown = np.zeros((len(rows), model.tests), dtype=bool), {}
    for step in range(1, max(budgets) + 1):
        given = np.full(len(rows), first) if step == 1 and first is not None else None
        if step in budgets and (pairs is None or step == 1):
            last = looking.best(belief, taken, last_for) if given is None else given
            shown[step] = model.of_classes(belief + _told(model, rows, last))
        if step + 1 in budgets and pairs is not None:
            test = pairs.best_before_last(belief, taken) if given is None else given
            known, done = _taken(model, rows, belief, taken, test)
            last = looking.best(known, done, last_for)
            shown[step + 1] = model.of_classes(known + _told(model, rows, last))
        if step == max(budgets):
            break
        test = looking.best(belief, taken, certain) if given is None else given
        belief, taken = _taken(model, rows, belief, taken, test)
    return np.array([shown[budget] for budget in budgets])


def _taken(model, rows, belief, taken, tests):
    """Return beliefs, and what is taken, after one more test of each subject."""
    done = taken.copy()
    done[np.arange(len(rows)), tests] = True
    return belief + _told(model, rows, tests), done


def _told(model, rows, tests):
    told = np.empty((len(rows), len(model.classes)))
    for test in np.unique(tests):
        here = tests == test
        told[here] = model.told(test, rows[here])
    return told


def first_test(looking, rng):
    """Return the first test: the one after which, with two more, the classes of simulated subjects are likeliest."""
    rows, labels = looking.model.draw(rng, SIMULATED)
    scores = []
    for test in range(looking.model.tests):
        [chances] = follow(looking, rows, (AHEAD,), first=test)
        scores.append(np.log(np.maximum(chances[np.arange(len(labels)), labels], 1e-12)).mean())
    return int(np.argmax(scores))


def play(name, seed, *, rows=ROWS, test=TEST, budgets=BUDGETS):
    """Return accuracies at each budget: known model and learned from rows, greedy and with a first test looked for."""
    rng = np.random.default_rng([seed, 8])
    draw = cube if name == "CUBE" else cube_nm
    taught, judged = draw(rng, rows), draw(rng, test)
    found = {"name": name, "seed": seed, "rows": rows, "test": test}
    models = {"known": known(name), "learned": learned(taught.features, taught.labels, taught.groups, seed=seed)}
    for kind, model in models.items():
        looking, pairs = Looking(model), Looking(model, PAIR_POINTS)
        for way, first, last in (("myopic", None, None), ("ahead", first_test(looking, rng), pairs)):
            shown = follow(looking, judged.features, budgets, first=first, pairs=last)
            found[f"{kind}, {way}"] = (shown.argmax(axis=2) == judged.labels).mean(axis=1).tolist()
            found[f"{kind}, {way}, first"] = first
    fine = Looking(models["known"], FINE_POINTS)
    for way, firsts in SAME[name].items():
        shown = [follow(fine, judged.features, budgets, first=first, last_for=certain) for first in firsts]
        right_ones = [(each.argmax(axis=2) == judged.labels).mean(axis=1) for each in shown]
        found[way] = np.max(right_ones, axis=0).tolist()
    belief = models["known"].log_shares + sum(
        fine.model.told(test, judged.features) for test in range(fine.model.tests)
    )
    found["everything"] = float((models["known"].of_classes(belief).argmax(axis=1) == judged.labels).mean())
    return found
