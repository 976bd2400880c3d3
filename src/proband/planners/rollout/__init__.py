"""Trees grown by information and improved by rollouts: for many tests, where there is no time for a proof."""

from proband.planners.rollout.trees import GrownTree, grow_many, grow_tree, tree_value

__all__ = ["GrownTree", "grow_many", "grow_tree", "tree_value"]
