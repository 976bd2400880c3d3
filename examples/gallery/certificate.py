"""What is certain after some rounds

Nobody knows how the 24 sites co-vary. After 4,000 rounds the agent says, with probability 0.95 for all of it
together, which sites belong to the best set and which do not ([what it rests
on](../guides/monitoring.md#what-a-certificate-rests-on)). Undecided sites are measured on.
"""

import numpy as np

from proband import Records
from proband.agents.entropy import Certified
from proband.figures import draw_map
from proband.instances import monitoring_network, site_positions
from proband.policies import follow

network, rng, done = monitoring_network(), np.random.default_rng(0), 0
agent = Certified(network.problem, delta=0.05, epsilon=0.2)
while done < 4_000 and not agent.finished:
    rows = network.sample(rng, min(agent.commitment, 4_000 - done))
    agent.learn(Records(follow(network.problem, agent.policy(), rows).states))
    done += len(rows)
certificate = agent.certificate()
said = f"{len(certificate.inside)} in, {len(certificate.outside)} out, bound {certificate.bound:.2f} a round"
print(f"{done:,} rounds: {said}")


names = [test.name for test in network.problem.tests]
known = {**dict.fromkeys(certificate.inside, "in"), **dict.fromkeys(certificate.outside, "out")}
costs = np.array([test.cost for test in network.problem.tests])
standing = [known.get(name, "undecided") for name in names]
figure = draw_map(site_positions(), names, standing, costs, title=f"after {done:,} rounds")
