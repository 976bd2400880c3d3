"""The estimators: a classifier that pays for what it looks at, and its sibling for any rewards of decisions."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from proband.sklearn.base import SequentialBase
from proband.sklearn.walking import Treated
from proband.vocabulary import FloatArray


@dataclass(eq=False, repr=False)
class SequentialTestClassifier(ClassifierMixin, SequentialBase):  # type: ignore[misc]
    """A classifier that looks at a column only if what it may show is worth its cost.

    Parameters
    ----------
    costs : float, sequence or mapping, default 0.0
        What it costs to look at a column: the same for all, one for each, or by name (others are free).
    misclassification : float, array or mapping, default None
        What a wrong class costs: the same for all errors (1 by default), an array (true, predicted) in the order of
        ``classes_``, or ``{(true, predicted): cost}`` (others cost 1).
    groups : mapping, optional
        ``{group: {column: price}}``: what columns cost once another one of their group was looked at.
    max_tests, budget : optional
        Most columns to look at, most to pay for one subject.
    bins : int, default 5
        Numbers are cut into so many parts, where these tell the labels apart best.
    penalty : float or "auto", default 0.3
        Of small leaves, in units of what a mistake costs; "auto" chooses it by cross-validation (slow).
    min_leaf : int, default 5
        A column is looked at where each of its outcomes was seen on so many subjects, or on none.
    random_state : int, RandomState instance or None

    Attributes
    ----------
    classes_ : ndarray
    tree_ : Tree
        The policy as a decision tree.
    expected_cost_, expected_value_ : float
        What a new subject costs, and brings in all, by what the policy believes.
    plan_, strength_, notes_
        Of :func:`proband.fit`.

    Notes
    -----
    A missing cell at fit is learned from by likelihood. At predict it is a test that cannot be run: what is best
    without it is done. A text that no row had at fit is as good as missing.

    Examples
    --------
    >>> model = SequentialTestClassifier(costs={"dear": 0.4, "cheap": 0.01}, min_leaf=1)
    >>> import pandas as pd
    >>> X = pd.DataFrame({"dear": ["a", "b"] * 20, "cheap": ["u", "v"] * 20})
    >>> model.fit(X, ["no", "yes"] * 20).next_test({})
    'cheap'
    >>> model.predict(pd.DataFrame({"dear": ["b"], "cheap": [None]})).tolist()
    ['yes']
    """

    costs: Any = 0.0
    misclassification: Any = None

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, sorted."""
        check_is_fitted(self, "truths_")
        return np.asarray(self.truths_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row that costs least, by what was looked at, shape (n,)."""
        return self._named(self._treated(X))

    def _named(self, treated: Treated) -> NDArray[Any]:
        return np.asarray(self.truths_[self._decided(treated)])

    def _rewards(self, truths: NDArray[Any]) -> tuple[list[str], FloatArray]:
        k, given = len(truths), self.misclassification
        losses = 1.0 - np.eye(k)
        if isinstance(given, Mapping):
            place = {truth: n for n, truth in enumerate(truths.tolist())}
            unknown = [name for pair in given for name in pair if name not in place]
            if unknown:
                told = ", ".join(repr(name) for name in place)
                raise ValueError(f"misclassification names {unknown[0]!r}, which y never is; classes are {told}")
            for (true, predicted), cost in given.items():
                losses[place[true], place[predicted]] = cost
        elif given is not None:
            losses = losses * float(given) if isinstance(given, numbers.Real) else np.asarray(given, dtype=np.float64)
        if losses.shape != (k, k) or not np.isfinite(losses).all():
            raise ValueError(
                f"misclassification has shape {losses.shape}; there must be a finite cost for each of {k} × {k} "
                "pairs of a true class and a predicted one; give a number, an array or a mapping"
            )
        if (losses < np.diagonal(losses)[:, None]).any():
            raise ValueError(
                f"misclassification is {given!r}: a wrong class would cost less than the right one; give costs, "
                "which are larger the worse it is"
            )
        return [f"{n}: {truth}" for n, truth in enumerate(truths)], -losses


@dataclass(eq=False, repr=False)
class SequentialTestPolicy(SequentialBase):
    """A policy that looks at columns while that is worth it, then takes the decision with the largest reward.

    Parameters
    ----------
    rewards : mapping, optional
        ``{truth: {decision: reward}}`` for each value that y may have; by default the decisions are the values of y,
        and the right one brings 1.
    costs, groups, max_tests, budget, bins, penalty, min_leaf, random_state
        As for :class:`SequentialTestClassifier`.

    Attributes
    ----------
    decisions_ : ndarray
    tree_, expected_cost_, expected_value_, plan_, strength_, notes_
        As for :class:`SequentialTestClassifier`.

    Examples
    --------
    >>> rewards = {"sound": {"ship": 5.0, "scrap": -2.0}, "cracked": {"ship": -60.0, "scrap": -1.0}}
    >>> import pandas as pd
    >>> X = pd.DataFrame({"magnetic": ["clear"] * 90 + ["indication"] * 10})
    >>> y = ["sound"] * 88 + ["cracked"] * 12
    >>> policy = SequentialTestPolicy(rewards, costs=0.5).fit(X, y)
    >>> policy.predict(X[-1:]).tolist(), policy.cost(X[-1:]).tolist()
    (['scrap'], [0.5])
    """

    rewards: Mapping[Any, Mapping[Any, float]] | None = None
    costs: Any = 0.0

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the decision for each row, shape (n,)."""
        return self._named(self._treated(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the mean over rows of the reward for the decision minus the costs of looking."""
        return self.value(X, y, sample_weight)

    def _named(self, treated: Treated) -> NDArray[Any]:
        return np.asarray(self.decisions_[self._decided(treated)])

    def _rewards(self, truths: NDArray[Any]) -> tuple[list[str], FloatArray]:
        if self.rewards is None:
            self.decisions_ = truths
            return [f"{n}: {truth}" for n, truth in enumerate(truths)], np.eye(len(truths))
        left_out = [truth for truth in truths.tolist() if truth not in self.rewards]
        if left_out:
            raise ValueError(f"rewards has no row for {left_out[0]!r}, which y has; say what each decision brings then")
        decisions = list(dict.fromkeys(name for row in self.rewards.values() for name in row))
        self.decisions_ = np.array(decisions)
        table = [[float(self.rewards[truth].get(name, np.nan)) for name in decisions] for truth in truths.tolist()]
        rewards = np.array(table)
        if not np.isfinite(rewards).all():
            raise ValueError(
                "rewards leaves out what a decision brings for a value of y; give a finite number for each"
            )
        return [str(name) for name in decisions], rewards
