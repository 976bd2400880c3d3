"""Planners: from a problem and a law to a plan."""

from proband.planners.choice import PLANNERS, plan
from proband.planners.discrete_plan import DiscretePlan
from proband.planners.evaluation import Evaluation, evaluate
from proband.planners.options import Options, serves
from proband.planners.plans import Explanation, Plan
from proband.planners.progress import Progress

__all__ = [
    "PLANNERS",
    "DiscretePlan",
    "Evaluation",
    "Explanation",
    "Options",
    "Plan",
    "Progress",
    "evaluate",
    "plan",
    "serves",
]
