"""How well the sparse planner keeps its limits, and what a second core brings.

Run with ``python -m benchmarks.planners.limits`` on a quiet machine: prints three tables, in Markdown. How long a unit
of work takes (it should be about a nanosecond, whatever the instance); by how much a time limit is overrun, by the
search and by the whole plan; and the gap that one and two cores leave after the same work each.
"""

import time

import numpy as np

from benchmarks.planners.subjects import SUBJECTS
from proband import Discrete, Problem, Test, plan
from proband.planners.sparse import Limits, solve_support
from proband.rewards import Table

COST = 0.02


def latent(rows, tests, seed=0):
    """Rows of eight latent classes with real weights and soft labels: (codes, weight, stakes, cost)."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(8, size=rows)
    shown = 0.25 + 0.5 * rng.beta(0.5, 0.5, size=(8, tests))
    codes = (rng.random((rows, tests)) < shown[classes]).astype(np.int64)
    label = rng.beta(0.4, 0.4, size=8)[classes]
    weight = rng.gamma(1.0, size=rows)
    weight /= weight.sum()
    return codes, weight, weight[:, None] * np.stack([1 - label, label], axis=1), np.full(tests, COST)


def labelled(name, cost):
    """The arrays of an instance of the benchmark: rows of one weight with hard labels."""
    subjects = SUBJECTS[name]()
    n = len(subjects.labels)
    stakes = np.eye(2)[subjects.labels] / n
    return subjects.outcomes, np.full(n, 1 / n), stakes, np.full(subjects.outcomes.shape[1], cost)


def problem_of(codes, weight, stakes, cost):
    """The same rows as a problem with a label that only history has, and its law."""
    tests = [*(Test(f"t{i}", price) for i, price in enumerate(cost)), Test("label", available=False)]
    rows = np.column_stack([np.repeat(codes, 2, axis=0), np.tile([0, 1], len(codes))])
    problem = Problem(tests, ["no", "yes"], Table(["label"], np.eye(2)))
    return problem, Discrete.from_weights(rows, stakes.reshape(-1))


CASES = {
    "breast cancer, 90 tests": lambda: labelled("breast cancer, 90 tests", 0.01),
    "digits, 54 pixels": lambda: labelled("digits, 54 pixels at half", 0.05),
    "synthetic, 20 tests": lambda: labelled("synthetic 0, 20 tests", 0.02),
    "soft, 2,000 rows, 30 tests": lambda: latent(2000, 30),
    "soft, 3,000 rows, 100 tests": lambda: latent(3000, 100),
}


def timed(function):
    """Wall-clock seconds, seconds of processor time and the result of a call."""
    began, used = time.perf_counter(), time.process_time()
    found = function()
    return time.perf_counter() - began, time.process_time() - used, found


def units():
    print("| instance | expansions | µs each | ns a unit |\n|---|---|---|---|")
    for name, case in CASES.items():
        arrays = case()
        solve_support(*arrays, limits=Limits(work=1e6))
        _, used, made = timed(lambda arrays=arrays: solve_support(*arrays, limits=Limits(work=5e8)))
        per_expansion = 1e6 * used / max(made.expansions, 1)
        print(f"| {name} | {made.expansions:,} | {per_expansion:.0f} | {1e9 * used / made.work:.2f} |", flush=True)


def overruns():
    print("\n| instance | limit | search | plan |\n|---|---|---|---|")
    for name, case in CASES.items():
        arrays = case()
        problem, law = problem_of(*arrays)
        plan(problem, law, method="sparse", time_limit=0.01)
        for limit in (0.2, 0.5, 1.0):
            search, _, _ = timed(lambda a=arrays, s=limit: solve_support(*a, limits=Limits(seconds=s)))
            whole, _, _ = timed(lambda p=problem, q=law, s=limit: plan(p, q, method="sparse", time_limit=s))
            print(f"| {name} | {limit} s | {search:.3f} s | {whole:.3f} s |", flush=True)


def cores():
    print("\n| instance | penalty | work | value, gap on one core | on two | seconds |\n|---|---|---|---|---|---|")
    for name, case in CASES.items():
        arrays = case()
        for penalty in (0.0, 0.5 / len(arrays[0])):
            for work in (5e8, 1e9, 2e9):
                found = [
                    timed(lambda a=arrays, n=n: solve_support(*a, penalty=penalty, limits=Limits(work=work, cores=n)))  # noqa: B023
                    for n in (1, 2)
                ]
                told = " | ".join(f"{made.penalised:.5f}, {made.gap:.5f}" for _, _, made in found)
                took = ", ".join(f"{wall:.2f}" for wall, _, _ in found)
                print(f"| {name} | {penalty:.5f} | {work:.0e} | {told} | {took} |", flush=True)


if __name__ == "__main__":
    units()
    overruns()
    cores()
