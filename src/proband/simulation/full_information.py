"""Full information: a yardstick that no agent can have outside a simulation.

Whoever skips a test never learns what it would have shown. A simulation knows it, and can show it: an agent in
:class:`FullInformation` pays for the tests of its own policies only, and learns every subject as if all tests had been
run. It need not explore, so what it loses is what estimating the law costs anybody; what another agent loses
beyond that is the price of looking.
"""

from __future__ import annotations

from dataclasses import dataclass

from proband.agents import Agent
from proband.vocabulary import Policy, Records


@dataclass(frozen=True)
class FullInformation:
    """An agent to whom a simulation shows whole subjects, whatever its policy tested.

    It has no name among :data:`proband.agents.AGENTS` and cannot be built from a setting: a study, whose subjects show
    what was tested and no more, can never run it.

    Parameters
    ----------
    agent : Agent
        Who acts and learns, such as :class:`~proband.agents.Greedy`: nothing is left to explore.

    Examples
    --------
    >>> import numpy as np
    >>> from proband.agents import Greedy
    >>> from proband.instances import easy
    >>> from proband.simulation import simulate
    >>> instance = easy()
    >>> agent = FullInformation(Greedy(instance.problem, first=8))
    >>> run = simulate(instance.problem, instance.distribution, agent, np.zeros(100, int), rng=np.random.default_rng(1))
    >>> run.tests[-1], agent.agent.estimator.observations.rows
    (np.float64(8.0), array([[0.]]))
    """

    agent: Agent

    def policy(self) -> Policy:
        """Return the agent's policy."""
        return self.agent.policy()

    def learn(self, records: Records) -> None:
        """Let the agent learn from whole subjects."""
        self.agent.learn(records)

    @property
    def commitment(self) -> int:
        """The agent's own."""
        return self.agent.commitment
