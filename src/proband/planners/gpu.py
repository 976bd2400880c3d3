"""The dense planner on a GPU: the blocks of :mod:`proband.planners.layout`, one kernel launch a level.

The same recursion as :mod:`proband.planners.dense_kernel`, one thread a state. Only two levels of values, masses
and stakes are alive at any time; what stays is one byte a state, the action. CuPy is an extra
(``pip install "proband[gpu]"``).

*Rounding.* The computed value of a policy is a sum of terms p(x)·f(x, y) and -p(x)·c_i, each rounded at most
N = m·k + 3 times on its way up (m tests of at most k outcomes), so that it is off by at most N·u·(E|f| + E[costs]) to
first order, with u = 2^-24 in single precision. Rounding is monotone: the largest of computed values is the computed
value of some policy. A policy that is at least as good as deciding at once has E[costs] ≤ 2F, where |f| ≤ F, so that
the value of the plan and the best value both lie within 3·N·u·F of what was computed. `GpuPlan.error` is 4·N·u·F, where
the fourth part is for higher orders; the same holds in every state whose probability does not underflow (1e-30, say).
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib import resources
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proband.distributions import Discrete
from proband.errors import MissingExtraError, TooLargeError
from proband.planners.dense import complete_codes, complete_states
from proband.planners.dense_plan import meaning_of_codes
from proband.planners.discrete_plan import DiscretePlan
from proband.planners.layout import MOST_TESTS, Layout, layout_of
from proband.planners.memory import human_bytes, human_number
from proband.planners.options import Options, serves
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Kind, Pooling

THREADS = 128
STATES_A_BLOCK = 2048
MOST_COLUMNS = 200
"""Actions take one byte, so tests and columns of the payoff must stay below 256."""

PRECISIONS: dict[str, type[np.float32 | np.float64]] = {"single": np.float32, "double": np.float64}


class GpuPlan(DiscretePlan):
    """A plan whose actions stay on the GPU, one byte a state.

    `value` has the precision of the computation, and `error` bounds how far it is off; `evaluation` and the values of
    states are those of following the plan (float64 on the CPU).
    """

    method = "gpu"
    exact = True

    def __init__(self, layout: Layout, distribution: Discrete, value: float, actions: Any, *, error: float) -> None:
        super().__init__(layout.problem, distribution)
        self.layout = layout
        self.value = value
        self.error = error
        self.bound = value + error
        self.actions = actions

    def act(self, states: ArrayLike, coins: ArrayLike | None = None) -> IntArray:
        """Return the best action of each state, shape (n,); as :meth:`DensePlan.act`."""
        rows = self.problem.states(states)
        actions, known = self.missing_context(rows)
        codes = self.codes(self.layout.number(rows[known]))
        actions[known] = meaning_of_codes(self, self.layout, rows[known], codes)
        return actions

    def codes(self, numbers: IntArray) -> NDArray[np.uint8]:
        """Return the stored bytes of states by their numbers."""
        return np.asarray(_cupy().asnumpy(self.actions[_cupy().asarray(numbers)]))


def gpu_present() -> bool:
    """Return whether CuPy is installed and sees a device."""
    try:
        return bool(_cupy().cuda.runtime.getDeviceCount())
    except Exception:  # CuPy raises errors of its own where there is no driver
        return False


def free_gpu_memory() -> float:
    """Return the bytes that a plan may take on the device; 0 where there is none."""
    if not gpu_present():
        return 0.0
    free, _ = _cupy().cuda.runtime.memGetInfo()
    return float(free + _cupy().get_default_memory_pool().free_bytes())


def needed_gpu_memory(layout: Layout, columns: int, precision: str) -> float:
    """Return the bytes of device memory that a plan needs, counted before it starts; infinite if it cannot be made."""
    if layout.m > MOST_TESTS or columns > MOST_COLUMNS or layout.n_states.bit_length() > 1000:
        return float("inf")
    widest = max((a + b for a, b in pairwise(layout.level_sizes)), default=1)
    real = np.dtype(PRECISIONS[precision]).itemsize
    return float(layout.n_states + widest * real * (2 + columns) + 3 * 8 * 2**layout.m)


def rounding_error(layout: Layout, payoff: FloatArray, precision: str) -> float:
    """Return a bound on the rounding of values, in units of the reward; see the module.

    Examples
    --------
    >>> from proband.instances import bolts
    >>> problem, law = bolts().problem, bolts().distribution
    >>> f"{rounding_error(layout_of(problem), problem.payoff(law.support), 'single'):.1e}"
    '4.3e-04'
    """
    unit = float(np.finfo(PRECISIONS[precision]).eps) / 2
    roundings = layout.m * int(layout.k.max(initial=1)) + 3
    return 4 * roundings * unit * float(np.abs(payoff).max())


@serves(Kind.LISTED)
def plan_gpu(problem: Problem, distribution: Discrete, options: Options) -> GpuPlan:
    """Solve all states on the GPU, in single precision; the plan's `error` says how far its value may be off."""
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
    return GpuPlan(layout, distribution, value, actions, error=rounding_error(layout, payoff, precision))


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
    return float(level[0].sum(dtype=np.float64)), actions


def _check_size(layout: Layout, columns: int, precision: str) -> None:
    if columns > MOST_COLUMNS:
        raise TooLargeError(
            f"the payoff has {columns} columns; the GPU planner takes {MOST_COLUMNS}; use the dense or sparse planner"
        )
    needed, free = needed_gpu_memory(layout, columns, precision), free_gpu_memory()
    if needed > free:
        size = "more memory than any device has" if needed == float("inf") else human_bytes(needed)
        raise TooLargeError(
            f"the GPU planner would need {size} for {human_number(layout.n_states)} states ({layout.m} tests that can "
            f'be run); the device has {human_bytes(free)} free; use method="sparse", or fewer tests or outcomes'
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
