"""Regret of three agents

The paper's comparison in small: six instances of its discrete experiment with six tests, each with a stream of its
own. *Explore-then-commit* knows how many subjects will come, the others do not. Bands are one standard deviation over
instances; the full experiment is [paper-discrete](../experiments/paper-discrete.md).
"""

import numpy as np

from proband.agents import Setting, build_agent
from proband.figures import Curve, Words, draw_mean
from proband.instances import paper_discrete
from proband.simulation import simulate

T = 2**12
found: dict[str, list] = {"explore-then-commit": [], "doubling": [], "safe-leaf-completion": []}
for seed in range(6):
    instance = paper_discrete(np.random.default_rng(seed), d=6)
    problem, law = instance.problem, instance.distribution
    stream = law.draw(np.random.default_rng([seed, 1]), T)
    setting = Setting(problem, horizon=T, seed=seed)
    for name, runs in found.items():
        agent = build_agent(name, setting if name == "explore-then-commit" else Setting(problem, seed=seed))
        runs.append(simulate(problem, law, agent, stream, rng=np.random.default_rng([seed, 2])))

curves = []
for name, runs in found.items():
    regret = np.array([run.pseudo_regret for run in runs])
    curves.append(Curve(name, np.asarray(runs[0].t), regret.mean(axis=0), regret.std(axis=0)))
    print(f"{name:22} {regret[:, -1].mean():6.1f}")
figure = draw_mean(curves, Words("Six tests of two outcomes", "six instances", "explore-then-commit"))
