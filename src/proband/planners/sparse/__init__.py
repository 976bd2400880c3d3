"""Exact and anytime planning over the support: for many tests and few distinct subjects."""

from proband.planners.sparse.limits import Limits
from proband.planners.sparse.planner import SparsePlan, plan_sparse
from proband.planners.sparse.solve import SupportPlan, solve_support
from proband.planners.sparse.trees import Trees

__all__ = ["Limits", "SparsePlan", "SupportPlan", "Trees", "plan_sparse", "solve_support"]
