"""The GPU planner: time, states a second, and how its values and policies compare with float64.

Run with ``make bench-gpu`` on a machine with an NVIDIA GPU and ``pip install "proband[gpu]"``.
"""

import argparse
import sys
import time

import numpy as np

import proband
from benchmarks.planners.cases import majority
from proband.planners.gpu import gpu_present, solve_on_gpu


def timed(problem, law, precision, repeats=3):
    import cupy

    solve_on_gpu(problem, law, precision=precision)
    times = []
    for _ in range(repeats):
        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        plan = solve_on_gpu(problem, law, precision=precision)
        cupy.cuda.Device().synchronize()
        times.append(time.perf_counter() - start)
        if len(times) < repeats:
            del plan
    return plan, times


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", type=int, nargs="+", default=[10, 12, 14, 16, 18, 20, 21])
    parser.add_argument("--compare-up-to", type=int, default=18, help="also solve in float64 and evaluate the policy")
    arguments = parser.parse_args()
    if not gpu_present():
        sys.exit("no GPU: this benchmark needs an NVIDIA device and CuPy")
    import cupy

    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(f"proband {proband.__version__}, CuPy {cupy.__version__}, {name}\n")
    print("| tests | states | precision | best s | median s | states/s | value | value - float64 | policy's loss |")
    print("|---|---|---|---|---|---|---|---|---|")
    for d in arguments.tests:
        problem, law = majority(d)
        exact = None
        if d <= arguments.compare_up_to:
            exact = (
                proband.plan(problem, law, method="dense").value
                if d <= 16
                else solve_on_gpu(problem, law, precision="double").value
            )
        for precision in ("single", "double") if d <= 20 else ("single",):
            plan, times = timed(problem, law, precision)
            difference = loss = "–"
            if exact is not None:
                difference = f"{plan.value - exact:.1e}"
                loss = f"{exact - plan.evaluation.value:.1e}"
            rate = plan.layout.n_states / min(times)
            print(
                f"| {d} | {plan.layout.n_states:,} | {precision} | {min(times):.5f} | {np.median(times):.5f} "
                f"| {rate:.3g} | {plan.value:.9f} | {difference} | {loss} |",
                flush=True,
            )
            del plan
            cupy.get_default_memory_pool().free_all_blocks()


if __name__ == "__main__":
    main()
