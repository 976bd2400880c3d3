"""The dense planner on a GPU: the blocks of :mod:`proband.planners.layout`, one kernel launch a level.

The same recursion as :mod:`proband.planners.dense_kernel`, one thread a state. Only two levels of values, masses
and stakes are alive at any time; what stays is one byte a state, the action. CuPy is an extra
(``pip install "proband[gpu]"``).
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib import resources
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Discrete
from proband.errors import MissingExtraError, TooLargeError
from proband.planners.dense import complete_codes, complete_states, meaning_of_codes
from proband.planners.discrete_plan import DiscretePlan
from proband.planners.layout import MOST_TESTS, Layout, layout_of
from proband.planners.memory import human_bytes, human_number
from proband.planners.options import Options
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Pooling

THREADS = 128
STATES_A_BLOCK = 2048
MOST_COLUMNS = 200
"""Actions take one byte, so tests and columns of the payoff must stay below 256."""

PRECISIONS = {"single": np.float32, "double": np.float64}


class GpuPlan(DiscretePlan):
    """A plan whose actions stay on the GPU, one byte a state.

    `value` has the precision of the computation; `evaluation` is exact (float64 on the CPU).
    """

    method = "gpu"

    def __init__(self, layout: Layout, distribution: Discrete, value: float, actions: Any) -> None:
        super().__init__(layout.problem, distribution)
        self.layout = layout
        self.value = value
        self.bound = value
        self.actions = actions

    def act(self, states: ArrayLike, coins: ArrayLike | None = None) -> IntArray:
        """Return the best action of each state, shape (n,); as :meth:`DensePlan.act`."""
        rows = self.problem.states(states)
        actions, known = self.missing_context(rows)
        numbers = _cupy().asarray(self.layout.number(rows[known]))
        actions[known] = self.decode(rows[known], _cupy().asnumpy(self.actions[numbers]))
        return actions

    def decode(self, rows: FloatArray, codes: ArrayLike) -> IntArray:
        """Turn stored bytes into actions."""
        return meaning_of_codes(self, self.layout, rows, np.asarray(codes))


def gpu_present() -> bool:
    """Return whether CuPy is installed and sees a device."""
    try:
        return bool(_cupy().cuda.runtime.getDeviceCount())
    except Exception:  # CuPy raises errors of its own where there is no driver
        return False


def needed_gpu_memory(layout: Layout, columns: int, precision: str) -> float:
    """Return the bytes of device memory that a plan needs, counted before it starts."""
    if layout.m > MOST_TESTS:
        return float("inf")
    widest = max((a + b for a, b in pairwise(layout.level_sizes)), default=1)
    real = np.dtype(PRECISIONS[precision]).itemsize
    return float(layout.n_states + widest * real * (2 + columns) + 3 * 8 * 2**layout.m)


def plan_gpu(problem: Problem, distribution: Discrete, options: Options) -> GpuPlan:
    """Solve all states on the GPU, in single precision: values are off by about 1e-7 of the reward's range."""
    options.refuse_limits_per_subject("gpu")
    return solve_on_gpu(problem, distribution, precision="single")


def solve_on_gpu(problem: Problem, distribution: Discrete, *, precision: str) -> GpuPlan:
    """Solve all states on the GPU in ``"single"`` or ``"double"`` precision."""
    xp = _cupy()
    distribution.check(problem)
    layout = layout_of(problem)
    payoff = problem.payoff(distribution.support)
    _check_size(layout, payoff.shape[1], precision)
    maximum = problem.reward.pooling is Pooling.MAXIMUM
    n = layout.level_sizes[layout.m]
    level = xp.zeros((2 + payoff.shape[1], n), dtype=PRECISIONS[precision])  # values, masses, stakes
    _complete(layout, distribution, payoff, level)
    value, actions = _solve(layout, level, maximum)
    return GpuPlan(layout, distribution, value, actions)


def _complete(layout: Layout, distribution: Discrete, payoff: FloatArray, level: Any) -> None:
    """Write mass and stakes of the states in which every test that can be run is done."""
    xp, weights = _cupy(), distribution.probabilities
    codes = complete_codes(layout, distribution.support)
    if not layout.problem.all_available:
        buffer = np.empty((1 + payoff.shape[1]) * level.shape[1])
        mass, stakes = complete_states(layout, codes, weights, payoff, buffer)
        level[1], level[2:] = xp.asarray(mass), xp.asarray(stakes)
        return
    places, on_device = xp.asarray(codes), xp.asarray(weights)  # no two support rows share a state
    level[1, places] = on_device
    for j, column in enumerate(payoff.T):
        level[2 + j, places] = on_device * xp.asarray(column)


def _solve(layout: Layout, level: Any, maximum: bool) -> tuple[float, Any]:
    """Run the levels; return the value at the root and the actions."""
    xp = _cupy()
    columns = level.shape[0] - 2
    kernels = _kernels("float" if level.dtype == np.float32 else "double")
    actions = xp.empty(layout.n_states, dtype=xp.uint8)
    n = level.shape[1]
    blocks = -(-n // THREADS)
    kernels.get_function("complete")(
        (blocks,), (THREADS,), (level, actions, np.int64(n), np.int32(columns), np.int32(layout.m))
    )
    order, *tables = _tables(layout)
    prices = xp.asarray(layout.prices, dtype=level.dtype)
    largest = np.cumprod([layout.n_context, *np.sort(layout.k)[::-1]]).tolist()
    twos = bool((layout.k == 2).all()) and layout.n_context & (layout.n_context - 1) == 0
    start = 0
    for step in range(1, layout.m + 1):
        child_start, start = start, start + n
        n, child = layout.level_sizes[layout.m - step], level
        level = xp.empty((2 + columns, n), dtype=child.dtype)
        sets = order[layout.level_bounds[step] : layout.level_bounds[step + 1]]
        block = largest[layout.m - step]
        threads = min(THREADS, max(32, 1 << (block - 1).bit_length()))
        grid = (len(sets), -(-block // STATES_A_BLOCK))
        kernels.get_function("solve_level_of_twos" if twos and block % 4 == 0 else "solve_level")(
            grid,
            (threads,),
            (
                sets, *tables, prices, np.int32(layout.m), np.int32(columns), np.int32(maximum),
                child, np.int64(child.shape[1]), np.int64(child_start),
                level, np.int64(n), np.int64(start), actions,
            ),
        )  # fmt: skip
    return float(level[0].sum()), actions


def _check_size(layout: Layout, columns: int, precision: str) -> None:
    if columns > MOST_COLUMNS:
        raise TooLargeError(
            f"the payoff has {columns} columns; the GPU planner takes {MOST_COLUMNS}; use the dense or sparse planner"
        )
    needed = needed_gpu_memory(layout, columns, precision)
    free, _ = _cupy().cuda.runtime.memGetInfo()
    free += _cupy().get_default_memory_pool().free_bytes()
    if needed > free:
        raise TooLargeError(
            f"the GPU planner would need {human_bytes(needed)} for {human_number(layout.n_states)} states; the device "
            f'has {human_bytes(free)} free; use precision="single", fewer tests, or method="sparse"'
        )


@lru_cache(maxsize=2)
def _tables(layout: Layout) -> list[Any]:
    return [_cupy().asarray(table) for table in (layout.order, layout.size, layout.offset, layout.k, layout.peers)]


@cache
def _kernels(real: str) -> Any:
    code = resources.files("proband.planners").joinpath("gpu_kernel.cu").read_text(encoding="utf-8")
    return _cupy().RawModule(code=code, options=(f"-DREAL={real}", f"-DREAL4={real}4"))


@cache
def _cupy() -> Any:
    try:
        import cupy
    except ImportError as error:
        raise MissingExtraError(
            'the GPU planner needs CuPy, which is not installed; run pip install "proband[gpu]", or use device="cpu"'
        ) from error
    return cupy
