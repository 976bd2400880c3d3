"""Where the mass of an estimate may lie: the product space, given rows, or the rows that were seen.

* The *product space*: all Π k_i outcome vectors. Right when it is small; with a prior, vectors never seen keep mass.
* *Given rows*: what the caller knows to be possible. Observations that no row agrees with are left out, and counted
  (:attr:`Likelihood.left_out`).
* *Seen rows*: the distinct complete rows, whatever the size of the space. An observation that none of them agrees
  with (an orphan) brings in one row of its own: its known entries, completed from its nearest complete row (the
  one that differs in the fewest known entries; then the one seen most often; then the first in lexicographic
  order), or from each test's most frequent outcome when no complete row was seen at all. Orphans with few missing
  entries go first, and what they bring in may agree with later ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proband.errors import DistributionError, TooLargeError
from proband.estimators.listed.cells import Agreement, Cells, ProductAgreement, RowAgreement
from proband.estimators.listed.observations import Observations
from proband.problem import Problem
from proband.vocabulary import FloatArray, as_states, outcome_rows

AUTOMATIC_PRODUCT = 2**20
"""The largest product space that is taken without being asked for."""

LARGEST_PRODUCT = 2**22
"""The largest product space that can be asked for."""


class Support:
    """Rows (K, d), and which of them agree with the observations."""

    rows: FloatArray
    _agreement: Agreement

    def agreement(self, observations: Observations) -> Agreement:
        """Return the cells of all observations so far."""
        if len(self._agreement) < len(observations):
            self._agreement.extend(observations.rows[len(self._agreement) :])
        return self._agreement


class ProductSupport(Support):
    """All outcome vectors, numbered with the last test fastest."""

    def __init__(self, problem: Problem) -> None:
        if problem.size > LARGEST_PRODUCT:
            raise TooLargeError(
                f"the product space has {problem.size:.4g} outcome vectors; an estimate over it may have "
                f'{LARGEST_PRODUCT}; use support="seen", or give the rows that can occur'
            )
        self.rows = outcome_rows(np.arange(problem.size), problem.tests)
        self._agreement = ProductAgreement(problem.k)


class GivenSupport(Support):
    """Rows given by the caller."""

    def __init__(self, problem: Problem, rows: ArrayLike) -> None:
        self.rows = np.unique(as_states(rows, problem.tests), axis=0)
        if not len(self.rows) or np.isnan(self.rows).any():
            raise DistributionError(
                f"the support has {len(self.rows)} rows, some with missing entries or none at all; it must list "
                "complete outcome vectors; correct it"
            )
        self._agreement = RowAgreement(self.rows)


class SeenSupport(Support):
    """The distinct complete rows seen, and a row for every orphan; rebuilt when it changes."""

    def __init__(self, problem: Problem) -> None:
        self.rows = np.empty((0, problem.d))
        self._agreement = RowAgreement(self.rows)

    def agreement(self, observations: Observations) -> Agreement:
        """Return the cells of all observations so far."""
        new = observations.rows[len(self._agreement) :]
        if not len(new):
            return self._agreement
        self._agreement.extend(new)
        if not (self._agreement.size > 0).all() or not np.isnan(new).any(axis=1).all():
            self.rows = seen_rows(observations)
            self._agreement = RowAgreement(self.rows)
            self._agreement.extend(observations.rows)
        return self._agreement


def choose_support(problem: Problem, support: ArrayLike | str | None) -> Support:
    """Return the support that a caller asked for: "product", "seen", rows (K, d), or None.

    None takes the product space up to 2^20 vectors, and the seen rows beyond.
    """
    if support is None:
        support = "product" if problem.size <= AUTOMATIC_PRODUCT else "seen"
    if isinstance(support, str):
        if support not in SUPPORTS:
            raise DistributionError(
                f"the support is {support!r}; it must be one of {', '.join(SUPPORTS)}, or an array of rows"
            )
        return SUPPORTS[support](problem)
    return GivenSupport(problem, support)


SUPPORTS: dict[str, Callable[[Problem], Support]] = {"product": ProductSupport, "seen": SeenSupport}


def count_cells(observations: Observations, agreement: Agreement, n_rows: int) -> Cells:
    """Split the counts: those of observations that one row agrees with, and the partial ones.

    Blank observations (nothing known) say nothing, and those that no row agrees with cannot be explained: both
    are left out.
    """
    complete = agreement.size == 1
    partial = (agreement.size > 1) & ~observations.is_blank
    cells = agreement.base[complete] + agreement.offsets[agreement.start[complete]]
    own = np.bincount(cells, weights=observations.counts[complete], minlength=n_rows).astype(np.float64)
    base, start, size = (values[partial] for values in (agreement.base, agreement.start, agreement.size))
    return Cells(own, observations.counts[partial], base, start, size, agreement.offsets)


def seen_rows(observations: Observations) -> FloatArray:
    """Return the distinct complete rows, sorted, and after them a row for every orphan.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.rewards import Match
    >>> seen = Observations(Problem([Test("length"), Test("weight")], (), Match()))
    >>> seen.add([[0, 0], [0, 0], [0, 1], [1, float("nan")]])
    >>> seen_rows(seen)
    array([[0., 0.],
           [0., 1.],
           [1., 0.]])
    """
    complete = observations.is_complete
    order = np.lexsort(observations.rows[complete].T[::-1])
    donors = observations.rows[complete][order]
    frequency = observations.counts[complete][order]
    rows = donors
    agreement = RowAgreement(rows)
    partial = observations.rows[~complete & ~observations.is_blank]
    agreement.extend(partial)
    orphans = partial[agreement.size == 0]
    missing = np.isnan(orphans).sum(axis=1)
    added: list[FloatArray] = []
    filler = _frequent_outcomes(observations)
    for place in np.lexsort((*np.nan_to_num(orphans, nan=-1.0).T[::-1], missing)):
        orphan = orphans[place]
        known = ~np.isnan(orphan)
        if any(np.array_equal(row[known], orphan[known]) for row in added):
            continue
        donor = _nearest(donors, frequency, orphan, known) if len(donors) else filler
        added.append(np.where(known, orphan, donor))
    return np.vstack([rows, *added]) if added else rows


def _nearest(donors: FloatArray, frequency: FloatArray, orphan: FloatArray, known: NDArray[np.bool_]) -> FloatArray:
    distance = (donors[:, known] != orphan[known]).sum(axis=1)
    near = np.flatnonzero(distance == distance.min())
    return np.asarray(donors[near[np.argmax(frequency[near])]])


def _frequent_outcomes(observations: Observations) -> FloatArray:
    """Return each test's most frequent known outcome (0 where it was never run), shape (d,)."""
    row = np.zeros(observations.problem.d)
    for i, column in enumerate(observations.rows.T):
        known = ~np.isnan(column)
        if known.any():
            row[i] = np.argmax(np.bincount(column[known].astype(np.int64), weights=observations.counts[known]))
    return row
