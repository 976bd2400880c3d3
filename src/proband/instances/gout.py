"""Gout diagnosis, with a gold standard that only past patients had; an illustrative law.

Two hidden facts drive everything: whether the joint holds urate crystals, and whether the kidneys work badly. Given
them, the patient's sex and what the tests show are independent. The law is exact (see
:mod:`proband.instances.latent`); its numbers are invented and no medical advice. The problem file
``instances/problems/gout.toml`` explains prices and rewards.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from proband.distributions import Discrete
from proband.instances.instance import Instance, packaged_problem
from proband.instances.latent import latent_class_law

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


def gout() -> Instance[Discrete]:
    """Return the diagnosis of gout.

    Examples
    --------
    >>> instance = gout()
    >>> [test.name for test in instance.problem.tests if not test.available]
    ['dual-energy CT']
    """
    problem = packaged_problem("gout")
    return Instance("gout", problem, latent_class_law(problem, _classes()))


def _classes() -> Iterator[tuple[float, list[tuple[float, ...]]]]:
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
