"""Learning by reinforcement, beside the exact plan

Masked Q-learning on the [environment](../gymnasium.md) of the README's problem: it sees observations, rewards and masks
alone. What its policy is worth is worked out exactly, for every outcome vector of the law. The dashed line is the
exact plan, which is there in a hundredth of a second where the law is known.
"""

import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from proband import plan

example = runpy.run_path(str(Path(__file__).parents[1] / "masked_q_learning.py"))
problem, law = example["bolts"]()
exact = plan(problem, law).value
learn, best_of, played = example["learn"], example["best_of"], example["played"]
steps = np.array([10, 30, 100, 300, 1000])
worth = np.array(
    [[played(problem, law, best_of(learn(problem, law, steps=n, seed=seed))) for seed in range(5)] for n in steps]
)
for n, values in zip(steps * example["SIDE_BY_SIDE"], worth, strict=True):
    print(f"{n:6,} tests and decisions: {values.mean():6.3f} a subject, exact plan {exact:.3f}")

figure, axes = plt.subplots(figsize=(7, 3.6))
x = steps * example["SIDE_BY_SIDE"]
axes.plot(x, worth.mean(axis=1), "o-", label="masked Q-learning, mean of five seeds")
axes.fill_between(x, worth.min(axis=1), worth.max(axis=1), alpha=0.2, lw=0, label="the worst and the best of them")
axes.axhline(exact, ls="--", color="0.4", label="exact plan")
axes.set(xscale="log", xlabel="tests and decisions learned from", ylabel="value of a subject (units of the reward)")
axes.legend(frameon=False, loc="lower right")
