"""Up to which price a test is worth it

The ultrasonic test of a bolt, at prices from nothing to 6 USD, all other prices as they are: how often the best plan
runs it. Above a certain price it is not run at all.
"""

import matplotlib.pyplot as plt
import numpy as np

from proband import Problem, Test, plan
from proband.instances import bolts
from proband.policies import follow

line = bolts()
problem, law = line.problem, line.distribution
test = problem.test_index("ultrasonic")
prices = np.linspace(0, 6, 25)
shares = []
for price in prices:
    tests = list(problem.tests)
    tests[test] = Test("ultrasonic", float(price), outcomes=tests[test].outcomes)
    changed = Problem(tests, problem.decisions, problem.reward)
    ends = follow(changed, plan(changed, law), law.support).states
    shares.append(law.probabilities[~np.isnan(ends[:, test])].sum())
print(f"run on {100 * shares[0]:.0f} % of the bolts for nothing, on {100 * shares[10]:.0f} % at {prices[10]:.2f} USD")

figure, axes = plt.subplots(figsize=(6, 3.6))
axes.step(prices, 100 * np.array(shares), where="mid")
axes.axvline(problem.tests[test].cost, ls="--", color="0.4")
axes.annotate("its price", (problem.tests[test].cost, 90), xytext=(6, 0), textcoords="offset points")
axes.set(xlabel="price of the ultrasonic test, USD", ylabel="bolts on which it is run, %", ylim=(0, 100))
