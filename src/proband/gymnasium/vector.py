"""Many subjects side by side, in arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from proband.distributions import Distribution
from proband.gymnasium.spaces import Course
from proband.instances import INSTANCES
from proband.problem import Problem


class SequentialTestVectorEnv(VectorEnv[Any, Any, Any]):
    """Environments as :class:`~proband.gymnasium.SequentialTestEnv`, moved on together without a loop.

    Where an episode has ended the next step begins a new one, whatever its action is. Then ``info`` has ``cost`` and
    ``tests`` of those that have ended, and which these are (``_cost``, ``_tests``), as Gymnasium puts it.

    Examples
    --------
    >>> from proband.instances import bolts
    >>> environments = make_vector_env(bolts().problem, bolts().distribution, num_envs=3)
    >>> observations, info = environments.reset(seed=0)
    >>> observations.shape[0], info["action_mask"].shape
    (3, (3, 11))
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(self, problem: Problem, distribution: Distribution, *, num_envs: int = 1) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs is {num_envs}; it must be 1 or more; say how many stand side by side")
        self.course, self.num_envs = Course(problem, distribution), num_envs
        self.single_action_space = self.course.action_space
        self.single_observation_space = self.course.observation_space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._subjects = self._states = np.zeros((num_envs, problem.d))
        self._steps, self._over = np.zeros(num_envs, dtype=np.int64), np.zeros(num_envs, dtype=np.bool_)
        self._cost, self._begun = np.zeros(num_envs), False

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Let new subjects arrive everywhere."""
        super().reset(seed=seed)
        self._subjects = self.course.distribution.sample(self.np_random, self.num_envs)
        self._states = self.course.start(self._subjects)
        self._steps[:], self._over[:], self._cost[:], self._begun = 0, False, 0.0, True
        return self.course.observed(self._states), self._told()

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Run tests, or decide, one action for each environment."""
        if not self._begun:
            raise ResetNeeded("there are no subjects: no episode has begun; call reset() first")
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,):
            raise InvalidAction(f"actions have shape {actions.shape}; there must be one for each of {self.num_envs}")
        new, going = np.flatnonzero(self._over), np.flatnonzero(~self._over)
        rewards, ended = np.zeros(self.num_envs), np.zeros(self.num_envs, dtype=np.bool_)
        if len(new):
            self._subjects[new] = self.course.distribution.sample(self.np_random, len(new))
            self._states[new] = self.course.start(self._subjects[new])
            self._steps[new], self._cost[new] = 0, 0.0
        states = self._states[going]
        rewards[going], ended[going] = self.course.act(self._subjects[going], states, actions[going])
        self._states[going] = states
        self._steps[going] += 1
        cut = ~ended & (self._steps >= self.course.most_steps)
        self._cost -= np.where(ended, 0.0, rewards)
        self._over = ended | cut
        return self.course.observed(self._states), rewards, ended, cut, self._told() | self._ended(ended)

    def _told(self) -> dict[str, Any]:
        return {"action_mask": self.course.masks(self._states)}

    def _ended(self, decided: NDArray[np.bool_]) -> dict[str, Any]:
        """Return what the episodes that are over have cost, where there are any."""
        if not self._over.any():
            return {}
        shown = {"cost": np.where(self._over, self._cost, 0.0), "tests": np.where(self._over, self._steps - decided, 0)}
        return shown | {f"_{key}": self._over.copy() for key in shown}


def make_vector_env(problem: Problem, distribution: Distribution, *, num_envs: int = 1) -> SequentialTestVectorEnv:
    """Return environments of a problem and a law, side by side."""
    return SequentialTestVectorEnv(problem, distribution, num_envs=num_envs)


def example(name: str, num_envs: int = 1) -> SequentialTestVectorEnv:
    """Return environments of an example."""
    instance = INSTANCES[name]()
    return SequentialTestVectorEnv(instance.problem, instance.distribution, num_envs=num_envs)
