"""What a limit costs

The best plan for [gout](../guides/diagnosis.md) when nobody may have more than so many examinations. Each value is
that of the best plan within the limit, proved.
"""

import matplotlib.pyplot as plt

from proband import plan
from proband.instances import gout

ward = gout()
values = []
for most in range(4):
    best = plan(ward.problem, ward.distribution, max_tests=most)
    values.append(best.value)
    print(f"at most {most} examinations: {best.value:7.1f} EUR a patient, gap {best.gap:.0f}")
free = plan(ward.problem, ward.distribution).value

figure, axes = plt.subplots(figsize=(6, 3.6))
axes.plot(range(4), values, "o-", label="at most so many examinations")
axes.axhline(free, ls="--", color="0.4", label="no limit")
axes.set(xlabel="examinations a patient, at most", ylabel="value, EUR a patient", xticks=range(4))
axes.legend(frameon=False)
