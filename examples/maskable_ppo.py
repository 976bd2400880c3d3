"""MaskablePPO of sb3-contrib on an environment of Gymnasium, beside the exact plan.

    make example-ppo

makes an environment of its own and runs this. Elsewhere: ``pip install "proband[gymnasium]" sb3-contrib``, then
``python examples/maskable_ppo.py``. The learner sees observations, rewards and masks alone: neither the problem nor
the law. Rewards are divided by the largest loss, as its networks want them; nothing is tuned beyond that.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import sb3_contrib
import torch
from masked_q_learning import Chooser, bolts, played
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv

import gymnasium
from proband import Discrete, Problem, plan
from proband.gymnasium import make_env

SIDE_BY_SIDE = 16


class Scaled(gymnasium.RewardWrapper):
    """Rewards in units of the largest loss; masks are found through it."""

    def __init__(self, env: gymnasium.Env, unit: float) -> None:
        super().__init__(env)
        self._unit = unit

    def reward(self, reward: float) -> float:
        return reward / self._unit

    def action_masks(self) -> np.ndarray:
        return self.env.unwrapped.action_masks()


def learn(problem: Problem, law: Discrete, *, steps: int, seed: int) -> Chooser:
    """Return the learned policy, without its coins."""
    unit = float(np.abs(problem.reward.utilities).max())
    environments = DummyVecEnv([lambda: Scaled(make_env(problem, law), unit) for _ in range(SIDE_BY_SIDE)])
    model = MaskablePPO(
        "MlpPolicy", environments, gamma=1.0, n_steps=256, batch_size=512, ent_coef=0.01, learning_rate=1e-3,
        seed=seed, device="cpu",
    )  # fmt: skip
    model.learn(steps)
    return lambda seen, masks: model.predict(seen, action_masks=masks, deterministic=True)[0]


def main() -> None:
    """Learn, and compare."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--steps", type=int, default=100_000)
    options.add_argument("--seeds", type=int, default=5)
    given = options.parse_args()
    torch.set_num_threads(1)
    problem, law = bolts()
    exact, brought, began = plan(problem, law).value, [], time.process_time()
    for seed in range(given.seeds):
        brought.append(played(problem, law, learn(problem, law, steps=given.steps, seed=seed)))
        print(f"seed {seed}: {brought[-1]:.4f}", flush=True)
    spent = (time.process_time() - began) / given.seeds
    print(f"exact plan    {exact:.4f} a subject")
    print(f"MaskablePPO   {np.mean(brought):.4f} on average, {min(brought):.4f} to {max(brought):.4f} over seeds")
    print(f"{given.steps} steps and {spent:.0f} s of CPU a seed, sb3-contrib {sb3_contrib.__version__}")


if __name__ == "__main__":
    main()
