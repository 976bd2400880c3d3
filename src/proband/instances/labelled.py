"""Laws of tables: the rows of any labelled table, drawn with replacement, each test misread now and then.

A finite table is no law to compare agents on: whoever knows all of it recognises single rows. So each test is misread
with a small probability (the label never is), and the law is the empirical one of many such draws: known exactly,
hence exact regret, and too large to be learned by heart.

A column of numbers is cut at its median into two outcomes; where half of the column or more is its largest number, into
that number and all below. Any other column has its entries as outcomes; a missing entry is an outcome, too. Columns
that never vary are left out. The label, the last column unless another is named, is a further and dearer test; or it
cannot be bought, and is told so many subjects later. Who names it earns 1.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Discrete
from proband.errors import DistributionError, TableError, shown
from proband.instances.instance import Instance
from proband.numerals import Marks, marks_of, number
from proband.problem import Problem
from proband.rewards import Table
from proband.tables import MISSING, read_lines
from proband.texts import text_of
from proband.vocabulary import FloatArray, IntArray, Test

ROWS = 200_000
MISREAD = 0.03
TEST_COST = 0.02
LABEL_COST = 0.25
MOST_OUTCOMES = 32
"""So many different entries a column of words may have; a label of more different numbers is cut as a test is."""
UNKNOWN = "missing"
"""What the outcome of a test is called where the table has no entry."""


def table_law(
    rows: ArrayLike, labels: ArrayLike, *, misread: float = MISREAD, seed: int = 0, size: int = ROWS
) -> Discrete:
    """Return the law of a table's rows, drawn with replacement, each test misread with a probability.

    Parameters
    ----------
    rows : array_like of shape (n, d)
        Outcome numbers of the tests.
    labels : array_like of shape (n,)
        Outcome numbers of the label, which becomes the last test.
    misread : float, default 0.03
        How probable it is that a test shows another of its outcomes, each with the same chance.
    seed : int, default 0
        Of the draws; the same law for the same seed.
    size : int, default 200,000
        How many rows are drawn.

    Examples
    --------
    >>> law = table_law([[0, 1], [1, 1], [1, 0]], [0, 1, 1], size=1000)
    >>> law.d, round(float(law.marginal(2)[1]), 1)
    (3, 0.7)
    """
    table, last = np.asarray(rows, dtype=np.int64), np.asarray(labels, dtype=np.int64)
    if table.ndim != 2 or last.shape != (len(table),) or not table.size:
        raise DistributionError(
            f"the rows have shape {table.shape} and the labels {last.shape}; they must be (n, d) and (n,) with n and d "
            "of one or more; give a label for each row"
        )
    if not 0 <= misread <= 1 or size < 1:
        raise DistributionError(
            f"misread is {misread} and size {size}; a probability and one row or more are needed; correct them"
        )
    rng = np.random.default_rng([seed, 17])
    drawn = rng.integers(len(table), size=size)
    subjects = table[drawn]
    wrong = rng.random(subjects.shape) < misread
    k = table.max(axis=0) + 1
    for i in np.flatnonzero(k > 1):
        here = wrong[:, i]
        other = 1 if k[i] == 2 else rng.integers(1, k[i], size=int(here.sum()))
        subjects[here, i] = (subjects[here, i] + other) % k[i]
    return Discrete.from_weights(np.column_stack([subjects, last[drawn]]), np.ones(size))


def labelled_problem(
    tests: Sequence[Test], label: str, labels: Sequence[str], *, name: str = "", bought: bool = True
) -> Problem:
    """Return the problem of naming a label: the last test, which can be bought or is not available.

    Examples
    --------
    >>> problem = labelled_problem([Test("colour", 0.02, outcomes=("red", "white"))], "kind", ["a", "b"])
    >>> [test.cost for test in problem.tests], problem.decisions
    ([0.02, 0.25], ('a', 'b'))
    """
    truth = Test(label, LABEL_COST, outcomes=labels, available=bought)
    return Problem([*tests, truth], labels, Table([label], np.eye(len(labels))), name=name)


@dataclass(frozen=True)
class Column:
    """A column as a test shows it: the names of its outcomes, and their numbers (n,)."""

    name: str
    outcomes: tuple[str, ...]
    numbers: IntArray

    @property
    def varies(self) -> bool:
        """Whether there is anything to learn from it."""
        return len(self.outcomes) > 1


def cut(name: str, numbers: FloatArray) -> Column:
    """Return a column of numbers (n,), NaN where one is missing, cut at its median.

    Examples
    --------
    >>> cut("length", np.array([1.0, 2.0, 2.5, 4.0])).outcomes
    ('at most 2.25', 'above 2.25')
    >>> cut("smoker", np.array([0.0, 1.0, 1.0, np.nan])).outcomes, cut("zero", np.zeros(3)).varies
    (('0', '1', 'missing'), False)
    """
    known = numbers[~np.isnan(numbers)]
    values = np.unique(known)
    if len(values) > 1:
        median = float(np.median(known))
        # Nothing is above a median that is the largest number: then that number is set apart from all below.
        edge = median if (known > median).any() else float(values[-2])
        outcomes = _names(values) if len(values) == 2 else (f"at most {edge:.6g}", f"above {edge:.6g}")
        found = (numbers > edge).astype(np.int64)
    else:
        outcomes, found = _names(values), np.zeros(len(numbers), dtype=np.int64)
    missing = np.isnan(numbers)
    if missing.any():
        found[missing] = len(outcomes)
        outcomes = (*outcomes, UNKNOWN)
    return Column(name, outcomes, found)


def listed(name: str, entries: Sequence[str]) -> Column:
    """Return a column of words, each a different outcome.

    Examples
    --------
    >>> listed("thal", ["rd", "normal", "rd", ""]).outcomes
    ('missing', 'normal', 'rd')
    """
    texts = [entry or UNKNOWN for entry in entries]
    outcomes = tuple(sorted(set(texts)))
    if len(outcomes) > MOST_OUTCOMES:
        raise TableError(
            f"the column {shown(name)} has {len(outcomes)} different entries; at most {MOST_OUTCOMES} are listed as "
            "outcomes; drop it, or put entries together"
        )
    place = {text: b for b, text in enumerate(outcomes)}
    return Column(name, outcomes, np.array([place[text] for text in texts], dtype=np.int64))


def label_column(name: str, entries: Sequence[str]) -> Column:
    """Return the column of the label: its entries; more than 32 different numbers are cut at their median.

    Examples
    --------
    >>> label_column("class", ["2", "10", "2.0"]).outcomes
    ('2', '10')
    """
    numbers = _numbers(entries)
    missing = [entry == "" for entry in entries] if numbers is None else np.isnan(numbers).tolist()
    if any(missing):
        raise TableError(
            f"the label {shown(name)} of subject {missing.index(True) + 1} is missing; every subject needs one; fill "
            "it in, or drop the subject"
        )
    if numbers is None:
        column = listed(name, entries)
    else:
        values, found = np.unique(numbers, return_inverse=True)
        few = len(values) <= MOST_OUTCOMES
        column = Column(name, _names(values), found) if few else cut(name, numbers)
    if not column.varies:
        raise TableError(
            f"the label {shown(name)} is {shown(column.outcomes[0])} throughout; two labels or more are to be told "
            "apart; name another column"
        )
    return column


def read_labelled(path: str | os.PathLike[str], *, label: str | None = None) -> tuple[list[Column], Column]:
    """Read a labelled table (CSV): its tests, and its label, the last column unless another is named."""
    header, body, _ = read_lines(path, () if label is None else (label,))
    _check_header(path, header, label)
    place = len(header) - 1 if label is None else header.index(label)
    columns = [[text_of(cell.strip()) for cell in cells] for cells in zip(*body, strict=True)]
    try:
        target = label_column(header[place], columns[place])
        tests = [_test(header[i], columns[i]) for i in range(len(header)) if i != place]
    except TableError as error:
        raise TableError(f"{path}: {error}") from error
    varying = [column for column in tests if column.varies]
    if not varying:
        raise TableError(f"{path}: no column beside the label varies; a test needs two outcomes; add columns")
    return varying, target


def labelled_instance(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    misread: float = MISREAD,
    seed: int = 0,
    size: int = ROWS,
    reveal: int | None = None,
) -> Instance[Discrete]:
    """Return a labelled table (CSV) as an instance.

    Parameters
    ----------
    path : path
        A row a subject, a column a test.
    label : str, optional
        The column of the label; by default the last one.
    misread, seed, size
        As for :func:`table_law`.
    reveal : int, optional
        So many subjects later the label is told, and it cannot be bought; by default it can, for 0.25.
    """
    tests, target = read_labelled(path, label=label)
    rows = np.column_stack([column.numbers for column in tests])
    problem = labelled_problem(
        [Test(column.name, TEST_COST, outcomes=column.outcomes) for column in tests],
        target.name,
        target.outcomes,
        bought=reveal is None,
    )
    law = table_law(rows, target.numbers, misread=misread, seed=seed, size=size)
    return Instance(str(path), problem, law, reveal=reveal)


def _test(name: str, entries: Sequence[str]) -> Column:
    numbers = _numbers(entries)
    return listed(name, entries) if numbers is None else cut(name, numbers)


def _numbers(entries: Sequence[str]) -> FloatArray | None:
    """Return entries as numbers, NaN where one is missing; None if one of the others is no finite number."""
    known = [entry.lower() not in MISSING for entry in entries]
    marks = Marks(marks_of(entries))
    try:
        numbers = np.array(
            [number(entry, marks=marks) if here else np.nan for entry, here in zip(entries, known, strict=True)]
        )
    except ValueError:
        return None
    return numbers if any(known) and not np.isinf(numbers).any() else None


def _names(values: FloatArray) -> tuple[str, ...]:
    """Return the shortest texts that tell numbers apart."""
    return tuple(np.format_float_positional(value, trim="-") for value in values)


def _check_header(path: str | os.PathLike[str], header: Sequence[str], label: str | None) -> None:
    if label is not None and label not in header:
        raise TableError(f"{path}: it has no column {shown(label)}; its columns are {shown(list(header))}; name one")
    repeated = [name for name, times in Counter(header).items() if times > 1]
    if repeated or "" in header or len(header) < 2:
        raise TableError(
            f"{path}: its columns are {shown(list(header))}; it needs two or more, each with a name of its own; "
            "rename or drop some"
        )
