"""What comes of an agent on a stream of subjects, and where it is recorded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from proband.vocabulary import FloatArray, IntArray


@dataclass(frozen=True)
class Trajectory:
    """Cumulative figures of one agent on one stream, at the checkpoints `t`.

    Attributes
    ----------
    t : IntArray of shape (n,)
        Numbers of subjects.
    pseudo_regret, realised_regret : FloatArray of shape (n,)
    cost : FloatArray of shape (n,)
        Costs paid.
    tests : FloatArray of shape (n,)
        Tests run.
    blocks : int
        How many policies were played.
    """

    t: IntArray
    pseudo_regret: FloatArray
    realised_regret: FloatArray
    cost: FloatArray
    tests: FloatArray
    blocks: int


def checkpoints(horizon: int, *, per_doubling: int = 4) -> IntArray:
    """Return log-spaced numbers of subjects from 1 to the horizon.

    Examples
    --------
    >>> checkpoints(16, per_doubling=1)
    array([ 1,  2,  4,  8, 16])
    """
    exponents = np.arange(int(np.floor(np.log2(horizon) * per_doubling)) + 1) / per_doubling
    return np.unique(np.append(np.floor(2**exponents).astype(np.int64), horizon))
