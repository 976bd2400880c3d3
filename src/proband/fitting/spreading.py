"""Who works on the folds: one after the other, threads, somebody's processes, joblib, or a Dask cluster.

An executor is whatever has :meth:`~concurrent.futures.Executor.map`: processes of the standard library, joblib's
(``joblib.externals.loky.get_reusable_executor``), a Dask client's. A plan and what it brings are the same on all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from typing import Any, cast

from proband.errors import PlanError

Run = Callable[..., Iterable[Any]]
"""As the `map` of an executor."""


@contextmanager
def spread(jobs: Any) -> Iterator[Run]:
    """Give a `map` whose calls are worked on by `jobs`.

    Parameters
    ----------
    jobs : int, str, concurrent.futures.Executor, joblib.Parallel or distributed.Client
        So many threads; the address of a Dask scheduler; or who does it.

    Examples
    --------
    >>> with spread(2) as run:
    ...     list(run(max, [1, 5], [3, 4]))
    [3, 5]
    """
    if isinstance(jobs, str):
        from proband.cluster import connected

        with connected(jobs) as client:
            yield client.get_executor().map
    elif isinstance(jobs, Executor):
        yield jobs.map
    elif hasattr(jobs, "get_executor"):  # a client of Dask
        yield jobs.get_executor().map
    elif hasattr(jobs, "n_jobs") and callable(jobs):  # joblib.Parallel
        yield lambda work, *given: jobs((work, each, {}) for each in zip(*given, strict=True))
    elif _checked(jobs) == 1:
        yield map
    else:
        with _each_on_one_core(), ThreadPoolExecutor(jobs) as threads:
            yield threads.map


def _each_on_one_core() -> AbstractContextManager[Any]:
    """Keep products of matrices from using all cores in each of several threads, where threadpoolctl is there."""
    try:
        limits = import_module("threadpoolctl").threadpool_limits(1, user_api="blas")
    except ImportError:  # scikit-learn brings it
        return nullcontext()
    return cast("AbstractContextManager[Any]", limits)


def _checked(jobs: Any) -> int:
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise PlanError(
            f"jobs is {jobs!r}; it is a number of threads (1 or more), an executor, a joblib.Parallel, a Dask client "
            "or the address of a Dask scheduler; give one of these"
        )
    return jobs
