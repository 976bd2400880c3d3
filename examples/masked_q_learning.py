"""Masked Q-learning in plain numpy on an environment of Gymnasium, beside the exact plan.

    python examples/masked_q_learning.py

The learner sees observations, rewards and masks alone: neither the problem nor the law. It plays many subjects side by
side, takes a random permitted action with a falling probability, and moves the value of what it did towards what came
of it. It is the plainest of its kind, and no benchmark of reinforcement learning.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from proband import Discrete, Problem, Records, Test, plan
from proband.gymnasium import make_vector_env
from proband.gymnasium.spaces import Course
from proband.rewards import Table

SIDE_BY_SIDE = 64

Chooser = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""From observations (n, places) and masks (n, actions) to actions (n,)."""


def bolts() -> tuple[Problem, Discrete]:
    """Return the problem of the README, and its law."""
    problem = Problem(
        [
            Test("bolt weight", 0.05, outcomes=["nominal", "light"]),
            Test("magnetic particle", 0.60, outcomes=["clear", "indication"]),
            Test("ultrasonic", 2.40, outcomes=["clear", "crack"]),
        ],
        ["pass", "fail"],
        Table(["ultrasonic"], [[6, -2], [-60, -1]]),
    )
    seen = [[0, 0, 0]] * 860 + [[0, 1, 0]] * 60 + [[0, 1, 1]] * 30 + [[1, 0, 0]] * 35 + [[1, 1, 1]] * 15
    return problem, Discrete.from_records(Records(seen))


def learn(problem: Problem, law: Discrete, *, steps: int, seed: int) -> dict[bytes, np.ndarray]:
    """Return the learned value of each action, by observation."""
    environments, rng = make_vector_env(problem, law, num_envs=SIDE_BY_SIDE), np.random.default_rng(seed)
    actions = int(environments.single_action_space.n)
    values: dict[bytes, np.ndarray] = {}
    visits: dict[bytes, np.ndarray] = {}
    seen, info = environments.reset(seed=seed)
    over = np.zeros(SIDE_BY_SIDE, dtype=bool)
    for step in range(steps):
        keys, allowed = [row.tobytes() for row in seen], info["action_mask"].astype(bool)
        table = np.array([values.setdefault(key, np.zeros(actions)) for key in keys])
        best = np.where(allowed, table, -np.inf).argmax(axis=1)
        anything = np.where(allowed, rng.random(allowed.shape), -1.0).argmax(axis=1)
        chosen = np.where(rng.random(SIDE_BY_SIDE) < max(0.1, 1 - step / steps), anything, best)
        seen, rewards, ended, cut, info = environments.step(chosen)
        masks = info["action_mask"].astype(bool)
        after = np.array([values.setdefault(row.tobytes(), np.zeros(actions)) for row in seen])
        ahead = np.where(ended, 0.0, np.where(masks, after, -np.inf).max(axis=1))
        for n in np.flatnonzero(~over):  # what was over has begun anew, and learns nothing from this step
            count = visits.setdefault(keys[n], np.zeros(actions))
            count[chosen[n]] += 1
            values[keys[n]][chosen[n]] += (rewards[n] + ahead[n] - values[keys[n]][chosen[n]]) / count[chosen[n]] ** 0.8
        over = ended | cut
    return values


def best_of(values: dict[bytes, np.ndarray]) -> Chooser:
    """Return what takes the permitted action of the largest value; what was never seen has none."""

    def chosen(seen: np.ndarray, masks: np.ndarray) -> np.ndarray:
        table = np.array([values.get(row.tobytes(), np.zeros(masks.shape[1])) for row in seen])
        return np.where(masks.astype(bool), table, -np.inf).argmax(axis=1)

    return chosen


def played(problem: Problem, law: Discrete, choose: Chooser) -> float:
    """Return what a policy brings, exactly: every subject of the law, weighed."""
    course = Course(problem, law)
    states = course.start(law.support)
    total, going = np.zeros(len(law)), np.arange(len(law))
    while len(going):
        part = states[going]
        rewards, decided = course.act(law.support[going], part, choose(course.observed(part), course.masks(part)))
        states[going] = part
        total[going] += rewards
        going = going[~decided]
    return float(law.probabilities @ total)


def main() -> None:
    """Learn, and compare."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--steps", type=int, default=3000, help="of 64 environments each")
    options.add_argument("--seeds", type=int, default=5)
    given = options.parse_args()
    problem, law = bolts()
    exact = plan(problem, law).value
    learned = [learn(problem, law, steps=given.steps, seed=seed) for seed in range(given.seeds)]
    brought = [played(problem, law, best_of(values)) for values in learned]
    print(f"exact plan          {exact:.4f} a subject")
    print(f"masked Q-learning   {np.mean(brought):.4f} on average, {min(brought):.4f} to {max(brought):.4f} over seeds")


if __name__ == "__main__":
    main()
