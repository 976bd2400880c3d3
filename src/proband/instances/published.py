"""Published made-up data, by their definitions: Syn1 to Syn3, CUBE and CUBE-NM.

**Syn1 to Syn3** (from the paper on SEFA, ICML 2025). x has eleven features, independent N(0, 1), and y is 1 with
probability 1 / (1 + exp(logit)). The sign of x11 chooses one of two logits,

    s1 = 4 x1 x2,    s2 = 1.2 (x3² + x4² + x5² + x6²) − 4.2,    s3 = −10 sin(0.2 x7) + |x8| + x9 + exp(−x10) − 2.4:

rule 1 has s1 where x11 < 0 and s2 elsewhere, rule 2 s1 and s3, rule 3 s2 and s3. What a subject needs are x11 and the
features of its logit: three, five or five features.

**CUBE** (as defined in AFABench). The class y is one of 0 to 7, all equally likely; its code are the three bits of y,
the lowest first. Features y, y + 1 and y + 2 of ten are N(code, σ²), one for each bit, and all others N(0.5, 0.3²), ten
more among them. **CUBE-NM** has five blocks of ten features and a context in 0 to 4, shown by five noisy indicators
(standard deviation 0.1) that are bought together: only the block of the context is informative, so that the context,
which says nothing of the class by itself, comes first.

In each a feature costs 1, and in CUBE-NM the context costs 1 in all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proband.errors import UnknownNameError
from proband.vocabulary import FloatArray, IntArray

SEFA_SEED, SEFA_SIZE = 8139, 80_000
"""Those of the published comparison: the first 60,000 rows teach, the last 10,000 test."""

BRANCHES = ((0, 1), (2, 3, 4, 5), (6, 7, 8, 9))
SWITCH = 10
RULES = {1: (0, 1), 2: (0, 2), 3: (1, 2)}
"""The logits of each rule, below and above zero."""

CLASSES, SIGNALS, CONTEXTS = 8, 10, 5
SIGMA, NOISE, CONTEXT_SIGMA = 0.3, 0.3, 0.1


@dataclass(frozen=True, eq=False)
class Labelled:
    """Subjects of a definition.

    Attributes
    ----------
    features : FloatArray of shape (n, features)
    labels : IntArray of shape (n,)
    needed : bool array of shape (n, features)
        The features that tell about a subject's label.
    groups : IntArray of shape (features,)
        Features with the same number are bought together.
    """

    features: FloatArray
    labels: IntArray
    needed: NDArray[np.bool_]
    groups: IntArray


def syn_logits(rule: int, features: FloatArray) -> FloatArray:
    """Return the logit of each row of eleven features, shape (n,): y = 1 has probability 1 / (1 + exp(logit)).

    Examples
    --------
    >>> x = np.zeros((2, 11))
    >>> x[1, 10] = -1.0
    >>> syn_logits(1, x).round(1).tolist(), syn_logits(3, x).round(1).tolist()
    ([-4.2, 0.0], [-1.4, -4.2])
    """
    below, above = (_LOGITS[branch](features) for branch in _branches(rule))
    return np.asarray(np.where(features[:, SWITCH] < 0, below, above))


def syn_needed(rule: int, features: FloatArray) -> NDArray[np.bool_]:
    """Return which features each row needs, x11 included, shape (n, 11)."""
    wanted = np.zeros((2, features.shape[1]), dtype=np.bool_)
    for side, branch in enumerate(_branches(rule)):
        wanted[side, [*BRANCHES[branch], SWITCH]] = True
    return np.asarray(wanted[(features[:, SWITCH] >= 0).astype(np.int64)])


def syn(rule: int, *, seed: int = SEFA_SEED, size: int = SEFA_SIZE) -> Labelled:
    """Return the subjects of Syn1, Syn2 or Syn3, bit for bit as they were published.

    One stream makes the three rules, one after the other, so that those before `rule` are drawn as well.

    Examples
    --------
    >>> subjects = syn(2, size=1000)
    >>> subjects.features.shape, round(float(subjects.needed.sum(axis=1).mean()), 2)
    ((1000, 11), 4.04)
    """
    _branches(rule)
    stream = np.random.RandomState(seed)  # the generator of the definition
    for number in RULES:
        features = stream.normal(0, 1, (size, SWITCH + 1))
        labels = stream.binomial(1, 1 / (1 + np.exp(syn_logits(number, features))))
        if number == rule:
            break
    return Labelled(features, labels.astype(np.int64), syn_needed(rule, features), np.arange(SWITCH + 1))


def cube(rng: np.random.Generator, n: int, *, sigma: float = SIGMA) -> Labelled:
    """Return subjects of CUBE: twenty features, eight classes.

    Examples
    --------
    >>> subjects = cube(np.random.default_rng(0), 4)
    >>> subjects.features.shape, np.flatnonzero(subjects.needed[0]) - subjects.labels[0]
    ((4, 20), array([0, 1, 2]))
    """
    labels = rng.integers(CLASSES, size=n)
    features, needed = _noise(rng, n, 2 * SIGNALS)
    _write(rng, features, needed, labels, np.zeros(n, dtype=np.int64), sigma)
    return Labelled(features, labels, needed, np.arange(2 * SIGNALS))


def cube_nm(rng: np.random.Generator, n: int, *, sigma: float = SIGMA) -> Labelled:
    """Return subjects of CUBE-NM: five indicators of the context, one group, and five blocks of ten features.

    Examples
    --------
    >>> subjects = cube_nm(np.random.default_rng(0), 4)
    >>> subjects.features.shape, subjects.groups[:7].tolist(), int(subjects.needed[0].sum())
    ((4, 55), [0, 0, 0, 0, 0, 1, 2], 8)
    """
    labels, context = rng.integers(CLASSES, size=n), rng.integers(CONTEXTS, size=n)
    features, needed = _noise(rng, n, CONTEXTS + CONTEXTS * SIGNALS)
    features[:, :CONTEXTS] = np.eye(CONTEXTS)[context] + rng.normal(0, CONTEXT_SIGMA, (n, CONTEXTS))
    needed[:, :CONTEXTS] = True
    _write(rng, features, needed, labels, CONTEXTS + SIGNALS * context, sigma)
    groups = np.concatenate([np.zeros(CONTEXTS, dtype=np.int64), np.arange(CONTEXTS * SIGNALS) + 1])
    return Labelled(features, labels, needed, groups)


def codes() -> IntArray:
    """Return the code of each class, shape (8, 3): its bits, the lowest first.

    Examples
    --------
    >>> codes()[[1, 6]].tolist()
    [[1, 0, 0], [0, 1, 1]]
    """
    return np.asarray(np.arange(CLASSES)[:, None] >> np.arange(3) & 1)


def _noise(rng: np.random.Generator, n: int, features: int) -> tuple[FloatArray, NDArray[np.bool_]]:
    return rng.normal(0.5, NOISE, (n, features)), np.zeros((n, features), dtype=np.bool_)


def _write(
    rng: np.random.Generator, features: FloatArray, needed: NDArray[np.bool_], labels: IntArray, first: IntArray,
    sigma: float,
) -> None:  # fmt: skip
    """Write the codes of the classes into the features `first` + class, and the two behind it."""
    rows = np.arange(len(labels))[:, None]
    places = (first + labels)[:, None] + np.arange(3)
    features[rows, places] = codes()[labels] + rng.normal(0, sigma, (len(labels), 3))
    needed[rows, places] = True


def _branches(rule: int) -> tuple[int, int]:
    if rule not in RULES:
        raise UnknownNameError(f"rule {rule!r} does not exist; Syn1, Syn2 and Syn3 have the rules 1, 2 and 3")
    return RULES[rule]


_LOGITS = (
    lambda x: 4 * x[:, 0] * x[:, 1],
    lambda x: 1.2 * (x[:, 2:6] ** 2).sum(axis=1) - 4.2,
    lambda x: -10 * np.sin(0.2 * x[:, 6]) + np.abs(x[:, 7]) + x[:, 8] + np.exp(-x[:, 9]) - 2.4,
)
