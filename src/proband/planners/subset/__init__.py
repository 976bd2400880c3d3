"""Which tests are worth their price? Cost-sensitive maximum-entropy sampling, solved exactly.

:func:`plan_subset` chooses the best set of a problem's tests, :func:`plan_sizes` the best one of each size. Below them,
on arrays: :func:`solve_subset` chooses the best set of any size or of a given one, :func:`sizes` that of each size,
:func:`improve` a good one quickly, and :func:`enumerate_values` lists the rewards of all sets of few tests.
"""

from typing import TYPE_CHECKING

from proband.lazy import attributes

if TYPE_CHECKING:
    from proband.planners.subset.enumeration import enumerate_values
    from proband.planners.subset.every_size import sizes
    from proband.planners.subset.improving import improve
    from proband.planners.subset.planner import plan_sizes, plan_subset
    from proband.planners.subset.solution import SubsetSolution
    from proband.planners.subset.solve import solve_subset
else:
    __getattr__, __dir__ = attributes(__name__)

__all__ = [
    "SubsetSolution",
    "enumerate_values",
    "improve",
    "plan_sizes",
    "plan_subset",
    "sizes",
    "solve_subset",
]
