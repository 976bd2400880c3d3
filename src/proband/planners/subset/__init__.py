"""Which tests are worth their price? Cost-sensitive maximum-entropy sampling, solved exactly.

:func:`solve_subset` chooses the best set of tests of any size or of a given one, :func:`sizes` the best set of each
size, :func:`improve` a good one quickly, and :func:`enumerate_values` lists the rewards of all sets of few tests.
"""

from typing import TYPE_CHECKING

from proband.lazy import attributes

if TYPE_CHECKING:
    from proband.planners.subset.enumeration import enumerate_values
    from proband.planners.subset.every_size import sizes
    from proband.planners.subset.improving import improve
    from proband.planners.subset.solution import SubsetSolution
    from proband.planners.subset.solve import solve_subset
else:
    __getattr__, __dir__ = attributes(__name__)

__all__ = ["SubsetSolution", "enumerate_values", "improve", "sizes", "solve_subset"]
