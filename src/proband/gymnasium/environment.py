"""One subject at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

import gymnasium
from proband.distributions import Distribution
from proband.gymnasium.spaces import Course
from proband.instances import INSTANCES
from proband.problem import Problem


class SequentialTestEnv(gymnasium.Env[Any, Any]):
    """Subjects of a law, one an episode; see :mod:`proband.gymnasium.spaces` for what is seen and done.

    A step costs what the test costs; a decision brings its reward and ends the episode. Episodes of more than twice as
    many steps as there are tests are cut off: somebody runs the same tests again and again. ``info`` has
    ``action_mask``, and at the end ``cost`` and ``tests``.

    Parameters
    ----------
    problem : Problem
    distribution : Distribution
        The law that subjects are drawn from.

    Examples
    --------
    >>> from proband.instances import bolts
    >>> environment = make_env(bolts().problem, bolts().distribution)
    >>> _, info = environment.reset(seed=0)
    >>> _, reward, ended, _, info = environment.step(0)
    >>> float(reward), ended, int(info["action_mask"][0])
    (-0.15, False, 0)
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - as Gymnasium has it

    def __init__(self, problem: Problem, distribution: Distribution) -> None:
        self.course = Course(problem, distribution)
        self.action_space, self.observation_space = self.course.action_space, self.course.observation_space
        self._subject = self._state = np.zeros((1, problem.d))
        self._steps, self._cost, self._over = 0, 0.0, True

    @property
    def action_names(self) -> list[str]:
        """What each action is."""
        return self.course.action_names

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Let a new subject arrive."""
        super().reset(seed=seed)
        self._subject = self.course.distribution.sample(self.np_random, 1)
        self._state = self.course.start(self._subject)
        self._steps, self._cost, self._over = 0, 0.0, False
        return self.course.observed(self._state)[0], {"action_mask": self.action_masks()}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Run a test, or decide."""
        if self._over:
            raise ResetNeeded("there is no subject: the episode is over, or none has begun; call reset() first")
        rewards, decided = self.course.act(self._subject, self._state, np.atleast_1d(action))
        self._steps += 1
        ended = bool(decided[0])
        self._cost -= 0.0 if ended else float(rewards[0])
        cut = not ended and self._steps >= self.course.most_steps
        self._over = ended or cut
        info: dict[str, Any] = {"action_mask": self.action_masks()}
        if ended or cut:
            info |= {"cost": self._cost, "tests": self._steps - ended}
        return self.course.observed(self._state)[0], float(rewards[0]), ended, cut, info

    def action_masks(self) -> NDArray[np.int8]:
        """Return which actions make sense now; maskable agents ask for it by this name."""
        return np.asarray(self.course.masks(self._state)[0])


def make_env(problem: Problem, distribution: Distribution) -> SequentialTestEnv:
    """Return the environment of a problem and a law."""
    return SequentialTestEnv(problem, distribution)


def example(name: str) -> SequentialTestEnv:
    """Return the environment of an example."""
    instance = INSTANCES[name]()
    return SequentialTestEnv(instance.problem, instance.distribution)
