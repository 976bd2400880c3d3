"""Examples: bolts, gout and shafts. What is hidden in a subject, or goes wrong in the plant, shows in several tests.

The numbers are invented, not measured, and no medical advice; the problem files below ``instances/problems`` explain
prices and rewards. Listed outcomes depend on each other through hidden states of the subject alone: a hidden state z
has probability π(z); given z the tests are independent, so that

    P(x) = Σ_z π(z) Π_i P(x_i | z),

computed exactly on the whole product space.

**Bolts**, the nine tests of the paper's table. The forge may leave a crack, the furnace may leave the steel soft, the
plating may be thin, and the tools drift. Each fault shows in several tests, more or less clearly.

**Gout**, with a gold standard that only past patients had. Two hidden facts drive everything: whether the joint holds
urate crystals, and whether the kidneys work badly.

**Bolts by measurement**, with one number that matters, and **shafts**, with two. Their laws are factor models: what
goes wrong in the plant moves several measurements at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Discrete, Gaussian
from proband.errors import DistributionError
from proband.instances.instance import Instance, packaged_problem
from proband.problem import Problem
from proband.vocabulary import FloatArray, outcome_rows

TOOLS = {"sharp": 0.85, "worn": 0.15}
FURNACE = {"good": 0.90, "soft": 0.10}
PLATING = {"even": 0.90, "thin": 0.10}
CRACK = {
    "sharp": {"none": 0.96, "surface": 0.025, "deep": 0.015},
    "worn": {"none": 0.80, "surface": 0.14, "deep": 0.06},
}

THREAD_PITCH = {"sharp": (0.99, 0.01), "worn": (0.60, 0.40)}
BOLT_LENGTH = {"sharp": (0.98, 0.02), "worn": (0.75, 0.25)}
BOLT_WEIGHT = {
    ("even", "sharp"): (0.03, 0.95, 0.02),
    ("even", "worn"): (0.06, 0.74, 0.20),
    ("thin", "sharp"): (0.70, 0.29, 0.01),
    ("thin", "worn"): (0.55, 0.35, 0.10),
}
SHEAR_STRENGTH = {"good": (0.72, 0.27, 0.01), "soft": (0.02, 0.18, 0.80)}
TENSILE_STRENGTH = {"good": (0.99, 0.01), "soft": (0.10, 0.90)}
CORROSION_RESISTANCE = {"even": (0.98, 0.02), "thin": (0.25, 0.75)}
ULTRASONIC = {"none": (0.995, 0.005), "surface": (0.30, 0.70), "deep": (0.02, 0.98)}
FLUORESCENT_PENETRANT = {"none": (0.97, 0.03), "surface": (0.08, 0.92), "deep": (0.45, 0.55)}
MAGNETIC_PARTICLE = {"none": (0.93, 0.067, 0.003), "surface": (0.10, 0.30, 0.60), "deep": (0.12, 0.48, 0.40)}

GOUT = {"yes": 0.35, "no": 0.65}
KIDNEYS = {"yes": {"good": 0.70, "bad": 0.30}, "no": {"good": 0.88, "bad": 0.12}}

SEX = {"yes": (0.20, 0.80), "no": (0.52, 0.48)}
PODAGRA_BEFORE = {"yes": (0.35, 0.65), "no": (0.90, 0.10)}
SERUM_URATE = {
    ("yes", "good"): (0.10, 0.40, 0.50),
    ("yes", "bad"): (0.04, 0.26, 0.70),
    ("no", "good"): (0.78, 0.18, 0.04),
    ("no", "bad"): (0.45, 0.40, 0.15),
}
CREATININE = {"good": (0.95, 0.05), "bad": (0.15, 0.85)}
CRP = {"yes": (0.20, 0.80), "no": (0.55, 0.45)}
ULTRASOUND_DOUBLE_CONTOUR = {"yes": (0.22, 0.78), "no": (0.92, 0.08)}
SYNOVIAL_MSU_CRYSTALS = {"yes": (0.12, 0.88), "no": (0.99, 0.01)}
DUAL_ENERGY_CT = {"yes": (0.0, 1.0), "no": (1.0, 0.0)}

BOLT_MEANS = (60.0, 95.0, 1.75, 31.0, 560.0, 905.0)
BOLT_SPREADS = (0.12, 0.9, 0.012, 1.9, 32.0, 52.0)
BOLT_FACTORS = (  # share of the furnace's temperature and of the tools' wear in each measurement
    (0.10, 0.85), (0.30, 0.70), (0.05, 0.80), (0.86, -0.10), (0.90, -0.15), (0.95, -0.12),
)  # fmt: skip
SHAFT_SPREADS = (9.0, 10.0, 9.0, 10.0)
SHAFT_FACTORS = ((0.80, 0.20), (0.85, -0.45), (0.95, 0.00), (0.85, 0.45))


def bolts() -> Instance[Discrete]:
    """Return the inspection of bolts.

    Examples
    --------
    >>> from proband import plan
    >>> instance = bolts()
    >>> best = plan(instance.problem, instance.distribution)
    >>> instance.problem.action_name(best.act(instance.problem.state())[0])
    'bolt weight'
    """
    problem = packaged_problem("bolts")
    return Instance("bolts", problem, latent_class_law(problem, _bolts()))


def gout() -> Instance[Discrete]:
    """Return the diagnosis of gout.

    Examples
    --------
    >>> instance = gout()
    >>> [test.name for test in instance.problem.tests if not test.available]
    ['dual-energy CT']
    """
    problem = packaged_problem("gout")
    return Instance("gout", problem, latent_class_law(problem, _patients()))


def bolts_measured() -> Instance[Gaussian]:
    """Return the inspection of bolts by measurement: six tests, one score.

    Examples
    --------
    >>> instance = bolts_measured()
    >>> instance.problem.tests[5].unit, instance.distribution.d
    ('MPa', 6)
    """
    law = _factor_law(BOLT_MEANS, BOLT_SPREADS, BOLT_FACTORS)
    return Instance("bolts-measured", packaged_problem("bolts-measured"), law)


def shafts() -> Instance[Gaussian]:
    """Return the inspection of ground shafts: three calipers, a sensor known on arrival, two scores.

    Examples
    --------
    >>> [score.name for score in shafts().problem.reward.scores]
    ['diameter', 'taper']
    """
    return Instance("shafts", packaged_problem("shafts"), _factor_law((2.0,) * 4, SHAFT_SPREADS, SHAFT_FACTORS))


def latent_class_law(problem: Problem, classes: Iterable[tuple[float, Sequence[ArrayLike]]]) -> Discrete:
    """Return the law of a mixture of products.

    Parameters
    ----------
    problem : Problem
        Says which outcomes each test has.
    classes : iterable of (probability, marginals)
        For each hidden state its probability and, for each test, the probabilities of its outcomes.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.rewards import Match
    >>> problem = Problem([Test("fever"), Test("cough")], reward=Match())
    >>> law = latent_class_law(problem, [(0.8, [[1, 0], [1, 0]]), (0.2, [[0, 1], [0.5, 0.5]])])
    >>> law.support.tolist(), law.probabilities.tolist()
    ([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [0.8, 0.1, 0.1])
    """
    weights = np.zeros(problem.size)
    for probability, marginals in classes:
        factors = [np.asarray(marginal, dtype=np.float64) for marginal in marginals]
        _check(problem, factors)
        weights += probability * reduce(np.multiply.outer, factors).reshape(-1)
    return Discrete(outcome_rows(np.arange(problem.size), problem.tests), weights)


def _check(problem: Problem, marginals: Sequence[FloatArray]) -> None:
    for test, marginal in zip(problem.tests, marginals, strict=True):
        if marginal.shape != (test.k,) or abs(marginal.sum() - 1) > 1e-9:
            raise DistributionError(
                f"the outcomes of test {test.name!r} have probabilities {marginal.tolist()}; a hidden state needs one "
                f"for each of its {test.k} outcomes, summing to one; correct them"
            )


def _bolts() -> Iterator[tuple[float, list[tuple[float, ...]]]]:
    for furnace, plating, tools in itertools.product(FURNACE, PLATING, TOOLS):
        for crack, probability in CRACK[tools].items():
            yield (
                FURNACE[furnace] * PLATING[plating] * TOOLS[tools] * probability,
                [
                    THREAD_PITCH[tools],
                    BOLT_LENGTH[tools],
                    BOLT_WEIGHT[plating, tools],
                    SHEAR_STRENGTH[furnace],
                    TENSILE_STRENGTH[furnace],
                    CORROSION_RESISTANCE[plating],
                    ULTRASONIC[crack],
                    FLUORESCENT_PENETRANT[crack],
                    MAGNETIC_PARTICLE[crack],
                ],
            )


def _patients() -> Iterator[tuple[float, list[tuple[float, ...]]]]:
    for disease, kidneys in itertools.product(GOUT, ("good", "bad")):
        yield (
            GOUT[disease] * KIDNEYS[disease][kidneys],
            [
                SEX[disease],
                PODAGRA_BEFORE[disease],
                SERUM_URATE[disease, kidneys],
                CREATININE[kidneys],
                CRP[disease],
                ULTRASOUND_DOUBLE_CONTOUR[disease],
                SYNOVIAL_MSU_CRYSTALS[disease],
                DUAL_ENERGY_CT[disease],
            ],
        )


def _factor_law(
    means: tuple[float, ...], spreads: tuple[float, ...], factors: tuple[tuple[float, float], ...]
) -> Gaussian:
    """Return the law of measurements whose correlations come from common factors."""
    loadings, sd = np.array(factors), np.array(spreads)
    correlation = loadings @ loadings.T
    np.fill_diagonal(correlation, 1.0)
    return Gaussian(means, correlation * np.outer(sd, sd))
