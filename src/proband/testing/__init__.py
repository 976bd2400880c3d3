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
    from proband.testing.agents import check_agent, check_measured_agent
    from proband.testing.brute_force import BruteForce, exhaustive_value, perfect_information
    from proband.testing.distributions import check_distribution
    from proband.testing.planners import check_planner
    from proband.testing.policies import check_policy
    from proband.testing.random_instances import (
        REWARDS,
        random_distribution,
        random_gaussian,
        random_measured_problem,
        random_measured_states,
        random_problem,
        random_states,
    )
    from proband.testing.stores import check_store
else:
    __getattr__, __dir__ = attributes(__name__)

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
