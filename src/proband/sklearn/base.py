"""What both estimators have in common: from columns to tests, a fit, and rows treated by its tree."""

from __future__ import annotations

import numbers
from collections.abc import Collection, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, check_random_state, validate_data

from proband.fitting import fit
from proband.sklearn.columns import Column, grouped, missing, numbered, prices, problem_of
from proband.sklearn.walking import Treated, Walker
from proband.vocabulary import FloatArray, IntArray, Records


@dataclass(eq=False, repr=False)
class SequentialBase(BaseEstimator):  # type: ignore[misc]
    """What both estimators have in common; scikit-learn wants parameters kept as they are given, and nothing done."""

    _: KW_ONLY
    groups: Mapping[str, Mapping[str, float]] | None = None
    max_tests: int | None = None
    budget: float | None = None
    bins: Any = 5
    penalty: Any = 0.3
    min_leaf: int = 5
    random_state: Any = None

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn wants to know: cells may be missing, or texts; y is needed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the policy that brings most to subjects like these.

        Parameters
        ----------
        X : array-like or frame of shape (n, d)
            Past subjects; a cell may be missing where nobody looked.
        y : array-like of shape (n,)
            What is decided about.
        sample_weight : array-like of shape (n,), optional
            How many subjects each row stands for, whole numbers.
        """
        cells, truths = validate_data(self, X, y, dtype=None, ensure_all_finite="allow-nan")
        check_classification_targets(truths)
        if sample_weight is not None:
            times = _times(_check_sample_weight(sample_weight, cells, dtype=np.float64))
            cells, truths = np.repeat(cells, times, axis=0), np.repeat(truths, times)
        self.truths_, codes = np.unique(truths, return_inverse=True)
        names = self._names()
        self.columns_ = [Column.of(name, cells[:, i], codes, self._bins()) for i, name in enumerate(names)]
        decisions, rewards = self._rewards(self.truths_)
        problem = problem_of(
            names, self.columns_, prices(self.costs, names), grouped(self.groups, names),
            [f"{n}: {truth}" for n, truth in enumerate(self.truths_)], decisions, rewards,
        )  # fmt: skip
        rows = np.column_stack([self._outcomes(cells), codes])
        rows = rows[np.lexsort(rows.T)]  # what is drawn in a fit must not depend on the order in which they came
        found = fit(
            problem, Records(rows), strength=self._strength(), max_tests=self.max_tests, budget=self.budget,
            min_leaf=self.min_leaf, validate=False, seed=self._seed(),
        )  # fmt: skip
        self.rewards_, self.plan_, self.tree_ = rewards, found.plan, found.tree
        self.strength_, self.notes_ = found.strength.chosen, found.notes
        self.expected_cost_, self.expected_value_ = found.plan.expected_cost, found.plan.value
        self._walker = Walker(self.tree_)
        return self

    def cost(self, X: Any) -> FloatArray:
        """Return what is paid for looking, for each row, shape (n,)."""
        return self._treated(X).costs

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each value of y, in the order of ``truths_``, by what was looked at."""
        treated = self._treated(X)
        return self._walker.truths(treated.states, self.n_features_in_, len(self.truths_))

    def value(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the mean over rows, weighed if need be, of the reward for the decision minus the costs of looking."""
        treated, truths = self._treated(X), np.asarray(y)
        weights = np.ones(len(truths)) if sample_weight is None else _check_sample_weight(sample_weight, treated.states)
        counted = weights > 0
        unknown = np.setdiff1d(truths[counted], self.truths_)
        if len(unknown):
            raise ValueError(f"y has {unknown[0]!r}, which no row had at fit; no decision about it has a known reward")
        rewards = self.rewards_[np.searchsorted(self.truths_, truths[counted]), self._decided(treated)[counted]]
        return float(np.average(rewards - treated.costs[counted], weights=weights[counted]))

    def decision_path(self, X: Any) -> csr_matrix:
        """Return which nodes each row comes to, shape (n, nodes); nodes in the order of ``tree_.nodes()``.

        A row that lacks what a node asks for leaves the tree there.
        """
        treated = self._treated(X)
        here = np.concatenate(treated.visits)
        nodes = np.repeat(np.arange(len(treated.visits)), [len(rows) for rows in treated.visits])
        return csr_matrix(
            (np.ones(len(here), dtype=np.int64), (here, nodes)), shape=(len(treated.actions), len(treated.visits))
        )

    def next_test(self, partial_row: Any, *, without: Collection[Any] = ()) -> str | int | None:
        """Return which column to look at next, by its name (or number, where X had no names); None to decide.

        Parameters
        ----------
        partial_row : mapping, Series, sequence, or a frame or array with one row
            What is known of one subject so far; what is left out, None or NaN is not known yet. A text that no row had
            at fit tells nothing, and is not asked for again.
        without : collection, optional
            Columns that cannot be looked at for this subject, by name (or number).
        """
        check_is_fitted(self)
        given = self._row(partial_row)
        state = np.append(self._outcomes(given[None]), np.nan)
        kept_out = self._row(dict.fromkeys(without, True))
        told = np.array([not missing(cell) or bool(out) for cell, out in zip(given, kept_out, strict=True)] + [False])
        action = self._walker.next(state, told & np.isnan(state))
        if action >= self.n_features_in_:
            return None
        return str(self.feature_names_in_[action]) if hasattr(self, "feature_names_in_") else action

    def treat(self, X: Any) -> Any:
        """Return what is decided for each row, what it costs and how many columns are looked at.

        A frame of pandas or polars where X is one (with its index), otherwise a mapping of arrays.
        """
        treated = self._treated(X)
        table = {
            "decision": self._named(treated),
            "cost": treated.costs,
            "tests": (~np.isnan(treated.states)).sum(axis=1),
        }
        package = type(X).__module__.partition(".")[0]
        if package == "pandas":
            return type(X)(table, index=X.index)
        return type(X)(table) if package == "polars" else table

    def _rewards(self, truths: NDArray[Any]) -> tuple[list[str], FloatArray]:
        raise NotImplementedError

    def _named(self, treated: Treated) -> NDArray[Any]:
        raise NotImplementedError

    def _decided(self, treated: Treated) -> IntArray:
        return np.asarray(treated.actions - self.tree_.problem.d)

    def _treated(self, X: Any) -> Treated:
        check_is_fitted(self)
        cells = validate_data(self, X, dtype=None, ensure_all_finite="allow-nan", reset=False)
        return self._walker.treat(np.column_stack([self._outcomes(cells), np.full(len(cells), np.nan)]))

    def _outcomes(self, cells: NDArray[Any]) -> FloatArray:
        return np.column_stack([column.read(part) for column, part in zip(self.columns_, cells.T, strict=True)])

    def _names(self) -> list[str]:
        if hasattr(self, "feature_names_in_"):
            return [str(name) for name in self.feature_names_in_]
        return [f"x{i}" for i in range(self.n_features_in_)]

    def _row(self, given: Any) -> NDArray[Any]:
        names = self._names()
        if len(getattr(given, "shape", ())) == 2:
            given = _only(given)
        if hasattr(given, "to_dict"):
            given = given.to_dict()
        if not isinstance(given, Mapping):
            if isinstance(given, str) or len(given) != len(names):
                told = repr(given) if isinstance(given, str) else f"a row of {len(given)} cells"
                raise ValueError(
                    f"next_test was given {told}, and X had {len(names)} columns; give a cell for each, None where "
                    "it is not known yet, or a mapping from columns to what they showed"
                )
            given = dict(zip(names, given, strict=True))
        given = numbered(given, names)
        unknown = [name for name in given if name not in names]
        if unknown:
            raise ValueError(f"the row has {unknown[0]!r}, which is no column; columns are {', '.join(names)}")
        row = np.empty(len(names), dtype=object)
        row[:] = [None if missing(given.get(name)) else given[name] for name in names]
        return row

    def _strength(self) -> float | None:
        if self.penalty == "auto":
            return None
        if not isinstance(self.penalty, numbers.Real) or not float(self.penalty) >= 0:
            raise ValueError(f'penalty is {self.penalty!r}; it must be 0 or more, or "auto"; 0.3 is the default')
        return float(self.penalty)

    def _bins(self) -> int:
        if not isinstance(self.bins, numbers.Integral) or self.bins < 2:
            raise ValueError(f"bins is {self.bins!r}; numbers are cut into two parts or more; give a whole number")
        return int(self.bins)

    def _seed(self) -> int:
        if self.random_state is None:
            return 0
        return int(check_random_state(self.random_state).randint(2**31 - 1))


def _only(table: Any) -> Any:
    """Return the row of a table that has one."""
    if len(table) != 1:
        raise ValueError(f"next_test is asked about one row at a time, and was given {len(table)}; give one of them")
    row = np.asarray(table, dtype=object)[0]
    return dict(zip(table.columns, row, strict=True)) if hasattr(table, "columns") else row


def _times(weights: FloatArray) -> IntArray:
    """Return how many subjects rows stand for."""
    if not ((weights >= 0) & (weights == np.floor(weights))).all() or not weights.sum():
        odd = weights[~((weights >= 0) & (weights == np.floor(weights)))]
        raise ValueError(
            f"sample_weight has {odd[0] if len(odd) else 'zeros alone'}; it says how many subjects each row stands "
            "for, whole numbers of 0 or more that are not all 0; count the subjects, or repeat rows"
        )
    return weights.astype(np.int64)
