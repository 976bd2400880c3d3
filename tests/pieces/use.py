"""What another package's pieces must go through; run where it is installed (``test_adding.py``)."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

import numpy as np
from other import Mixture, Student, Threshold, Within

from proband import Problem, Test, evaluate, plan
from proband.instances import bolts_measured
from proband.planners import PLANNERS
from proband.planners.files import load_policy, save_policy
from proband.rewards import REWARDS
from proband.testing import check_distribution, check_planner, check_policy

folder, rng = Path(sys.argv[1]), np.random.default_rng(0)

assert REWARDS["threshold"] is Threshold
tests = [Test("a", 0.1), Test("b", 0.1, outcomes=("0", "1", "2")), Test("c", 0.2)]
problem = Problem(tests, ["pass", "fail"], Threshold(2))
problem.save(folder / "problem.toml")
assert Problem.load(folder / "problem.toml") == problem == Problem.from_dict(problem.to_dict())

mixture = Mixture([0.75, 0.25], [[[0.8, 0.2], [0.6, 0.3, 0.1], [0.9, 0.1]], [[0.2, 0.8], [0.1, 0.2, 0.7], [0.3, 0.7]]])
check_distribution(mixture, rng)
best = plan(problem, mixture)
figures = evaluate(problem, mixture, best)
assert abs(figures.value - best.value) < 1e-12
assert figures.cost > 0
save_policy(best, folder / "policy.json")
saved = load_policy(folder / "policy.json")
assert saved.problem == problem
assert evaluate(problem, mixture, saved) == figures
check_policy(problem, saved, rng, rows=mixture.sample(rng, 50))
mixture.solvable().save(folder / "law.csv", problem)

instance = bolts_measured()
strength = instance.problem.tests[5].name
limited = Problem(instance.problem.tests, ["pass", "fail"], Within(strength, 800.0, 1000.0))
limited.save(folder / "limited.toml")
assert Problem.load(folder / "limited.toml") == limited
within = plan(limited, instance.distribution, tolerance=0.01)
assert 0 < within.value < 1
save_policy(within, folder / "within.json")
assert load_policy(folder / "within.json").problem == limited
student = Student(instance.distribution.mean, instance.distribution.covariance, 5.0)
check_distribution(student, rng)
measured = plan(instance.problem, student, tolerance=0.01)
assert measured.distribution == student.solvable()
drawn = evaluate(instance.problem, student, measured, subjects=20_000, rng=rng)
assert drawn.standard_error > 0
assert abs(drawn.value - measured.value) < 1.0
save_policy(measured, folder / "measured.json")
assert load_policy(folder / "measured.json").value == measured.value

assert "impatient" in PLANNERS
check_planner(functools.partial(plan, method="impatient"), rng, instances=10, exact=False)
assert plan(problem, mixture, method="other:plan_impatient").value < best.value
