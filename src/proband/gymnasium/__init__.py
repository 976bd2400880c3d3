"""Sequential testing as environments of Gymnasium: an action is a test or a decision, an episode a subject.

It needs Gymnasium, an extra (``pip install "proband[gymnasium]"``). Once this is imported ``gymnasium.make`` knows the
examples by name.

Examples
--------
>>> import gymnasium
>>> import proband.gymnasium
>>> environment = gymnasium.make("proband/Bolts-v0")
>>> observation, info = environment.reset(seed=1)
>>> int(info["action_mask"].sum()), environment.unwrapped.action_names[0]
(11, 'thread pitch')
"""

from typing import TYPE_CHECKING

from proband.errors import MissingExtraError
from proband.gymnasium.registration import register_envs
from proband.lazy import attributes

if TYPE_CHECKING:
    from proband.gymnasium.environment import SequentialTestEnv, make_env
    from proband.gymnasium.registration import NAMES
    from proband.gymnasium.vector import SequentialTestVectorEnv, make_vector_env
else:
    __getattr__, __dir__ = attributes(__name__)

try:
    register_envs()
except ModuleNotFoundError as error:
    raise MissingExtraError(
        'the environments need gymnasium, which is not installed; pip install "proband[gymnasium]"'
    ) from error

__all__ = [
    "NAMES",
    "SequentialTestEnv",
    "SequentialTestVectorEnv",
    "make_env",
    "make_vector_env",
    "register_envs",
]
