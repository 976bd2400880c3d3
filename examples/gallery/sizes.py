"""How many sites a network needs

The best set of each size in the [network](../guides/monitoring.md) of 24 sites: entropy less running costs, each
proved. Beyond eight sites a further one costs more than it tells.
"""

from proband.figures import draw_sizes
from proband.instances.networks import load_network
from proband.planners.subset import plan_sizes

network = load_network("network")
wanted = list(range(1, 17))
found = plan_sizes(network.problem, network.distribution, wanted=wanted)
values = [each.value for each in found]
best = wanted[max(range(len(wanted)), key=values.__getitem__)]
print(f"best size {best}, value {max(values):.3f}")
figure = draw_sizes(
    wanted,
    values,
    [each.bound for each in found],
    title="Air quality: best set of each size",
    best=best,
    unit=network.problem.unit,
)
