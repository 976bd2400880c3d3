"""How regret grows with the horizon on the paper's random instances, T from 2^10 to 2^20.

A replication keeps its instance, and a longer stream begins with the shorter one, so that the curves differ by T only.
Agents that know T are told each of them.
"""

from __future__ import annotations

from proband.experiments.catalogue.paper_discrete import LEARNERS, PARAMETERS, draw_instance
from proband.experiments.experiment import HORIZON, Experiment, registered

HORIZONS = Experiment(
    name="horizon",
    title="Regret and the horizon",
    shows="Regret after T subjects against T on the paper's random instances; agents that know T are run for each.",
    instance=draw_instance,
    agents=registered(LEARNERS),
    horizon=2**20,
    replications=5,
    parameters=PARAMETERS,
    sweeps={HORIZON: tuple(2**n for n in range(10, 21, 2))},
    shared=frozenset({HORIZON, "costs"}),
)
