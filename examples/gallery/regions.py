"""Where each action is best, by measurement

Bolts whose hardness and strength are [measured](../gaussian.md): a panel for each set of tests that were run, the
expected strength along it. Narrow regions are where another test is worth its price.
"""

from proband import plan
from proband.figures import draw_regions
from proband.instances import bolts_measured

line = bolts_measured()
best = plan(line.problem, line.distribution)
print(f"value {best.value:.4f} EUR a bolt, numerical error about {best.error:.0e}")
figure = draw_regions(best)
