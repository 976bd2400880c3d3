"""Trees grown by information and improved by rollouts: for many tests, where there is no time for a proof."""

from proband.planners.rollout.arrays import Enough, ideal_of
from proband.planners.rollout.planner import RolloutPlan, plan_rollout
from proband.planners.rollout.trees import GrownTree, grow_many, grow_tree, tree_value

__all__ = ["Enough", "GrownTree", "RolloutPlan", "grow_many", "grow_tree", "ideal_of", "plan_rollout", "tree_value"]
