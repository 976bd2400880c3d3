"""What a subject brings while an agent learns

Nothing is known at first, so the first bolts are tested completely. Soon the agent knows enough to test little; now
and then a bolt is tested further than the plan says, so that no mistake can hide. The dashed line is what a bolt
brings to somebody who knew the law from the beginning.
"""

import matplotlib.pyplot as plt
import numpy as np

from proband import plan
from proband.agents import SafeLeafCompletion
from proband.figures.agents import looks
from proband.instances import bolts
from proband.simulation import simulate

line = bolts()
stream = line.distribution.draw(np.random.default_rng(1), 10_000)
agent = SafeLeafCompletion(line.problem, seed=2)
run = simulate(line.problem, line.distribution, agent, stream, rng=np.random.default_rng(3))
best = plan(line.problem, line.distribution)

figure, axes = plt.subplots(figsize=(7, 3.6))
at = np.asarray(run.t)
lost = np.diff(run.pseudo_regret, prepend=0) / np.diff(at, prepend=0)
colour = looks(["safe-leaf-completion"])["safe-leaf-completion"].colour  # an agent has one colour in all figures
axes.step(at, best.value - lost, where="pre", color=colour, label="under the agent's policy")
axes.axhline(best.value, ls="--", color="0.4", label="under the best policy")
axes.set(xscale="log", xlabel="bolts so far", ylabel="value of a bolt, USD")
axes.legend(frameon=False, loc="lower right")
lost = run.pseudo_regret[-1]
print(f"lost in all {lost:.0f} USD on {len(stream):,} bolts, {lost / len(stream):.2f} a bolt")
