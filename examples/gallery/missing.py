"""Why missing cells may not be counted away

An ultrasonic test is run on rusty bolts, and on one clean bolt of five. Counting the bolts that have both cells says
that cracks are far too common, and more bolts do not help; the
[likelihood](../estimators.md#missing-at-random-and-why-the-mechanism-may-be-ignored) comes to the truth.
"""

import matplotlib.pyplot as plt
import numpy as np

from proband import Discrete, Problem, Records, Test
from proband.estimators import BiasedPooledCompleteCases, Likelihood
from proband.rewards import Table

problem = Problem([Test("visual"), Test("ultrasonic")], ["pass", "fail"], Table(["ultrasonic"], [[1, 0], [-4, 0]]))
law = Discrete([[0, 0], [0, 1], [1, 0], [1, 1]], [0.72, 0.03, 0.10, 0.15])
sizes, rng = [100, 300, 1_000, 3_000, 10_000], np.random.default_rng(0)
rows = law.sample(rng, sizes[-1])
rows[(rows[:, 0] == 0) & (rng.random(len(rows)) > 0.2), 1] = np.nan
kinds = {"bolts with both cells": BiasedPooledCompleteCases, "likelihood": Likelihood}

figure, axes = plt.subplots(figsize=(6, 3.6))
for name, kind in kinds.items():
    shares = []
    for n in sizes:
        estimator = kind(problem)
        estimator.update(Records(rows[:n]))
        shares.append(100 * estimator.distribution().marginal(1)[1])
    axes.plot(sizes, shares, "o-", label=name)
    print(f"{name:22} {shares[-1]:.1f} % cracked")
axes.axhline(18, ls="--", color="0.4", label="truth: 18 %")
axes.set(xscale="log", xlabel="bolts", ylabel="estimated share of cracked bolts, %", ylim=(0, 80))
axes.legend(frameon=False)
