"""proband: learn which test to run next, when to stop, and what to decide.

Examples
--------
>>> import proband
>>> problem = proband.Problem(
...     tests=[proband.Test("visual", 0.1), proband.Test("ultrasonic", 0.5)],
...     decisions=["pass", "fail"],
...     reward=lambda x, y: (x[:, 1] == y) * 1.0,
... )
>>> law = proband.Discrete([[0, 0], [0, 1], [1, 0], [1, 1]], [0.70, 0.05, 0.05, 0.20])
>>> best = proband.plan(problem, law)
>>> problem.action_name(best.act(problem.state())[0]), round(best.value, 3)
('visual', 0.8)
"""

from typing import TYPE_CHECKING

from proband.lazy import attributes

if TYPE_CHECKING:
    from proband.distributions import Discrete, Gaussian
    from proband.drafting import draft
    from proband.fitting import fit
    from proband.planners import Evaluation, Plan, evaluate, plan
    from proband.problem import Problem
    from proband.studies import Study
    from proband.version import __version__ as __version__
    from proband.vocabulary import Records, Test
else:
    __getattr__, __dir__ = attributes(__name__)

__all__ = [
    "Discrete",
    "Evaluation",
    "Gaussian",
    "Plan",
    "Problem",
    "Records",
    "Study",
    "Test",
    "draft",
    "evaluate",
    "fit",
    "plan",
]
