"""Bolt inspection: the nine tests of the paper's table, with an illustrative law.

The forge may leave a crack, the furnace may leave the steel soft, the plating may be thin, and the tools drift. Each
fault shows in several tests, more or less clearly. The law of the nine outcomes is exact (see
:mod:`proband.instances.latent`); its numbers are invented, not measured. The problem file
``instances/problems/bolts.toml`` explains prices and rewards.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from proband.distributions import Discrete
from proband.instances.instance import Instance, packaged_problem
from proband.instances.latent import latent_class_law

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
    return Instance("bolts", problem, latent_class_law(problem, _classes()))


def _classes() -> Iterator[tuple[float, list[tuple[float, ...]]]]:
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
