"""A law of many tests from few subjects: rows that were seen, rows that a model draws, and weights by likelihood.

With 30 tests nothing is seen twice, and the product space cannot be listed. The law lives on a *growing support*:

* the rows seen completely, the labelled incomplete ones with what is missing drawn from a model, and rows that the
  model draws anew; each of them once for every label (a *label*: what the reward's targets show);
* the model: latent classes (:mod:`proband.estimators.listed.latent`), fitted to all records, complete or not; labels
  given the other tests are ⅔ ridge logistic regression, ⅓ latent classes. The regression is fitted to complete
  subjects, and again to all labelled ones, each spread over the rows that agree with it by the weights found meanwhile:
  what a model drew into the gaps of a record is no evidence for that model.

The weights are the fixed point of EM with pseudo-counts (:mod:`proband.estimators.listed.likelihood`): at least `prior`
pseudo-subjects, or a `share` of the subjects that tell about labels, a part of them on drawn rows and the rest on seen
ones, in proportion to what these weigh by the likelihood: completed subjects are chosen, their shares are not the
law's. What was seen of every record counts, and records that agree with no row of the support change its weights not.

As subjects accrue, seen rows outweigh the model: the estimate is consistent where every row is seen completely with
positive probability. Draws are seeded by `seed` and the number of subjects: the same records give the same estimate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proband.distributions import Discrete, weighted_sum
from proband.distributions.discrete import row_ids
from proband.errors import DistributionError
from proband.estimators.listed.agreement import Agreeing, agreeing
from proband.estimators.listed.labels import design, fit_labels, label_chances
from proband.estimators.listed.latent import LatentClasses, Levels, fit_classes
from proband.estimators.listed.observations import CountingEstimator
from proband.problem import Problem
from proband.rewards import Table
from proband.vocabulary import FloatArray, IntArray, outcome_codes, outcome_rows

MOST_LABELS = 64
"""Targets with more outcomes together are tests like all others."""

LOGISTIC = 2 / 3
"""Share of the regression in what is believed of a label."""

DRAWN = 0.8
"""Share of the pseudo-subjects on rows that the model drew."""

MOST_IMPUTED = 4000
"""So many incomplete observations, at most, bring rows of their own: some of them, drawn by lot."""

FOR_EACH_TEST, LEAST_PRIOR, MOST_PRIOR = 10.0, 300.0, 600.0
"""Pseudo-subjects for each test, and how many there are at least, and at most, while few subjects were seen."""

DRAWN_PER_SUBJECT, MOST_DRAWN = 2.0, 8000
"""Rows that are drawn for each subject that tells about labels, and how many at most: a plan learns few rows by heart.
"""

PENALTY = 0.5
"""What a node of a plan should cost, times subjects that tell and pseudo-subjects, over what a decision is about."""

PLAIN = 2.0
"""Subjects who do not tell about labels count for so many of those who do, at most, in the model."""

FAINT = 1e-3
EM_STEPS, SEEN_STEPS, DRAW_STEPS = 30, 8, 10


@dataclass(frozen=True)
class Fitted:
    """An estimate: rows (K, d), their pseudo-subjects, subjects seen so, and weights, and who agrees with them."""

    rows: FloatArray
    prior: FloatArray
    own: FloatArray
    weights: FloatArray
    agree: Agreeing


class Structured(CountingEstimator):
    """Estimate a law of many tests with structure, from complete and incomplete records.

    Parameters
    ----------
    problem : Problem
    seed : int, default 0
        Of random starts and draws.
    classes, models, steps : int
        Latent classes of a model, how many models are averaged, and their steps of EM.
    draws : int, default 2000
        How many rows the models draw, at least: two for each subject that tells about labels, up to 8,000.
    prior : float, optional
        Pseudo-subjects, at least; by default 10 for each test, not below 300 and not above 600.
    share : float, default 0.5
        Pseudo-subjects, as a share of the subjects that tell about labels.
    bundle : int, default 8
        A subject tells about labels if it has one, and shows so many other tests, or all but one.

    Examples
    --------
    >>> from proband import Problem, Records, Test
    >>> from proband.rewards import Table
    >>> tests = [Test(f"test {i}", 0.02) for i in range(30)] + [Test("label", 0.25)]
    >>> problem = Problem(tests, ["pass", "fail"], Table(["label"], [[1, 0], [0, 1]]))
    >>> rows = np.random.default_rng(0).integers(2, size=(200, 31)).astype(float)
    >>> rows[:, 30] = rows[:, 3]
    >>> estimator = Structured(problem, seed=1, draws=200)
    >>> estimator.update(Records(rows))
    >>> law = estimator.distribution()
    >>> bool(law.mass(np.where(np.arange(31) == 30, 1.0, np.where(np.arange(31) == 3, 1.0, np.nan)))[0] > 0.4)
    True
    """

    def __init__(
        self,
        problem: Problem,
        *,
        seed: int = 0,
        classes: int = 32,
        models: int = 3,
        steps: int = 25,
        draws: int = 2000,
        prior: float | None = None,
        share: float = 0.5,
        bundle: int = 8,
    ) -> None:
        super().__init__(problem)
        if prior is None:
            prior = min(max(FOR_EACH_TEST * problem.d, LEAST_PRIOR), MOST_PRIOR)
        if min(classes, models, steps, draws) < 1 or not prior > 0 or not share >= 0:
            raise DistributionError(
                f"classes is {classes}, models {models}, steps {steps}, draws {draws}, prior {prior}, share {share}; "
                "the first four must be 1 or more, the prior positive, the share 0 or more; correct them"
            )
        self.seed, self.classes, self.models, self.steps = seed, classes, models, steps
        self.n_draws, self.prior, self.share, self.bundle = draws, prior, share, bundle
        self.levels = Levels.of(problem.k)
        self.targets = label_tests(problem)
        self.n_labels = int(np.prod(problem.k[self.targets], initial=1))
        self.features = np.array([i for i in range(problem.d) if i not in self.targets], dtype=np.int64)
        self.visible = np.array([i for i in self.features if problem.tests[i].available], dtype=np.int64)
        self._fit: Fitted | None = None

    @property
    def support(self) -> FloatArray:
        """The rows that may have mass, shape (K, d)."""
        return self.fit().rows

    @property
    def probabilities(self) -> FloatArray:
        """The estimate over :attr:`support`, shape (K,)."""
        weights = self.fit().weights
        return np.asarray(weights / weights.sum())

    @property
    def telling(self) -> float:
        """How many subjects tell about labels."""
        return float(self.observations.counts[self.tells(self.observations.rows)].sum())

    @property
    def pseudo(self) -> float:
        """How many pseudo-subjects there are."""
        return max(self.prior, self.share * self.telling)

    def halves(self, rng: np.random.Generator) -> list[Structured]:
        """Return two estimators, each with half of the subjects that tell about labels, by lot, and all others."""
        rows, counts = self._in_order()
        told = self.tells(rows)
        drawn = np.where(told, rng.binomial(counts.astype(np.int64), 0.5), 0)
        made = []
        for part in (drawn, counts.astype(np.int64) - drawn):
            half = Structured(
                self.problem, seed=self.seed + 1, classes=self.classes, models=self.models, steps=self.steps,
                draws=self.n_draws, prior=self.prior, share=self.share, bundle=self.bundle,
            )  # fmt: skip
            kept = np.where(told, part, counts).astype(np.int64)
            half.update_counts(rows[kept > 0], kept[kept > 0])
            made.append(half)
        return made

    def tells(self, rows: FloatArray) -> NDArray[np.bool_]:
        """Return who tells about labels: labelled, and with so many tests as an extra has, or all but one."""
        labelled = ~np.isnan(rows[:, self.targets]).any(axis=1)
        shown = (~np.isnan(rows[:, self.visible])).sum(axis=1)
        return np.asarray(labelled & (shown >= min(self.bundle, len(self.visible) - 1)))

    @property
    def penalty(self) -> float:
        """What a node of a plan should cost, so that it does not follow chance."""
        payoff = self.problem.payoff(self.support)
        about = weighted_sum(self.probabilities, np.ptp(payoff, axis=1))
        return PENALTY * about / (self.telling + self.pseudo)

    def update_counts(self, observations: object, counts: object) -> None:
        """Learn from observations (u, d) that were seen `counts` (u,) times; None for once each."""
        super().update_counts(observations, counts)  # type: ignore[arg-type]
        self._fit = None

    def fit(self) -> Fitted:
        """Return the estimate from all subjects so far (kept until the next update)."""
        if self._fit is None:
            self._fit = self._fitted(np.random.default_rng([self.seed, int(self.observations.total)]))
        return self._fit

    def draws(self, rng: np.random.Generator, n: int) -> FloatArray:
        """Draw n laws around the estimate, shape (n, K), over :attr:`support`.

        Rows and records get random weights of mean 1 (a Bayesian bootstrap), then EM as for the estimate.
        """
        fit, drawn = self.fit(), np.empty((n, len(self.support)))
        for place in range(n):
            base = rng.standard_gamma(fit.prior + 1e-9) + rng.standard_gamma(fit.own + 1e-9)
            counts = rng.standard_gamma(np.maximum(fit.agree.counts, 1e-9))
            drawn[place] = base + 1e-6 * fit.weights
            fit.agree.with_counts(counts).spread(base, drawn[place], DRAW_STEPS)
        return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))

    def draw(self, rng: np.random.Generator) -> Discrete:
        """Draw a law around the estimate."""
        return Discrete.from_weights(self.support, self.draws(rng, 1)[0])

    def _estimate(self) -> tuple[FloatArray, FloatArray]:
        fit = self.fit()
        return fit.rows, fit.weights

    def _fitted(self, rng: np.random.Generator) -> Fitted:
        seen, counts = self._in_order()
        labelled = ~np.isnan(seen[:, self.targets]).any(axis=1)
        telling = self.tells(seen)
        # The others are many, and show a plan's few tests: classes would describe nothing but these.
        share = min(1.0, PLAIN * float(counts[telling].sum()) / max(1.0, float(counts[~telling].sum())))
        tempered = np.where(telling, counts, share * counts)
        shown = self.levels.shown(seen)
        models = [
            fit_classes(self.levels, shown, tempered, rng, classes=self.classes, steps=self.steps)
            for _ in range(self.models)
        ]
        whole = labelled & ~np.isnan(seen[:, self.features]).any(axis=1)
        told, loose = np.flatnonzero(whole), np.flatnonzero(~whole)
        rows, which, from_model = self._grown(rng, models, seen[told], seen[labelled & ~whole])
        own = np.zeros((len(rows), self.n_labels))
        np.add.at(own, (which, self._label_codes(seen[told])), counts[told])
        split = self._split(rows)
        agree = Agreeing(*agreeing(seen[loose], split), counts[loose], np.asarray(labelled)[loose], self.n_labels)
        beliefs = Beliefs(self, models, rows)
        prior, weights = self._weighed(own, from_model, beliefs.given(own), agree)
        if self.n_labels > 1:
            taught = weights.copy()
            agree.with_counts(np.where(telling[loose], counts[loose], 0.0)).spread(own.ravel(), taught, 1)
            prior, weights = self._weighed(own, from_model, beliefs.given(taught.reshape(own.shape)), agree)
        return Fitted(split, prior.ravel(), own.ravel(), weights, agree)

    def _grown(
        self, rng: np.random.Generator, models: list[LatentClasses], told: FloatArray, part: FloatArray
    ) -> tuple[FloatArray, IntArray, FloatArray]:
        """Return rows of features (n, features), which of them were told, and the shares of rows that models drew."""
        if len(part) > MOST_IMPUTED:
            part = part[np.sort(rng.choice(len(part), MOST_IMPUTED, replace=False))]
        imputed, drawn = self._imputed(rng, models, part), self._drawn(rng, models)
        every = np.vstack([told, imputed, drawn])[:, self.features]
        _, first, which = np.unique(row_ids(every), return_index=True, return_inverse=True)
        return every[first], which[: len(told)], np.bincount(which[-len(drawn) :], minlength=len(first)) / len(drawn)

    def _weighed(
        self, own: FloatArray, from_model: FloatArray, soft: FloatArray, agree: Agreeing
    ) -> tuple[FloatArray, FloatArray]:
        """Return pseudo-subjects (n, labels) and weights (n · labels,), from beliefs about labels (n, labels)."""
        by_likelihood = (own + FAINT * soft).ravel()
        start = by_likelihood + FAINT * (from_model[:, None] * soft).ravel()
        agree.spread(by_likelihood, start, SEEN_STEPS)
        mass = start.reshape(own.shape).sum(axis=1)
        prior = self.pseudo * ((1 - DRAWN) * mass / mass.sum() + DRAWN * from_model)[:, None] * soft
        weights = (prior + own).ravel() + 1e-12
        agree.spread((prior + own).ravel(), weights, EM_STEPS)
        return prior, weights

    def _in_order(self) -> tuple[FloatArray, FloatArray]:
        """Return observations and counts in an order of their own, so that it does not matter how they came."""
        rows, counts = self.observations.rows, self.observations.counts
        order = np.lexsort(np.nan_to_num(rows, nan=-1.0).T[::-1]) if len(rows) else np.empty(0, dtype=np.int64)
        return rows[order], counts[order]

    def _imputed(self, rng: np.random.Generator, models: list[LatentClasses], rows: FloatArray) -> FloatArray:
        """Return rows with missing entries drawn, each by one of the models."""
        made, which = rows.copy(), rng.integers(len(models), size=len(rows))
        for number, model in enumerate(models):
            made[which == number] = model.completed(rng, rows[which == number])
        return made

    def _drawn(self, rng: np.random.Generator, models: list[LatentClasses]) -> FloatArray:
        wanted = max(self.n_draws, min(MOST_DRAWN, math.ceil(DRAWN_PER_SUBJECT * self.telling)))
        each = -(-wanted // len(models))
        return np.vstack([m.draw(rng, rng.choice(len(m.shares), p=m.shares, size=each)) for m in models])

    def _label_codes(self, rows: FloatArray) -> IntArray:
        if self.n_labels == 1:
            return np.zeros(len(rows), dtype=np.int64)
        return outcome_codes(rows[:, self.targets], [self.problem.tests[i] for i in self.targets])

    def _split(self, rows: FloatArray) -> FloatArray:
        """Return each row of features once for each label, shape (n · labels, d)."""
        split = np.empty((len(rows) * self.n_labels, self.problem.d))
        split[:, self.features] = np.repeat(rows, self.n_labels, axis=0)
        labels = outcome_rows(np.arange(self.n_labels), [self.problem.tests[i] for i in self.targets])
        split[:, self.targets] = np.tile(labels, (len(rows), 1))
        return split


class Beliefs:
    """What is believed of the label of each row of features (n, features): by latent classes, and by regression."""

    def __init__(self, estimator: Structured, models: list[LatentClasses], rows: FloatArray) -> None:
        problem, levels, features, targets = (
            estimator.problem, estimator.levels, estimator.features, estimator.targets
        )  # fmt: skip
        blank = np.full((len(rows), problem.d), np.nan)
        blank[:, features] = rows
        shown = levels.shown(blank)
        labels = outcome_rows(np.arange(estimator.n_labels), [problem.tests[i] for i in targets])
        columns = levels.first[targets] + labels.astype(np.int64)  # (labels, targets)
        by_class = [np.exp(np.log(m.outcomes[:, columns]).sum(axis=2)) for m in models]
        self.by_classes: FloatArray = np.mean(
            [np.einsum("rc,cl->rl", m.posterior(shown), by) for m, by in zip(models, by_class, strict=True)], axis=0
        )
        self.design = design(rows, problem.k[features])
        self._found: FloatArray | None = None

    def given(self, taught: FloatArray) -> FloatArray:
        """Return the belief of each label, from the subjects seen with each label at each row: (n, labels) both."""
        here = taught.sum(axis=1) > 0
        if taught.shape[1] == 1 or not here.any():
            return self.by_classes
        self._found = fit_labels(self.design[here], taught[here], self._found)
        return LOGISTIC * label_chances(self.design, self._found) + (1 - LOGISTIC) * self.by_classes


def label_tests(problem: Problem) -> list[int]:
    """Return the tests that the reward is about, if it is a table of few outcomes; else none."""
    reward = problem.reward
    if not isinstance(reward, Table):
        return []
    targets = [problem.test_index(name) for name in reward.targets]
    many = np.prod(problem.k[targets].astype(np.float64)) > MOST_LABELS
    return [] if many or len(targets) == problem.d else targets
