"""Laws with many tests: public tables that come with scikit-learn, and latent classes.

*breast* (30 tests, two labels), *digits* (the pixels that vary; is the digit odd?) and *wine* (13 tests, three
labels) are tables of numbers, cut at their medians, each test misread with probability 3 %
(:mod:`proband.instances.labelled`).

*latent-d* has d binary tests. A subject belongs to one of ten hidden classes, with probabilities from Dirichlet(2).
Half of the tests, on average, depend on the class, with P(1 | class) = 0.05 + 0.9·Beta(0.4, 0.4), mostly close to one
of the ends; the others are noise at a rate of their own. The label's law in a class is from Dirichlet(1/4), mostly one
label.

Each law is that of 200,000 drawn rows, the same ones for the same name, seed and number: regret is exact for it. A test
costs 0.02, the label 0.25, and who names the label earns 1. In another version the label cannot be bought, and is told
so many subjects later.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from proband.distributions import Discrete
from proband.errors import MissingExtraError, UnknownNameError
from proband.instances.instance import Instance
from proband.instances.labelled import MISREAD, ROWS, TEST_COST, Column, cut, labelled_problem, table_law
from proband.vocabulary import IntArray, Test

CLASSES = 10
RAREST = 0.02
"""A pixel varies where its rarer outcome has more than this share."""
PUBLIC: dict[str, Callable[[Any], tuple[list[Column], IntArray, list[str]]]] = {
    "breast": lambda datasets: _public(datasets.load_breast_cancer()),
    "digits": lambda datasets: _odd(datasets.load_digits()),
    "wine": lambda datasets: _public(datasets.load_wine()),
}
"""Public tables by name: their columns, labels and the names of these, from ``sklearn.datasets``."""
TABLES = {
    "breast": "Breast cancer, 30 tests (a public table)",
    "digits": "Is the digit odd? 54 pixels (a public table)",
    "wine": "Wine, 13 tests, three kinds (a public table)",
}
"""What the public tables are about. A test costs 0.02, the label 0.25, and who names it earns 1: prices of our own."""
MANY_TESTS = (*PUBLIC, "latent-20", "latent-40", "latent-100")
"""The laws with many tests by name; latent classes with any other number of tests are named alike."""


def many_tests(
    name: str, *, seed: int = 0, size: int = ROWS, misread: float = MISREAD, reveal: int | None = None
) -> Instance[Discrete]:
    """Return an instance with many tests.

    Parameters
    ----------
    name : str
        One of :data:`MANY_TESTS`, or ``latent-`` and a number of tests.
    seed : int, default 0
        Of all that is drawn: the rows, and of latent classes the classes, too.
    size : int, default 200,000
        How many rows are drawn.
    misread : float, default 0.03
        How probable it is that a test of a table is misread; latent classes have noise of their own.
    reveal : int, optional
        So many subjects later the label is told, and it cannot be bought; by default it can, for 0.25.

    Examples
    --------
    >>> instance = many_tests("latent-20", size=1000)
    >>> instance.problem.d, instance.problem.tests[-1].name, instance.problem.tests[-1].cost
    (21, 'label', 0.25)
    """
    if name in PUBLIC:
        columns, labels, names = PUBLIC[name](_datasets())
        tests = [Test(column.name, TEST_COST, outcomes=column.outcomes) for column in columns]
        rows = np.column_stack([column.numbers for column in columns])
        law = table_law(rows, labels, misread=misread, seed=seed, size=size)
        problem = labelled_problem(tests, "label", names, name=name, bought=reveal is None)
        return Instance(name, problem, law, reveal=reveal)
    start, _, digits = name.partition("-")
    if start != "latent" or not digits.isdecimal() or not int(digits):
        raise UnknownNameError(
            f"law {name!r} does not exist; laws with many tests are {', '.join(MANY_TESTS)}; choose one of these"
        )
    d = int(digits)
    tests = [Test(f"test {i + 1}", TEST_COST) for i in range(d)]
    problem = labelled_problem(tests, "label", ["no", "yes"], name=name, bought=reveal is None)
    return Instance(name, problem, latent_law(d, seed=seed, size=size), reveal=reveal)


def latent_law(d: int, *, seed: int = 0, size: int = ROWS, classes: int = CLASSES) -> Discrete:
    """Return a law of d binary tests and a binary label, from latent classes.

    Examples
    --------
    >>> latent_law(20, size=500).d
    21
    """
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(classes, 2.0))
    rates = 0.05 + 0.9 * rng.beta(0.4, 0.4, size=(classes, d))
    noise = rng.random(d) < 0.5
    rates[:, noise] = rng.uniform(0.2, 0.8, size=int(noise.sum()))
    label_rates = rng.dirichlet(np.full(2, 0.25), size=classes)
    hidden = rng.choice(classes, p=shares, size=size)
    tests = rng.random((size, d)) < rates[hidden]
    labels = rng.random(size) > label_rates[hidden, 0]
    return Discrete.from_weights(np.column_stack([tests, labels]), np.ones(size))


def _datasets() -> Any:
    try:
        from sklearn import datasets
    except ImportError as error:
        raise MissingExtraError(
            f"the tables {', '.join(PUBLIC)} come with scikit-learn, which is not installed; "
            'pip install "proband[tables]", or take latent classes'
        ) from error
    return datasets


def _public(table: Any) -> tuple[list[Column], IntArray, list[str]]:
    """Return the columns of a table of scikit-learn at their medians, its labels, and their names."""
    columns = [cut(str(name), table.data[:, i]) for i, name in enumerate(table.feature_names)]
    return columns, table.target.astype(np.int64), [str(name) for name in table.target_names]


def _odd(table: Any) -> tuple[list[Column], IntArray, list[str]]:
    """Return the pixels of digits that vary, and whether the digit is odd."""
    above = (table.data > np.median(table.data, axis=0)).mean(axis=0)
    columns, digits, _ = _public(table)
    kept = [columns[i] for i in np.flatnonzero((above > RAREST) & (above < 1 - RAREST))]
    return kept, digits % 2, ["even", "odd"]
