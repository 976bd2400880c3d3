"""An easy instance: a single test with a large gap between the right decision and the others.

The label is 0 for nine subjects of ten, and testing costs 3/4. Deciding "0" untested brings 0.9, testing 1/4, and
deciding "1" 0.1: a handful of subjects teach what is best.
"""

from __future__ import annotations

from proband.distributions import Discrete
from proband.instances.instance import Instance
from proband.instances.lower_bounds import labelling


def easy() -> Instance[Discrete]:
    """Return the easy instance.

    Examples
    --------
    >>> from proband import plan
    >>> instance = easy()
    >>> round(plan(instance.problem, instance.distribution).value, 12)
    0.9
    """
    return Instance("easy", labelling("Easy"), Discrete([[0], [1]], [0.9, 0.1]))
