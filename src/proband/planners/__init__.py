"""Planners: from a problem and a law to a plan."""

from proband.planners.choice import PLANNERS, plan
from proband.planners.evaluation import Evaluation, evaluate
from proband.planners.plan import Explanation, Plan

__all__ = ["PLANNERS", "Evaluation", "Explanation", "Plan", "evaluate", "plan"]
