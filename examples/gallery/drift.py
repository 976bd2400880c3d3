"""An alarm that may be looked at every day

The share of rusty bolts goes from 10 % to 20 % at bolt 1,500. The curve is the evidence that something changed; it
may be looked at after every bolt, and crosses the line without a change with a probability of 1 % at most
([why](../drift.md)). Below: two streams without a change.
"""

import matplotlib.pyplot as plt
import numpy as np

from proband import Problem, Test
from proband.rewards import Table
from proband.studies.drift import Drift

problem = Problem(
    [Test("visual", 0.1, outcomes=("clean", "rusty"))], ["pass", "fail"], Table(["visual"], [[1, 0], [-4, 0]])
)
figure, axes = plt.subplots(figsize=(7, 3.6))
for seed, later in ((0, 0.20), (1, 0.10), (2, 0.10)):
    check, rng, evidence = Drift(problem), np.random.default_rng(seed), []
    for n in range(3_000):
        check.update(problem.state(), 0, rng.random() < (0.10 if n < 1_500 else later))
        evidence.append(check.log_e)
    look = {"lw": 1.8, "color": "C3"} if later > 0.1 else {"lw": 1, "color": "0.6"}
    axes.plot(evidence, label={0: "a change at bolt 1,500", 1: "no change, two streams"}.get(seed), **look)
    if check.raised:
        print(f"changed at bolt 1,500: alarm at bolt {next(n for n, e in enumerate(evidence) if e >= np.log(100)):,}")
    else:
        print("no change: no alarm")
axes.axhline(np.log(100), ls="--", color="0.3")
axes.annotate("alarm, α = 1 %", (0, np.log(100)), xytext=(4, 4), textcoords="offset points")
axes.set(xlabel="bolts so far", ylabel="evidence, log E", ylim=(-2, 15))
axes.xaxis.set_major_formatter("{x:,.0f}")
axes.legend(frameon=False, loc="upper left")
