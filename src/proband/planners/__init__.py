"""Planners: from a problem and a law to a plan."""

from proband.planners.choice import MEASURED_PLANNERS, PLANNERS, plan
from proband.planners.discrete_plan import DiscretePlan
from proband.planners.evaluation import Evaluation, evaluate
from proband.planners.plans import Explanation, Plan

__all__ = ["MEASURED_PLANNERS", "PLANNERS", "DiscretePlan", "Evaluation", "Explanation", "Plan", "evaluate", "plan"]
