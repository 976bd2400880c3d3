"""A plan as a tree

The best inspection plan of the [bolts](../guides/inspection.md), cut below three tests. Each box says what is run,
for how much, and what is expected from there on; each line which outcome leads on, and how often.
"""

from proband import plan
from proband.figures import draw_tree
from proband.instances import bolts

line = bolts()
best = plan(line.problem, line.distribution)
print(f"value {best.value:.2f} USD a bolt, {best.expected_tests:.1f} tests for {best.expected_cost:.2f} USD")
figure = draw_tree(best.tree(depth=3))
