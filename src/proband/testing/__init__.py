"""The public conformance kit: what distributions, policies, planners, agents and stores must do, and a yardstick.

Write your own planner, then ask the kit about it; it raises AssertionError with the instance that broke a rule.

Examples
--------
>>> import numpy as np
>>> import proband
>>> from proband.testing import check_planner
>>> check_planner(proband.plan, np.random.default_rng(1), instances=3)
"""

from typing import TYPE_CHECKING

from proband.lazy import attributes

if TYPE_CHECKING:
    from proband.testing.agents import check_agent
    from proband.testing.brute_force import BruteForce, exhaustive_value, perfect_information
    from proband.testing.distributions import check_distribution
    from proband.testing.measured_agents import check_measured_agent
    from proband.testing.planners import check_planner
    from proband.testing.policies import check_policy
    from proband.testing.random_instances import REWARDS, random_distribution, random_problem, random_states
    from proband.testing.random_measured import random_gaussian, random_measured_problem, random_measured_states
    from proband.testing.stores import check_store
else:
    __getattr__, __dir__ = attributes(
        __name__,
        {
            "check_agent": "proband.testing.agents",
            "BruteForce": "proband.testing.brute_force",
            "exhaustive_value": "proband.testing.brute_force",
            "perfect_information": "proband.testing.brute_force",
            "check_distribution": "proband.testing.distributions",
            "check_measured_agent": "proband.testing.measured_agents",
            "check_planner": "proband.testing.planners",
            "check_policy": "proband.testing.policies",
            "REWARDS": "proband.testing.random_instances",
            "random_distribution": "proband.testing.random_instances",
            "random_problem": "proband.testing.random_instances",
            "random_states": "proband.testing.random_instances",
            "random_gaussian": "proband.testing.random_measured",
            "random_measured_problem": "proband.testing.random_measured",
            "random_measured_states": "proband.testing.random_measured",
            "check_store": "proband.testing.stores",
        },
    )

__all__ = [
    "REWARDS",
    "BruteForce",
    "check_agent",
    "check_distribution",
    "check_measured_agent",
    "check_planner",
    "check_policy",
    "check_store",
    "exhaustive_value",
    "perfect_information",
    "random_distribution",
    "random_gaussian",
    "random_measured_problem",
    "random_measured_states",
    "random_problem",
    "random_states",
]
